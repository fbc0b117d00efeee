//! A conditional logit with a ridge, fitted by Newton's method: in each list of candidates, the odds of a candidate are the exponential of
//! the weighted sum of its features.

use rayon::prelude::*;

/// The penalty for the squares of the standardised weights.
const RIDGE: f64 = 3.0;
/// Maximum number of Newton steps, and the step at which they end.
const MAX_STEPS: usize = 30;
const MIN_STEP: f64 = 1e-5;

/// A list of candidates, of which some were chosen.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The features of each candidate.
    pub rows: Vec<Vec<f64>>,
    /// Whether each candidate was chosen.
    pub chosen: Vec<bool>,
}

/// Fitted weights with their standard errors. The weights are those of the raw features.
#[derive(Debug, Clone, Default)]
pub struct Fit {
    /// The weights, by feature.
    pub weights: Vec<f64>,
    /// The standard errors, by feature.
    pub errors: Vec<f64>,
}

impl Fit {
    /// Fits the features for which `used` is true. The others have the weight 0.
    pub fn new(choices: &[Choice], used: &[bool]) -> Self {
        let features = used.len();
        let (mean, deviation) = scales(choices, features);
        let columns: Vec<usize> = (0..features).filter(|&at| used[at] && deviation[at] > 0.0).collect();
        let size = columns.len();
        let scaled: Vec<(Vec<Vec<f64>>, &[bool])> = choices
            .iter()
            .filter(|choice| choice.chosen.contains(&true))
            .map(|choice| {
                let row = |row: &Vec<f64>| columns.iter().map(|&at| (row[at] - mean[at]) / deviation[at]).collect();
                (choice.rows.iter().map(row).collect(), choice.chosen.as_slice())
            })
            .collect();
        let mut weights = vec![0.0; size];
        let mut information = vec![vec![0.0; size]; size];
        for _ in 0..MAX_STEPS {
            let (gradient, curvature) = derivatives(&scaled, &weights);
            information = curvature;
            let mut step = solve(&information, &gradient);
            let length = step.iter().map(|value| value.abs()).fold(0.0, f64::max);
            // A long step of Newton's method can leave the range in which the curvature is right.
            if length > 1.0 {
                step.iter_mut().for_each(|value| *value /= length);
            }
            weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step);
            if length < MIN_STEP {
                break;
            }
        }
        let mut fit = Self { weights: vec![0.0; features], errors: vec![0.0; features] };
        for (at, &column) in columns.iter().enumerate() {
            let mut unit = vec![0.0; size];
            unit[at] = 1.0;
            fit.weights[column] = weights[at] / deviation[column];
            fit.errors[column] = solve(&information, &unit)[at].max(0.0).sqrt() / deviation[column];
        }
        fit
    }

    /// The log-odds of a candidate.
    pub fn odds(&self, row: &[f64]) -> f64 {
        row.iter().zip(&self.weights).map(|(value, weight)| value * weight).sum()
    }
}

/// The mean and the standard deviation of each feature.
fn scales(choices: &[Choice], features: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut sum, mut squares, mut count) = (vec![0.0; features], vec![0.0; features], 0.0f64);
    for row in choices.iter().flat_map(|choice| &choice.rows) {
        count += 1.0;
        for at in 0..features {
            sum[at] += row[at];
            squares[at] += row[at] * row[at];
        }
    }
    let mean: Vec<f64> = sum.iter().map(|sum| sum / count.max(1.0)).collect();
    let variance = |at: usize| squares[at] / count.max(1.0) - mean[at] * mean[at];
    let deviation = (0..features).map(|at| if variance(at) > 1e-12 { variance(at).sqrt() } else { 0.0 }).collect();
    (mean, deviation)
}

