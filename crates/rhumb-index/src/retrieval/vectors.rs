//! Which of many vectors are nearest to one: every one of them is looked at, so nothing is missed.
//!
//! A vector is kept as whole numbers of eight bits with one factor for all of them. That is a quarter of the memory, which is what
//! such a search waits for, and its error (about 0.0006 of a product of unit vectors of 256 numbers) is far below what
//! tells one passage from another. The products are sums of whole numbers: the same on every machine, in any order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

/// The largest size of a number of a row.
const ROW_MOST: f32 = 127.0;
/// The largest size of a number of a query. With [`STEP`] numbers, rows and queries of this size stay within 32 bits.
const QUERY_MOST: f32 = 4_095.0;
/// So many products are added up before the sum is made longer.
const STEP: usize = 1_024;
/// Rows that a thread looks at in one go: half a megabyte at 256 numbers each, which a cache close to it holds.
const BLOCK: usize = 2_048;

/// A vector of length 1, made small.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    scale: f32,
    cells: Vec<i8>,
}

impl Row {
    /// The direction of `vector`; `None` for one that has none: empty, all zero, or with something that is no number.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let (cells, scale) = whole(vector, ROW_MOST)?;
        Some(Self { scale, cells: cells.into_iter().map(|cell| cell as i8).collect() })
    }

    /// A row that is near to nothing, for a text that says nothing.
    pub fn silent(dims: usize) -> Self {
        Self { scale: f32::MIN_POSITIVE, cells: vec![0; dims] }
    }

    /// How many numbers it has.
    pub fn dims(&self) -> usize {
        self.cells.len()
    }

    /// The row as bytes, for a store: four of the factor, low byte first, and one for each number.
    pub fn to_bytes(&self) -> Vec<u8> {
        let cells = self.cells.iter().map(|cell| cell.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(cells).collect()
    }

    /// The row that [`Row::to_bytes`] wrote; `None` for bytes that are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, cells) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        let is_sound = scale.is_finite() && scale > 0.0 && !cells.is_empty();
        is_sound.then(|| Self { scale, cells: cells.iter().map(|cell| cell.cast_signed()).collect() })
    }
}

/// A row that is near to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The row, by its place.
    pub row: u32,
    /// The cosine of the angle between the two: 1 for the same direction, 0 for nothing in common.
    pub score: f32,
}

/// Nearer ones first; of two that are as near the earlier row.
fn nearer(a: &Near, b: &Near) -> Ordering {
    b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
}

/// Rows of the same number of dimensions, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    dims: usize,
    cells: Vec<i8>,
    scales: Vec<f32>,
}

impl Vectors {
    /// No rows yet, of so many numbers each.
    pub fn new(dims: usize) -> Self {
        Self { dims, ..Self::default() }
    }

    /// How many numbers a row has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Adds a row and returns its place; `None` for one of another number of dimensions, which is left out.
    pub fn push(&mut self, row: &Row) -> Option<u32> {
        if row.dims() != self.dims {
            return None;
        }
        let place = u32::try_from(self.scales.len()).ok()?;
        self.cells.extend_from_slice(&row.cells);
        self.scales.push(row.scale);
        Some(place)
    }

    /// A row by its place.
    pub fn row(&self, place: u32) -> Option<Row> {
        let place = place as usize;
        let (scale, start) = (*self.scales.get(place)?, place * self.dims);
        Some(Row { scale, cells: self.cells.get(start..start + self.dims)?.to_vec() })
    }

    /// The `most` rows that are nearest to `query`, the nearest first. None where the query has no direction or another number
    /// of dimensions.
    pub fn nearest(&self, query: &[f32], most: usize) -> Vec<Near> {
        let Some((query, scale)) = whole(query, QUERY_MOST).filter(|(cells, _)| cells.len() == self.dims) else {
            return Vec::new();
        };
        if most == 0 {
            return Vec::new();
        }
        let blocks = self.cells.par_chunks(BLOCK * self.dims).zip(self.scales.par_chunks(BLOCK)).enumerate();
        let best_of = |(block, (cells, scales)): (usize, (&[i8], &[f32]))| {
            let mut best = Best::new(most);
            let rows = (block * BLOCK) as u32..;
            for ((row, cells), row_scale) in rows.zip(cells.chunks_exact(self.dims)).zip(scales) {
                best.take(Near { row, score: product(cells, &query) as f32 * row_scale * scale });
            }
            best.heap.into_iter().map(|Worst(near)| near).collect()
        };
        let mut all: Vec<Near> = blocks.map(best_of).reduce(Vec::new, |mut some, others: Vec<Near>| {
            some.extend(others);
            some
        });
        all.sort_by(nearer);
        all.truncate(most);
        all
    }
}

/// The best rows so far, the worst of them on top of the heap.
struct Best {
    heap: BinaryHeap<Worst>,
    most: usize,
}

/// Ordered so that the worst is the greatest.
struct Worst(Near);

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        nearer(&self.0, &other.0)
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}

impl Best {
    fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::new(), most }
    }

    fn take(&mut self, near: Near) {
        if self.heap.len() < self.most {
            self.heap.push(Worst(near));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && nearer(&near, &worst.0) == Ordering::Less
        {
            *worst = Worst(near);
        }
    }
}

