//! Exact nearest-neighbour search: a query is compared with every vector.
//!
//! Vectors are stored as 8-bit integers with one factor per vector. This takes a quarter of the memory, whose bandwidth limits such a
//! search. The error (about 0.0006 of the product of unit vectors of 256 numbers) is far below the differences between chunks. Products
//! are sums of integers, so they are equal on all machines and in any order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

/// Maximum absolute value of a number in a row.
const MAX_ROW_VALUE: f32 = 127.0;
/// Maximum absolute value of a number in a query. The sum of [`STEP`] products of such values fits into 32 bits.
const MAX_QUERY_VALUE: f32 = 4_095.0;
/// Number of products that are added in 32 bits.
const STEP: usize = 1_024;
/// Number of rows per block of a thread: 0.5 MB at 256 numbers each, which fits into a nearby cache.
const BLOCK: usize = 2_048;

/// A vector of length 1 in quantized form.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVector {
    scale: f32,
    cells: Vec<i8>,
}

impl QuantizedVector {
    /// Quantizes the direction of `vector`. `None` if it has no direction: empty, all zero, or not finite.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let (cells, scale) = whole(vector, MAX_ROW_VALUE)?;
        Some(Self { scale, cells: cells.into_iter().map(|cell| cell as i8).collect() })
    }

    /// A row with a score of 0 for every query, for a text without content.
    pub fn zero(dims: usize) -> Self {
        Self { scale: f32::MIN_POSITIVE, cells: vec![0; dims] }
    }

    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.cells.len()
    }

    /// Serializes the row: four bytes of the factor, little endian, and one byte per number.
    pub fn to_bytes(&self) -> Vec<u8> {
        let cells = self.cells.iter().map(|cell| cell.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(cells).collect()
    }

    /// Restores a row from [`QuantizedVector::to_bytes`]; `None` for invalid bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, cells) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        let is_sound = scale.is_finite() && scale > 0.0 && !cells.is_empty();
        is_sound.then(|| Self { scale, cells: cells.iter().map(|cell| cell.cast_signed()).collect() })
    }
}

/// A result of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The number of the row.
    pub row: u32,
    /// The cosine similarity: 1 for the same direction, 0 for orthogonal vectors.
    pub score: f32,
}

/// Orders by score, highest first, then by row.
fn nearer(a: &Neighbour, b: &Neighbour) -> Ordering {
    b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
}

/// Rows with the same number of dimensions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorIndex {
    dims: usize,
    cells: Vec<i8>,
    scales: Vec<f32>,
}

impl VectorIndex {
    /// An empty index for vectors with `dims` dimensions.
    pub fn new(dims: usize) -> Self {
        Self { dims, ..Self::default() }
    }

    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Adds a row and returns its number; `None` if its number of dimensions differs.
    pub fn push(&mut self, row: &QuantizedVector) -> Option<u32> {
        if row.dims() != self.dims {
            return None;
        }
        let number = u32::try_from(self.scales.len()).ok()?;
        self.cells.extend_from_slice(&row.cells);
        self.scales.push(row.scale);
        Some(number)
    }

    /// A row by its number.
    pub fn row(&self, row: u32) -> Option<QuantizedVector> {
        let row = row as usize;
        let (scale, start) = (*self.scales.get(row)?, row * self.dims);
        Some(QuantizedVector { scale, cells: self.cells.get(start..start + self.dims)?.to_vec() })
    }

    /// The `most` rows that are nearest to `query`, nearest first. Empty if the query has no direction or another number of dimensions.
    pub fn nearest(&self, query: &[f32], most: usize) -> Vec<Neighbour> {
        let Some((query, scale)) = whole(query, MAX_QUERY_VALUE).filter(|(cells, _)| cells.len() == self.dims) else {
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
                best.take(Neighbour { row, score: product(cells, &query) as f32 * row_scale * scale });
            }
            best.heap.into_iter().map(|Worst(near)| near).collect()
        };
        let mut all: Vec<Neighbour> = blocks.map(best_of).reduce(Vec::new, |mut some, others: Vec<Neighbour>| {
            some.extend(others);
            some
        });
        all.sort_by(nearer);
        all.truncate(most);
        all
    }
}

/// The best rows so far; the worst of them is on top of the heap.
struct Best {
    heap: BinaryHeap<Worst>,
    most: usize,
}

/// Reverses the order, so that the worst is the greatest.
struct Worst(Neighbour);

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

    fn take(&mut self, near: Neighbour) {
        if self.heap.len() < self.most {
            self.heap.push(Worst(near));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && nearer(&near, &worst.0) == Ordering::Less
        {
            *worst = Worst(near);
        }
    }
}

