//! Eigen-decomposition of a dense symmetric matrix: Householder tridiagonalisation, then QL with implicit Wilkinson
//! shifts (Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971; `tred2` and `imtql2` of EISPACK).
//!
//! QL works on the tridiagonal matrix alone and records its rotations. They are applied in reverse to the wanted columns
//! of the identity only, so m of n eigenvectors cost O(n² m).
//!
//! Guarantees residuals and orthogonality at the level of rounding times the norm, also for repeated eigenvalues. Every
//! sum has a fixed order, no multiplication is fused with an addition, and a column is computed alike in any block: the
//! bits depend neither on the CPU nor on the number of threads, as those of a library that dispatches by CPU do. O(n³)
//! time, one thread for the tridiagonal form; memory of about 3 n² doubles.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::observe::{Observer, check};
use crate::simd::dispatch;

/// Columns computed together: four AVX2 registers. 16 columns of 300 rows fit into the L1 cache.
const COLUMNS: usize = 16;
/// Rows of this length are one row of a block of columns.
type BlockRow = [f64; COLUMNS];
/// QL steps allowed for one eigenvalue. Two are usual.
const MAX_STEPS: usize = 60;
/// What is taken for zero. The entries are scaled to at most 1, so this changes the matrix far below rounding, and keeps
/// squares and quotients out of the subnormal range.
const NEGLIGIBLE: f64 = 1e-100;

/// A plane rotation.
#[derive(Clone, Copy)]
struct Rotation {
    cos: f64,
    sin: f64,
}

/// One QL step: rotations of the rows `high - 1, high` down to `low, low + 1`.
struct Sweep {
    low: usize,
    high: usize,
}

/// The reflections, in place of the rows of the matrix, and the tridiagonal matrix they lead to.
struct Tridiagonal {
    /// Row k holds the reflection of step k right of its diagonal.
    reflections: Vec<f64>,
    factors: Vec<f64>,
    diagonal: Vec<f64>,
    /// `beside[k]` is the entry (k, k + 1); the last is 0.
    beside: Vec<f64>,
}

/// All eigenvalues, the largest first, and the eigenvectors of the first `keep`, an n x keep matrix by rows. The matrix
/// is finite and n x n; the mean of its two triangles is decomposed.
pub(super) fn eigenpairs(
    matrix: &[f64],
    n: usize,
    keep: usize,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, Vec<f64>)> {
    // A power of two changes no digit.
    let largest = matrix.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let exponent = (largest.to_bits() >> 52) as i64 - 1022;
    let scale = power_of_two(-exponent.clamp(-1000, 1000));
    let symmetric = (0..n * n).map(|at| {
        let (i, j) = (at / n, at % n);
        0.5 * (scale * matrix[at]) + 0.5 * (scale * matrix[j * n + i])
    });
    let mut form = tridiagonalise(symmetric.collect(), n, observer)?;
    let (sweeps, rotations) = implicit_ql(&mut form.diagonal, &mut form.beside, observer)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| form.diagonal[*b].total_cmp(&form.diagonal[*a]));
    let values = order.iter().map(|at| form.diagonal[*at] / scale).collect();
    let blocks: Vec<Vec<BlockRow>> = order[..keep]
        .par_chunks(COLUMNS)
        .map(|wanted| {
            let mut block = vec![[0.0; COLUMNS]; n];
            for (column, &at) in wanted.iter().enumerate() {
                block[at][column] = 1.0;
            }
            let mut end = rotations.len();
            for (count, sweep) in sweeps.iter().rev().enumerate() {
                if count % 256 == 0 {
                    check(observer)?;
                }
                let first = end - (sweep.high - sweep.low);
                rotate_back(&mut block[sweep.low..=sweep.high], &rotations[first..end]);
                end = first;
            }
            for k in (0..n.saturating_sub(2)).rev() {
                reflect(
                    &mut block[k + 1..],
                    &form.reflections[k * n + k + 1..][..n - k - 1],
                    form.factors[k],
                );
            }
            Ok(block)
        })
        .collect::<Result<_>>()?;
    let mut vectors = vec![0.0; n * keep];
    for (from, block) in (0..keep).step_by(COLUMNS).zip(&blocks) {
        let columns = COLUMNS.min(keep - from);
        for (row, part) in vectors.chunks_exact_mut(keep).zip(block) {
            row[from..from + columns].copy_from_slice(&part[..columns]);
        }
    }
    Ok((values, vectors))
}