/// The sum of the products, cell by cell.
fn product(row: &[i8], query: &[i16]) -> i64 {
    // Simple loops over known types: the compiler makes eight products of each step.
    let step =
        |(row, query): (&[i8], &[i16])| row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
    row.chunks(STEP).zip(query.chunks(STEP)).map(|part| i64::from(step(part))).sum()
}

/// The direction of a vector as whole numbers up to `most`, and what they have to be multiplied by to be of length 1.
fn whole(vector: &[f32], most: f32) -> Option<(Vec<i16>, f32)> {
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let is_sound = vector.iter().all(|number| number.is_finite()) && largest > 0.0;
    if !is_sound {
        return None;
    }
    // Divided by the largest first, so that neither huge nor tiny numbers leave the range when they are squared.
    let length = vector.iter().map(|number| f64::from(number / largest).powi(2)).sum::<f64>().sqrt();
    let cells = vector.iter().map(|number| (number / largest * most).round() as i16).collect();
    Some((cells, (1.0 / (f64::from(most) * length)) as f32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(rows: &[Vec<f32>], dims: usize) -> Vectors {
        let mut vectors = Vectors::new(dims);
        for row in rows {
            vectors.push(&Row::new(row).unwrap()).unwrap();
        }
        vectors
    }

    fn cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn a_vector_is_nearest_to_itself_and_farthest_from_its_opposite() {
        let vectors = of(&[vec![0.0, -2.0, 0.0], vec![1.0, 1.0, 0.0], vec![0.0, 5.0, 0.0]], 3);
        let near = vectors.nearest(&[0.0, 0.1, 0.0], 9);
        assert_eq!(near.iter().map(|near| near.row).collect::<Vec<_>>(), [2, 1, 0]);
        assert!((near[0].score - 1.0).abs() < 1e-3 && (near[2].score + 1.0).abs() < 1e-3, "{near:?}");
    }

    #[test]
    fn what_has_no_direction_is_no_row_and_finds_nothing() {
        for none in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(Row::new(none), None, "{none:?}");
            assert!(of(&[vec![1.0, 0.0]], 2).nearest(none, 3).is_empty(), "{none:?}");
        }
        assert!(of(&[vec![1.0, 0.0]], 2).nearest(&[1.0], 3).is_empty());
        assert_eq!(Vectors::new(2).push(&Row::new(&[1.0]).unwrap()), None);
        assert!(Vectors::new(0).nearest(&[], 1).is_empty());
    }

    #[test]
    fn tiny_and_huge_numbers_have_a_direction() {
        let vectors = of(&[vec![1e-30, 0.0], vec![1e30, 1e30]], 2);
        let near = vectors.nearest(&[1e-38, 0.0], 2);
        assert_eq!(near[0].row, 0);
        assert!((f64::from(near[1].score) - 0.5_f64.sqrt()).abs() < 1e-2, "{near:?}");
    }

    #[test]
    fn rows_of_the_longest_models_stay_within_their_sums() {
        let long = vec![1.0_f32; 8_192];
        let near = of(std::slice::from_ref(&long), 8_192).nearest(&long, 1);
        assert!((near[0].score - 1.0).abs() < 1e-4, "{near:?}");
    }

    #[test]
    fn rows_come_back_and_bytes_that_are_none_are_refused() {
        let row = Row::new(&[0.5, -0.25]).unwrap();
        assert_eq!(Row::from_bytes(&row.to_bytes()), Some(row.clone()));
        let mut vectors = of(&[vec![0.0, 1.0]], 2);
        assert_eq!(vectors.push(&Row::silent(2)), Some(1));
        assert_eq!((vectors.row(1), vectors.row(2)), (Some(Row::silent(2)), None));
        assert_eq!(Row::from_bytes(&Row::silent(2).to_bytes()), Some(Row::silent(2)));
        assert_eq!(vectors.nearest(&[0.0, -1.0], 1), [Near { row: 1, score: 0.0 }]);
        for bytes in [&[][..], &[1, 2, 3], &row.to_bytes()[..4], &[0, 0, 192, 127, 1], &[0, 0, 0, 0, 1]] {
            assert_eq!(Row::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// More rows than a block, so that what several threads found is joined.
        #[test]
        fn the_nearest_are_those_of_a_plain_sort(seed in any::<u64>(), count in 1usize..5_000, dims in 1usize..40, most in 0usize..30) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut vector = || -> Vec<f32> { (0..dims).map(|_| random.f32() - 0.5 + f32::MIN_POSITIVE).collect() };
            let rows: Vec<Vec<f32>> = (0..count).map(|_| vector()).collect();
            let query = vector();
            let vectors = of(&rows, dims);
            let found = vectors.nearest(&query, most);
            let mut plain: Vec<Near> = vectors.nearest(&query, count);
            prop_assert_eq!(plain.len(), count);
            plain.sort_by(nearer);
            plain.truncate(most);
            prop_assert_eq!(&found, &plain);
            for near in &found {
                let exact = cosine(&rows[near.row as usize], &query);
                prop_assert!((exact - f64::from(near.score)).abs() < 0.02, "{} {}", exact, near.score);
            }
            // Nothing that is clearly nearer was left out.
            let worst = found.last().map_or(2.0, |near| f64::from(near.score));
            for (row, vector) in rows.iter().enumerate() {
                let is_found = found.iter().any(|near| near.row as usize == row);
                prop_assert!(is_found || most == 0 || cosine(vector, &query) < worst + 0.02);
            }
        }
    }
}