/// The scalar product.
fn product(row: &[i8], query: &[i16]) -> i64 {
    // A simple loop over integers, which the compiler vectorizes.
    let step =
        |(row, query): (&[i8], &[i16])| row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
    row.chunks(STEP).zip(query.chunks(STEP)).map(|part| i64::from(step(part))).sum()
}

/// The direction of a vector as integers with absolute values up to `most`, and the factor that scales them to length 1.
fn whole(vector: &[f32], most: f32) -> Option<(Vec<i16>, f32)> {
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let is_sound = vector.iter().all(|number| number.is_finite()) && largest > 0.0;
    if !is_sound {
        return None;
    }
    // Divided by the largest number first, so that squares neither overflow nor underflow.
    let length = vector.iter().map(|number| f64::from(number / largest).powi(2)).sum::<f64>().sqrt();
    let cells = vector.iter().map(|number| (number / largest * most).round() as i16).collect();
    Some((cells, (1.0 / (f64::from(most) * length)) as f32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(rows: &[Vec<f32>], dims: usize) -> VectorIndex {
        let mut vectors = VectorIndex::new(dims);
        for row in rows {
            vectors.push(&QuantizedVector::new(row).unwrap()).unwrap();
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
    fn vectors_without_direction_are_rejected() {
        for none in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(QuantizedVector::new(none), None, "{none:?}");
            assert!(of(&[vec![1.0, 0.0]], 2).nearest(none, 3).is_empty(), "{none:?}");
        }
        assert!(of(&[vec![1.0, 0.0]], 2).nearest(&[1.0], 3).is_empty());
        assert_eq!(VectorIndex::new(2).push(&QuantizedVector::new(&[1.0]).unwrap()), None);
        assert!(VectorIndex::new(0).nearest(&[], 1).is_empty());
    }

    #[test]
    fn tiny_and_huge_numbers_have_a_direction() {
        let vectors = of(&[vec![1e-30, 0.0], vec![1e30, 1e30]], 2);
        let near = vectors.nearest(&[1e-38, 0.0], 2);
        assert_eq!(near[0].row, 0);
        assert!((f64::from(near[1].score) - 0.5_f64.sqrt()).abs() < 1e-2, "{near:?}");
    }

    #[test]
    fn sums_of_long_vectors_do_not_overflow() {
        let long = vec![1.0_f32; 8_192];
        let near = of(std::slice::from_ref(&long), 8_192).nearest(&long, 1);
        assert!((near[0].score - 1.0).abs() < 1e-4, "{near:?}");
    }

    #[test]
    fn rows_can_be_serialized_and_invalid_bytes_are_rejected() {
        let row = QuantizedVector::new(&[0.5, -0.25]).unwrap();
        assert_eq!(QuantizedVector::from_bytes(&row.to_bytes()), Some(row.clone()));
        let mut vectors = of(&[vec![0.0, 1.0]], 2);
        assert_eq!(vectors.push(&QuantizedVector::zero(2)), Some(1));
        assert_eq!((vectors.row(1), vectors.row(2)), (Some(QuantizedVector::zero(2)), None));
        assert_eq!(QuantizedVector::from_bytes(&QuantizedVector::zero(2).to_bytes()), Some(QuantizedVector::zero(2)));
        assert_eq!(vectors.nearest(&[0.0, -1.0], 1), [Neighbour { row: 1, score: 0.0 }]);
        for bytes in [&[][..], &[1, 2, 3], &row.to_bytes()[..4], &[0, 0, 192, 127, 1], &[0, 0, 0, 0, 1]] {
            assert_eq!(QuantizedVector::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// More rows than a block, so that the results of several threads are merged.
        #[test]
        fn the_nearest_rows_equal_those_of_a_full_sort(seed in any::<u64>(), count in 1usize..5_000, dims in 1usize..40, most in 0usize..30) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut vector = || -> Vec<f32> { (0..dims).map(|_| random.f32() - 0.5 + f32::MIN_POSITIVE).collect() };
            let rows: Vec<Vec<f32>> = (0..count).map(|_| vector()).collect();
            let query = vector();
            let vectors = of(&rows, dims);
            let found = vectors.nearest(&query, most);
            let mut plain: Vec<Neighbour> = vectors.nearest(&query, count);
            prop_assert_eq!(plain.len(), count);
            plain.sort_by(nearer);
            plain.truncate(most);
            prop_assert_eq!(&found, &plain);
            for near in &found {
                let exact = cosine(&rows[near.row as usize], &query);
                prop_assert!((exact - f64::from(near.score)).abs() < 0.02, "{} {}", exact, near.score);
            }
            // No clearly nearer row is missing.
            let worst = found.last().map_or(2.0, |near| f64::from(near.score));
            for (row, vector) in rows.iter().enumerate() {
                let is_found = found.iter().any(|near| near.row as usize == row);
                prop_assert!(is_found || most == 0 || cosine(vector, &query) < worst + 0.02);
            }
        }
    }
}
