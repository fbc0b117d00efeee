//! A conditional logit with a ridge, fitted by Newton's method: in each list of candidates, the odds of a candidate are the exponential of
//! the weighted sum of its features.

use rayon::prelude::*;

/// The penalty for the squares of the standardised weights.
const RIDGE: f64 = 3.0;
/// Maximum number of Newton steps, and the gain in log-likelihood at which they end.
const MAX_STEPS: usize = 50;
const MIN_GAIN: f64 = 1e-6;
/// Minimum factor of a step.
const MIN_FACTOR: f64 = 1e-4;

/// A list of candidates, of which some were chosen.
#[derive(Debug, Clone)]
pub struct Choice {
    /// How much it counts: 2 as much as two lists.
    pub weight: f64,
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
        let scaled: Vec<Scaled> = choices
            .iter()
            .filter(|choice| choice.chosen.contains(&true))
            .map(|choice| {
                let row = |row: &Vec<f64>| columns.iter().map(|&at| (row[at] - mean[at]) / deviation[at]).collect();
                Scaled { weight: choice.weight, rows: choice.rows.iter().map(row).collect(), chosen: &choice.chosen }
            })
            .collect();
        let mut weights = vec![0.0; size];
        let mut information = vec![vec![0.0; size]; size];
        for _ in 0..MAX_STEPS {
            let before = likelihood(&scaled, &weights);
            let (gradient, curvature) = derivatives(&scaled, &weights);
            information = curvature;
            let step = solve(&information, &gradient);
            let moved = |factor: f64| -> Vec<f64> {
                weights.iter().zip(&step).map(|(weight, step)| weight + factor * step).collect()
            };
            // Far from the best weights a whole step can be too long.
            let factors =
                std::iter::successors(Some(1.0), |factor| Some(factor / 2.0).filter(|half| *half > MIN_FACTOR));
            let next = factors.map(moved).find(|next| likelihood(&scaled, next) > before);
            let Some(next) = next else { break };
            let gain = likelihood(&scaled, &next) - before;
            weights = next;
            if gain < MIN_GAIN {
                break;
            }
        }
        // A list that counts as three has the information of one: the errors follow Kish's effective number of lists.
        let weights_of = |power: i32| scaled.iter().map(|choice| choice.weight.powi(power)).sum::<f64>();
        let inflation = (weights_of(2) / weights_of(1).max(f64::MIN_POSITIVE)).sqrt();
        let mut fit = Self { weights: vec![0.0; features], errors: vec![0.0; features] };
        for (at, &column) in columns.iter().enumerate() {
            let mut unit = vec![0.0; size];
            unit[at] = 1.0;
            fit.weights[column] = weights[at] / deviation[column];
            fit.errors[column] = inflation * solve(&information, &unit)[at].max(0.0).sqrt() / deviation[column];
        }
        fit
    }

    /// The log-odds of a candidate.
    pub fn log_odds(&self, row: &[f64]) -> f64 {
        row.iter().zip(&self.weights).map(|(value, weight)| value * weight).sum()
    }
}

/// A list with standardised features.
struct Scaled<'c> {
    weight: f64,
    rows: Vec<Vec<f64>>,
    chosen: &'c [bool],
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

/// The log-odds of the candidates of a list, and the highest.
fn log_odds(rows: &[Vec<f64>], weights: &[f64]) -> (Vec<f64>, f64) {
    let log_odds: Vec<f64> =
        rows.iter().map(|row| row.iter().zip(weights).map(|(value, weight)| value * weight).sum()).collect();
    let highest = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (log_odds, highest)
}

/// The penalised log-likelihood.
fn likelihood(choices: &[Scaled<'_>], weights: &[f64]) -> f64 {
    let of_choice = |choice: &Scaled<'_>| {
        let (log_odds, highest) = log_odds(&choice.rows, weights);
        let total: f64 = log_odds.iter().map(|log_odds| (log_odds - highest).exp()).sum();
        let chosen = log_odds.iter().zip(choice.chosen).filter(|(_, chosen)| **chosen);
        let wanted: Vec<f64> = chosen.map(|(log_odds, _)| *log_odds).collect();
        choice.weight * (wanted.iter().sum::<f64>() / wanted.len().max(1) as f64 - highest - total.ln())
    };
    // Collected first: a sum over threads would depend on their number.
    let parts: Vec<f64> = choices.par_iter().map(of_choice).collect();
    parts.iter().sum::<f64>() - RIDGE * weights.iter().map(|weight| weight * weight).sum::<f64>()
}

/// The gradient of the penalised log-likelihood and its negative second derivative.
fn derivatives(choices: &[Scaled<'_>], weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = weights.len();
    let zero = || (vec![0.0; size], vec![vec![0.0; size]; size]);
    let of_choice = |mut sums: (Vec<f64>, Vec<Vec<f64>>), choice: &Scaled<'_>| {
        let (log_odds, highest) = log_odds(&choice.rows, weights);
        let raw: Vec<f64> = log_odds.iter().map(|log_odds| (log_odds - highest).exp()).collect();
        let total: f64 = raw.iter().sum();
        let count = choice.chosen.iter().filter(|chosen| **chosen).count() as f64;
        let mut mean = vec![0.0; size];
        for ((row, raw), chosen) in choice.rows.iter().zip(&raw).zip(choice.chosen) {
            let share = choice.weight * raw / total;
            let wanted = if *chosen { choice.weight / count } else { 0.0 };
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
                sums.1[at][other] -= mean[at] * mean[other] / choice.weight;
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
        let (above, below) = curvature.split_at_mut(at);
        above.iter_mut().zip(&below[0]).for_each(|(row, value)| row[at] = *value);
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
    fn a_list_of_weight_3_is_three_lists_with_the_error_of_one() {
        let list = |weight: f64, first: f64| Choice {
            weight,
            rows: vec![vec![first], vec![0.5], vec![0.2]],
            chosen: vec![true, false, false],
        };
        let fit = |choices: &[Choice]| Fit::new(choices, &[true]);
        let weighted = fit(&[list(3.0, 0.1), list(3.0, 1.0)]);
        let repeated = fit(&[0.1, 0.1, 0.1, 1.0, 1.0, 1.0].map(|first| list(1.0, first)));
        assert!((weighted.weights[0] - repeated.weights[0]).abs() < 1e-6, "{weighted:?} {repeated:?}");
        assert!((weighted.errors[0] - repeated.errors[0] * 3.0f64.sqrt()).abs() < 1e-6, "{weighted:?} {repeated:?}");
    }

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
            choices.push(Choice { weight: 1.0, chosen: (0..6).map(|row| row == at).collect(), rows });
        }
        let fit = Fit::new(&choices, &[true; 3]);
        for (at, real) in real.into_iter().enumerate() {
            assert!((fit.weights[at] - real).abs() < 4.0 * fit.errors[at] + 0.05, "{fit:?}");
            assert!(fit.errors[at] > 0.02 && fit.errors[at] < 0.2);
        }
        assert_eq!(Fit::new(&choices, &[true, false, true]).weights[1], 0.0);
    }
}