/// 2 to a power from -1000 to 1000.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Householder reflections `I - f v vᵀ` from the first row to the last but two. The update of a step and the product of
/// the next share one pass over the matrix.
fn tridiagonalise(mut a: Vec<f64>, n: usize, observer: &dyn Observer) -> Result<Tridiagonal> {
    let (mut factors, mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    // The update A -= v wᵀ + w vᵀ that is still to be made, from column k on.
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    let mut reflection = vec![0.0; n];
    let mut product = vec![0.0; n];
    for k in 0..n {
        check(observer)?;
        let (done, below) = a.split_at_mut((k + 1) * n);
        let row = &mut done[k * n + k..];
        update(row, &v[k..], &w[k..], v[k], w[k]);
        diagonal[k] = row[0];
        let Some((first, rest)) = row[1..].split_first_mut() else { break };
        let alpha = *first;
        let squares: f64 = rest.iter().map(|x| x * x).sum();
        if squares < NEGLIGIBLE * NEGLIGIBLE {
            (factors[k], beside[k]) = (0.0, alpha);
            rest.fill(0.0);
        } else {
            let norm = (alpha * alpha + squares).sqrt();
            let beta = if alpha < 0.0 { norm } else { -norm };
            (factors[k], beside[k]) = ((beta - alpha) / beta, beta);
            rest.iter_mut().for_each(|x| *x /= alpha - beta);
        }
        *first = 1.0;
        reflection[k + 1..].copy_from_slice(&row[1..]);
        product[k + 1..].fill(0.0);
        for (i, line) in (k + 1..n).zip(below.chunks_exact_mut(n)) {
            let (line, product) = (&mut line[k + 1..], &mut product[k + 1..]);
            update_and_add(line, &v[k + 1..], &w[k + 1..], v[i], w[i], reflection[i], product);
        }
        // w = p - (f/2) (pᵀv) v with p = f A v.
        product[k + 1..].iter_mut().for_each(|p| *p *= factors[k]);
        let dot: f64 = product[k + 1..].iter().zip(&reflection[k + 1..]).map(|(p, v)| p * v).sum();
        let half = 0.5 * factors[k] * dot;
        for ((w, p), v) in w[k + 1..].iter_mut().zip(&product[k + 1..]).zip(&reflection[k + 1..]) {
            *w = p - half * v;
        }
        v.copy_from_slice(&reflection);
    }
    Ok(Tridiagonal { reflections: a, factors, diagonal, beside })
}

dispatch! {
    /// A row minus `own_v w + own_w v`.
    fn update(row: &mut [f64], v: &[f64], w: &[f64], own_v: f64, own_w: f64) {
        for ((x, v), w) in row.iter_mut().zip(v).zip(w) {
            *x -= own_v * w + own_w * v;
        }
    }
}

dispatch! {
    /// [`update`], then the row times `factor` is added to `sum`.
    fn update_and_add(
        row: &mut [f64], v: &[f64], w: &[f64], own_v: f64, own_w: f64, factor: f64, sum: &mut [f64],
    ) {
        for (((x, v), w), s) in row.iter_mut().zip(v).zip(w).zip(sum) {
            *x -= own_v * w + own_w * v;
            *s += factor * *x;
        }
    }
}

/// `sqrt(x² + y²)` without overflow, from operations that IEEE 754 rounds alike everywhere.
fn length(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = if x < y { (y, x) } else { (x, y) };
    if small == 0.0 {
        return large;
    }
    let ratio = small / large;
    large * (1.0 + ratio * ratio).sqrt()
}

/// QL steps until the entries beside the diagonal vanish. `diagonal` becomes the eigenvalues.
fn implicit_ql(
    diagonal: &mut [f64],
    beside: &mut [f64],
    observer: &dyn Observer,
) -> Result<(Vec<Sweep>, Vec<Rotation>)> {
    let n = diagonal.len();
    let (mut sweeps, mut rotations) = (Vec::new(), Vec::new());
    // Where large entries follow small ones, a step adds rounding errors of this size to the small ones.
    let rounding =
        diagonal.iter().zip(&*beside).fold(0.0f64, |most, (d, e)| most.max(d.abs() + e.abs())) * f64::EPSILON;
    for low in 0..n {
        let mut steps = 0;
        loop {
            // The first entry beside the diagonal that is lost in rounding ends the block.
            let vanished = |at: &usize| beside[*at].abs() <= rounding.max(NEGLIGIBLE);
            let high = (low..n - 1).find(vanished).unwrap_or(n - 1);
            if high == low {
                break;
            }
            check(observer)?;
            if steps == MAX_STEPS {
                return Err(Error::Numerical {
                    what: "dense eigen-decomposition",
                    problem: format!("{MAX_STEPS} steps found no eigenvalue {low} of {n}"),
                });
            }
            steps += 1;
            // The shift is the eigenvalue of the leading 2 x 2 block that is closer to its first entry.
            let ratio = (diagonal[low + 1] - diagonal[low]) / (2.0 * beside[low]);
            let root = length(ratio, 1.0);
            let shift = beside[low] / (ratio + if ratio < 0.0 { -root } else { root });
            let mut g = diagonal[high] - diagonal[low] + shift;
            let (mut sin, mut cos, mut p) = (1.0, 1.0, 0.0);
            let mut lowest = low;
            for i in (low..high).rev() {
                let (f, b) = (sin * beside[i], cos * beside[i]);
                let r = length(f, g);
                beside[i + 1] = r;
                if r == 0.0 {
                    // The block falls apart here; the next step continues with its lower part.
                    diagonal[i + 1] -= p;
                    lowest = i + 1;
                    break;
                }
                (sin, cos) = (f / r, g / r);
                let next = diagonal[i + 1] - p;
                let turned = (diagonal[i] - next) * sin + 2.0 * cos * b;
                p = sin * turned;
                diagonal[i + 1] = next + p;
                g = cos * turned - b;
                rotations.push(Rotation { cos, sin });
            }
            beside[high] = 0.0;
            if lowest == low {
                diagonal[low] -= p;
                beside[low] = g;
            }
            sweeps.push(Sweep { low: lowest, high });
        }
    }
    Ok((sweeps, rotations))
}

dispatch! {
    /// Applies the rotations of one step, the last one first, to the rows it touched.
    fn rotate_back(rows: &mut [BlockRow], rotations: &[Rotation]) {
        for (i, rotation) in rotations.iter().rev().enumerate() {
            let (above, below) = (rows[i], rows[i + 1]);
            for column in 0..COLUMNS {
                rows[i][column] = rotation.cos * above[column] + rotation.sin * below[column];
                rows[i + 1][column] = rotation.cos * below[column] - rotation.sin * above[column];
            }
        }
    }
}

dispatch! {
    /// `(I - f v vᵀ)` times the rows.
    fn reflect(rows: &mut [BlockRow], v: &[f64], factor: f64) {
        let mut sums = [0.0; COLUMNS];
        for (row, v) in rows.iter().zip(v) {
            for column in 0..COLUMNS {
                sums[column] += v * row[column];
            }
        }
        for sum in &mut sums {
            *sum *= factor;
        }
        for (row, v) in rows.iter_mut().zip(v) {
            for column in 0..COLUMNS {
                row[column] -= v * sums[column];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::random::{Purpose, Stream};

    /// Symmetric matrices with spread, repeated, graded and extreme spectra.
    fn matrices(n: usize) -> Vec<(&'static str, Vec<f64>)> {
        let mut stream = Stream::new(n as u64, Purpose::Shapes, 0, 0);
        let mut random = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                (random[i * n + j], random[j * n + i]) = {
                    let x = stream.normal();
                    (x, x)
                };
            }
        }
        let of = |entry: &dyn Fn(usize, usize) -> f64| (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let groups: Vec<f64> = of(&|i, j| f64::from(u8::from(i % 4 == j % 4)));
        let graded: Vec<f64> = of(&|i, j| random[i * n + j] * 10f64.powi(-((i + j) as i32)));
        vec![
            ("zero", of(&|_, _| 0.0)),
            ("identity", of(&|i, j| f64::from(u8::from(i == j)))),
            ("constant", of(&|_, _| 0.25)),
            ("four groups", groups),
            ("path", of(&|i, j| f64::from(u8::from(i.abs_diff(j) == 1)))),
            ("huge", random.iter().map(|x| x * 1e300).collect()),
            ("tiny", random.iter().map(|x| x * 1e-300).collect()),
            ("one huge entry", of(&|i, j| if i + j == 0 { 1e200 } else { random[i * n + j] })),
            ("graded", graded),
            (
                "low rank",
                (0..n * n)
                    .map(|at| {
                        (0..n.div_ceil(4)).map(|l| random[at / n * n + l] * random[at % n * n + l]).sum()
                    })
                    .collect(),
            ),
            ("graded upwards", of(&|i, j| random[i * n + j] * 10f64.powi((i + j) as i32 / 2 - n as i32))),
            ("random", random),
        ]
    }

    #[test]
    fn orthonormal_vectors_have_small_residuals() {
        for n in [1, 2, 3, 5, 16, 17, 60, 131] {
            for (name, matrix) in matrices(n) {
                let (values, vectors) = eigenpairs(&matrix, n, n, &Silent).unwrap();
                // n orthonormal vectors with small residuals are all eigenpairs, repeated ones included.
                let norm = values[0].abs().max(values[n - 1].abs()).max(f64::MIN_POSITIVE);
                let small = 1e-14 * (n as f64 + 4.0);
                assert!(values.is_sorted_by(|a, b| a >= b), "{name} of {n}: {values:?}");
                let column = |j: usize| (0..n).map(move |i| i * n + j);
                for j in 0..n {
                    for l in 0..n {
                        let dot: f64 = column(j).zip(column(l)).map(|(a, b)| vectors[a] * vectors[b]).sum();
                        let expected = f64::from(u8::from(j == l));
                        assert!((dot - expected).abs() < small, "{name} of {n}: {j} {l} {dot}");
                    }
                    for i in 0..n {
                        let line = matrix[i * n..][..n].iter().map(|x| x / norm);
                        let image: f64 = line.zip(column(j)).map(|(a, at)| a * vectors[at]).sum();
                        let off = (image - values[j] / norm * vectors[i * n + j]).abs();
                        assert!(off < small, "{name} of {n}: residual {off} of pair {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_eigenvectors_do_not_depend_on_how_many_are_kept() {
        let n = 70;
        for (name, matrix) in matrices(n) {
            let (values, all) = eigenpairs(&matrix, n, n, &Silent).unwrap();
            for keep in [0, 1, 5, 16, 33] {
                let (same, first) = eigenpairs(&matrix, n, keep, &Silent).unwrap();
                assert_eq!(same, values);
                let bits = |row: &[f64]| row[..keep].iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                for i in 0..n {
                    assert_eq!(bits(&first[i * keep..]), bits(&all[i * n..]), "{name}");
                }
            }
        }
    }
}
