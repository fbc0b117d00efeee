//! Weighted, personalised PageRank by power iteration.
//!
//! The algorithm of Page and Brin ("The anatomy of a large-scale hypertextual web search engine", 1998) with the conventions of networkx:
//! it starts uniform, and a node without outgoing edges passes its mass to the teleport vector.

/// Weighted edges in compressed sparse row format.
#[derive(Debug, Clone, Default)]
pub struct CsrGraph {
    starts: Vec<usize>,
    targets: Vec<u32>,
    shares: Vec<f64>,
}

impl CsrGraph {
    /// The graph of the edges `(row, target, weight)`, in any order. The weights of a row are scaled to sum to one. Edges of rows out of
    /// range, and weights that are not positive numbers, are dropped; parallel edges add up.
    pub fn new(rows: usize, arcs: &[(u32, u32, f64)]) -> Self {
        let keep = |arc: &&(u32, u32, f64)| (arc.0 as usize) < rows && arc.2 > 0.0 && arc.2.is_finite();
        let mut starts = vec![0usize; rows + 1];
        let mut totals = vec![0.0f64; rows];
        for &(row, _, weight) in arcs.iter().filter(keep) {
            starts[row as usize + 1] += 1;
            totals[row as usize] += weight;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut targets = vec![0u32; starts[rows]];
        let mut shares = vec![0.0f64; starts[rows]];
        for &(row, target, weight) in arcs.iter().filter(keep) {
            let slot = next[row as usize];
            next[row as usize] += 1;
            targets[slot] = target;
            shares[slot] = weight / totals[row as usize];
        }
        Self { starts, targets, shares }
    }

    /// The graph of these rows of `(target, share)`, which are stored unchanged. Memory is reserved for `edges` edges.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, f64)>>, edges: usize) -> Self {
        let (targets, shares) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
        let mut graph = Self { starts: vec![0], targets, shares };
        for row in rows {
            graph.targets.extend(row.iter().map(|edge| edge.0));
            graph.shares.extend(row.iter().map(|edge| edge.1));
            graph.starts.push(graph.targets.len());
        }
        graph
    }

    /// Adds the mass of every row to its targets in `to`. Targets beyond its end are ignored.
    pub fn spread(&self, from: &[f64], to: &mut [f64]) {
        for (bounds, &mass) in self.starts.windows(2).zip(from).filter(|(_, mass)| **mass > 0.0) {
            let row = bounds[0]..bounds[1];
            for (&target, &share) in self.targets[row.clone()].iter().zip(&self.shares[row]) {
                if let Some(cell) = to.get_mut(target as usize) {
                    *cell += mass * share;
                }
            }
        }
    }

    /// The edges of a row as `(target, share)`.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let bounds = match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        };
        self.targets[bounds.clone()].iter().copied().zip(self.shares[bounds].iter().copied())
    }
}

/// The settings of the iteration.
#[derive(Debug, Clone, Copy)]
pub struct PageRank {
    /// Share of the mass that follows edges; the rest teleports.
    pub damping: f64,
    /// The iteration stops when the sum of changes is below this value times the number of nodes.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub iterations: usize,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-12, iterations: 200 }
    }
}

/// The rank of every node. The ranks sum to one.
///
/// `teleport` has one entry per node and any sum. It is replaced by a uniform vector if it is all zero or invalid. `step` adds the mass
/// of its first argument, moved along all edges, to the second, which is zero. Mass that it does not move is dangling.
pub fn pagerank(teleport: &[f64], settings: PageRank, mut step: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let nodes = teleport.len();
    if nodes == 0 {
        return Vec::new();
    }
    let teleport = normalised(teleport);
    let mut ranks = vec![1.0 / nodes as f64; nodes];
    let mut moved = vec![0.0; nodes];
    for _ in 0..settings.iterations {
        moved.fill(0.0);
        step(&ranks, &mut moved);
        let dangling = (ranks.iter().sum::<f64>() - moved.iter().sum::<f64>()).max(0.0);
        let jump = settings.damping * dangling + (1.0 - settings.damping);
        let mut change = 0.0;
        for ((rank, moved), teleport) in ranks.iter_mut().zip(&moved).zip(&teleport) {
            let new = settings.damping * moved + jump * teleport;
            change += (new - *rank).abs();
            *rank = new;
        }
        if change < settings.tolerance * nodes as f64 {
            break;
        }
    }
    ranks
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if total > 0.0 && total.is_finite() && weights.iter().all(|weight| *weight >= 0.0) {
        weights.iter().map(|weight| weight / total).collect()
    } else {
        vec![1.0 / weights.len() as f64; weights.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(nodes: usize, arcs: &[(u32, u32, f64)], teleport: &[f64]) -> Vec<f64> {
        let arcs = CsrGraph::new(nodes, arcs);
        pagerank(teleport, PageRank::default(), |from, to| arcs.spread(from, to))
    }

    #[test]
    fn a_ring_is_uniform() {
        let ring = ranks(3, &[(0, 1, 1.0), (1, 2, 5.0), (2, 0, 0.1)], &[0.0; 3]);
        assert!(ring.iter().all(|rank| (rank - 1.0 / 3.0).abs() < 1e-12), "{ring:?}");
    }

    #[test]
    fn dangling_mass_goes_to_the_teleport_vector() {
        // r0 = .85·r1 + .15, r1 = .85·r0; the dangling mass of node 1 goes to node 0.
        let pair = ranks(2, &[(0, 1, 1.0)], &[1.0, 0.0]);
        assert!((pair[0] - 1.0 / 1.85).abs() < 1e-12, "{pair:?}");
        assert!((pair.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_heavier_edge_carries_more() {
        let star = ranks(3, &[(0, 1, 3.0), (0, 2, 1.0)], &[1.0; 3]);
        assert!(star[1] > star[2]);
    }

    #[test]
    fn invalid_edges_are_dropped() {
        let arcs = [(0, 1, f64::NAN), (0, 1, -1.0), (9, 0, 1.0), (0, 9, 1.0)];
        let ranks = ranks(2, &arcs, &[f64::NAN, 1.0]);
        assert!(ranks.iter().all(|rank| rank.is_finite()));
        assert!(pagerank(&[], PageRank::default(), |_, _| ()).is_empty());
    }
}