/// The gradient of the penalised log-likelihood and its negative second derivative.
fn derivatives(choices: &[(Vec<Vec<f64>>, &[bool])], weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = weights.len();
    let zero = || (vec![0.0; size], vec![vec![0.0; size]; size]);
    let of_choice = |mut sums: (Vec<f64>, Vec<Vec<f64>>), (rows, chosen): &(Vec<Vec<f64>>, &[bool])| {
        let odds: Vec<f64> =
            rows.iter().map(|row| row.iter().zip(weights).map(|(value, weight)| value * weight).sum()).collect();
        let highest = odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = odds.iter().map(|odds| (odds - highest).exp()).collect();
        let total: f64 = raw.iter().sum();
        let count = chosen.iter().filter(|chosen| **chosen).count() as f64;
        let mut mean = vec![0.0; size];
        for ((row, raw), chosen) in rows.iter().zip(&raw).zip(*chosen) {
            let share = raw / total;
            let wanted = if *chosen { 1.0 / count } else { 0.0 };
            for at in 0..size {
                mean[at] += share * row[at];
                sums.0[at] += wanted * row[at];
                let scaled = share * row[at];
                for (cell, value) in sums.1[at].iter_mut().zip(row).take(at + 1) {
                    *cell += scaled * value;
                }
            }
        }
        for at in 0..size {
            sums.0[at] -= mean[at];
            for other in 0..=at {
                sums.1[at][other] -= mean[at] * mean[other];
            }
        }
        sums
    };
    let add = |mut a: (Vec<f64>, Vec<Vec<f64>>), b: (Vec<f64>, Vec<Vec<f64>>)| {
        a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a += b);
        a.1.iter_mut().flatten().zip(b.1.into_iter().flatten()).for_each(|(a, b)| *a += b);
        a
    };
    let (mut gradient, mut curvature) = choices.par_iter().fold(zero, of_choice).reduce(zero, add);
    for at in 0..size {
        gradient[at] -= 2.0 * RIDGE * weights[at];
        curvature[at][at] += 2.0 * RIDGE;
        for other in 0..at {
            curvature[other][at] = curvature[at][other];
        }
    }
    (gradient, curvature)
}

/// Solves a symmetric positive definite system by Cholesky decomposition.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut lower = vec![vec![0.0; size]; size];
    for row in 0..size {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
            lower[row][column] = if row == column {
                (matrix[row][row] - sum).max(1e-12).sqrt()
            } else {
                (matrix[row][column] - sum) / lower[column][column]
            };
        }
    }
    let mut solution = right.to_vec();
    for row in 0..size {
        let sum: f64 = (0..row).map(|at| lower[row][at] * solution[at]).sum();
        solution[row] = (solution[row] - sum) / lower[row][row];
    }
    for row in (0..size).rev() {
        let sum: f64 = (row + 1..size).map(|at| lower[at][row] * solution[at]).sum();
        solution[row] = (solution[row] - sum) / lower[row][row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let solution = solve(&[vec![4.0, 2.0], vec![2.0, 3.0]], &[2.0, 5.0]);
        assert!((solution[0] + 0.5).abs() < 1e-12 && (solution[1] - 2.0).abs() < 1e-12, "{solution:?}");
    }

    #[test]
    fn the_weights_that_made_the_choices_are_found() {
        let mut random = fastrand::Rng::with_seed(7);
        let (real, mut choices) = ([2.0, -1.0, 0.0], Vec::new());
        for _ in 0..3_000 {
            let rows: Vec<Vec<f64>> = (0..6).map(|_| (0..3).map(|_| random.f64()).collect()).collect();
            let odds: Vec<f64> = rows
                .iter()
                .map(|row| row.iter().zip(real).map(|(value, weight)| value * weight).sum::<f64>().exp())
                .collect();
            let mut left = random.f64() * odds.iter().sum::<f64>();
            let at = odds
                .iter()
                .position(|odds| {
                    left -= odds;
                    left <= 0.0
                })
                .unwrap_or(5);
            choices.push(Choice { chosen: (0..6).map(|row| row == at).collect(), rows });
        }
        let fit = Fit::new(&choices, &[true; 3]);
        for (at, real) in real.into_iter().enumerate() {
            assert!((fit.weights[at] - real).abs() < 4.0 * fit.errors[at] + 0.05, "{fit:?}");
            assert!(fit.errors[at] > 0.02 && fit.errors[at] < 0.2);
        }
        assert_eq!(Fit::new(&choices, &[true, false, true]).weights[1], 0.0);
    }
}
