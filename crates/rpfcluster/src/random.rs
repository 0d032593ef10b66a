//! Counter-based random numbers (Salmon et al., SC 2011) with the SplitMix64 mixer (Steele, Lea and Flood, OOPSLA
//! 2014).
//!
//! The i-th number of a stream is a hash of the stream's key and i. The key names the purpose of the stream (a tree
//! node by its path from the root, a k-means restart, a landmark), never the order of execution, so the numbers do not
//! depend on the number of threads or machines.
//!
//! Normal deviates use the Box-Muller transform (1958). Its logarithm, sine and cosine are series evaluated with IEEE
//! additions, multiplications and divisions and one IEEE square root; no platform mathematics library is involved, so
//! results are bit-identical on every platform.
//!
//! [`sample_rows`] draws rows without replacement by bottom-k sampling (Cohen and Kaplan, PODC 2007): the rows with the
//! smallest hashes.

use rayon::prelude::*;

use crate::simd::dispatch;

pub use crate::hash::mix;

/// The purpose of a stream. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Directions of a tree node.
    Direction = 1,
    /// Cut of a tree node.
    Cut = 2,
    /// k-means++ seeding of a restart.
    KMeans = 3,
    /// Start block of the iterative eigensolver.
    Eigen = 4,
    /// Nyström landmarks and other row samples.
    Sample = 5,
    /// Feature selection of Cluster Forests.
    Features = 6,
    /// Synthetic data sets.
    Shapes = 7,
    /// Merges of the Leiden algorithm.
    Leiden = 8,
    /// Side of a row whose values a direction has no weight on.
    Gap = 9,
    /// Coefficients of a tree node by the keys of the columns.
    Column = 10,
}

/// 2^64 divided by the golden ratio: the counter increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The path of a child node, a hash. The root has [`ROOT_PATH`]. The constants are arbitrary odd numbers; others give
/// other trees.
#[inline]
pub fn child_path(path: u64, right: bool) -> u64 {
    mix(path.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(if right {
        0xa076_1d64_78bd_642f
    } else {
        0xe703_7ed1_a0b4_28db
    }))
}

/// The path of every root. The value is arbitrary: the first fractional bits of √2.
pub const ROOT_PATH: u64 = 0x6a09_e667_f3bc_c908;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Stream {
    key: u64,
    counter: u64,
    spare: Option<f64>,
}

impl Stream {
    /// The stream for `purpose` under `seed`, identified by two numbers (tree and node path, restart and cluster, …).
    /// The constants are arbitrary odd numbers; others give other streams.
    #[inline]
    pub fn new(seed: u64, purpose: Purpose, a: u64, b: u64) -> Self {
        let k = mix(seed.wrapping_add(GOLDEN)) ^ (purpose as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let k = mix(k.wrapping_add(a.wrapping_mul(GOLDEN)).wrapping_add(0x2545_f491_4f6c_dd1d));
        Stream { key: mix(k ^ b), counter: k ^ 0x5851_f42d_4c95_7f2d, spare: None }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(GOLDEN);
        mix(mix(self.counter) ^ self.key)
    }

    /// Uniform on [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on 0..bound by a 128-bit multiplication, without rejection (Lemire 2019; bias below bound / 2^64); 0
    /// when bound is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A standard normal deviate.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        let (a, b) = self.normal_pair();
        self.spare = Some(b);
        a
    }

    /// Fills `out` with standard normal deviates; two draws give two deviates.
    #[inline]
    pub fn normals(&mut self, out: &mut [f64]) {
        let mut draws = [0; 2 * PAIRS];
        for block in out.chunks_mut(2 * PAIRS) {
            // An odd length consumes a whole pair, as `normal` does.
            let wanted = block.len().next_multiple_of(2);
            draws[..wanted].iter_mut().for_each(|draw| *draw = self.bits());
            let mut deviates = [0.0; 2 * PAIRS];
            normal_pairs(&draws, &mut deviates);
            block.copy_from_slice(&deviates[..block.len()]);
        }
    }

    fn normal_pair(&mut self) -> (f64, f64) {
        let radius = radius(self.bits());
        let (x, y) = unit_vector(self.bits());
        (radius * x, radius * y)
    }
}

/// Fills `out` with one standard normal deviate for each name, a function of `key` and the name alone. A name costs a
/// whole Box-Muller pair, of which the first deviate is kept.
pub fn normals_by_name(key: u64, names: impl Iterator<Item = u64>, out: &mut [f64]) {
    let mut names = names.fuse();
    for block in out.chunks_mut(PAIRS) {
        let mut draws = [0; 2 * PAIRS];
        for (pair, name) in draws.as_chunks_mut::<2>().0.iter_mut().zip(names.by_ref().take(block.len())) {
            let own = mix(key ^ name);
            *pair = [mix(own.wrapping_add(GOLDEN)), mix(own.wrapping_add(GOLDEN.wrapping_mul(2)))];
        }
        let mut deviates = [0.0; 2 * PAIRS];
        normal_pairs(&draws, &mut deviates);
        block.iter_mut().zip(deviates.as_chunks::<2>().0).for_each(|(to, pair)| *to = pair[0]);
    }
}

/// Box-Muller pairs computed per block. 8 pairs fill two AVX2 registers of radii.
const PAIRS: usize = 8;

dispatch! {
    /// Box-Muller transform of pairs of draws.
    fn normal_pairs(draws: &[u64; 2 * PAIRS], out: &mut [f64; 2 * PAIRS]) {
        let mut radii = [0.0; PAIRS];
        let mut units = [(0.0, 0.0); PAIRS];
        for (slot, pair) in radii.iter_mut().zip(draws.as_chunks::<2>().0) {
            *slot = radius(pair[0]);
        }
        for (unit, pair) in units.iter_mut().zip(draws.as_chunks::<2>().0) {
            *unit = unit_vector(pair[1]);
        }
        for ((pair, radius), (x, y)) in out.as_chunks_mut::<2>().0.iter_mut().zip(radii).zip(units) {
            *pair = [radius * x, radius * y];
        }
    }
}

/// The radius of a Box-Muller pair.
#[inline(always)]
fn radius(draw: u64) -> f64 {
    // (0, 1]: the logarithm stays finite.
    let u = ((draw >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0);
    (-2.0 * ln(u)).sqrt()
}

/// Natural logarithm of a normal positive number. Relative error below 5e-16.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    let large = mantissa > std::f64::consts::SQRT_2;
    let (mantissa, exponent) = (if large { mantissa * 0.5 } else { mantissa }, exponent + i32::from(large));
    // ln m = 2 atanh(s), s = (m-1)/(m+1), |s| < 0.1716: the terms beyond s^19 are below half a unit in the last place.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let q = s * s;
    let series = 1.0
        + q * (1.0 / 3.0
            + q * (1.0 / 5.0
                + q * (1.0 / 7.0
                    + q * (1.0 / 9.0
                        + q * (1.0 / 11.0
                            + q * (1.0 / 13.0 + q * (1.0 / 15.0 + q * (1.0 / 17.0 + q / 19.0))))))));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Cosine and sine of 2π · fraction / 2^64 − π/4.
#[inline(always)]
fn unit_vector(fraction: u64) -> (f64, f64) {
    // The top two bits choose the quadrant, the rest an angle in [-pi/4, pi/4) around its middle.
    let within = (fraction << 2) >> 11;
    let t = within as f64 * (1.0 / 9_007_199_254_740_992.0) - 0.5;
    let a = t * std::f64::consts::FRAC_PI_2;
    let q = a * a;
    let sin = a
        * (1.0
            + q * (-1.0 / 6.0
                + q * (1.0 / 120.0
                    + q * (-1.0 / 5040.0
                        + q * (1.0 / 362_880.0 + q * (-1.0 / 39_916_800.0 + q / 6_227_020_800.0))))));
    let cos = 1.0
        + q * (-0.5
            + q * (1.0 / 24.0
                + q * (-1.0 / 720.0
                    + q * (1.0 / 40_320.0
                        + q * (-1.0 / 3_628_800.0 + q * (1.0 / 479_001_600.0 - q / 87_178_291_200.0))))));
    // (cos, sin), (-sin, cos), (-cos, -sin) or (sin, -cos), without an unpredictable branch.
    let (odd, high) = (fraction & (1 << 62) != 0, fraction & (1 << 63));
    let (x, y) = if odd { (sin, cos) } else { (cos, sin) };
    let x_sign = high ^ ((fraction << 1) & (1 << 63));
    (f64::from_bits(x.to_bits() ^ x_sign), f64::from_bits(y.to_bits() ^ high))
}

/// The hash of a row by its number in the table, which decides whether a sample holds it. Rows of one seed have different
/// hashes: every step is a bijection.
#[derive(Debug, Clone, Copy)]
pub struct RowHash {
    key: u64,
}

impl RowHash {
    /// The hashes of this seed.
    pub fn new(seed: u64) -> Self {
        RowHash { key: Stream::new(seed, Purpose::Sample, 0, 0).bits() }
    }

    /// The hash of row number `row`.
    #[inline]
    pub fn of(self, row: u64) -> u64 {
        mix(self.key ^ mix(row.wrapping_add(GOLDEN)))
    }
}

/// A sample of `m` of `n` rows without replacement, ascending: the rows with the smallest hashes of (seed, row). A
/// row's hash depends on nothing else, so smaller samples are subsets of larger ones. O(n) time and memory.
pub fn sample_rows(seed: u64, n: usize, m: usize) -> Vec<u32> {
    sample_places(seed, 0..n as u32, m)
}

/// As [`sample_rows`], of rows with these numbers in the table: the places of the sample in `rows`, ascending.
pub fn sample_places(seed: u64, rows: impl ExactSizeIterator<Item = u32>, m: usize) -> Vec<u32> {
    let (hash, n) = (RowHash::new(seed), rows.len());
    let mut hashed: Vec<(u64, u32)> = rows.map(|row| hash.of(u64::from(row))).zip(0..).collect();
    if m < n {
        hashed.select_nth_unstable(m);
        hashed.truncate(m);
    }
    let mut rows: Vec<u32> = hashed.into_iter().map(|(_, i)| i).collect();
    rows.sort_unstable();
    rows
}

/// The largest hash of a sample of `m` of `n` rows: the rows of [`sample_rows`] are those whose hash is not above it, so
/// that each part of a table finds its own. O(n) time, memory for the sample alone.
pub fn sample_limit(seed: u64, n: u64, m: u64) -> u64 {
    if m == 0 || m >= n {
        return if m == 0 { 0 } else { u64::MAX };
    }
    let hash = RowHash::new(seed);
    // Eight standard deviations above the expected limit; a second round is hardly ever needed.
    let mut share = m as f64 / n as f64 * (1.0 + 8.0 / (m as f64).sqrt());
    loop {
        // The conversion saturates.
        let bound = (share * 18_446_744_073_709_551_616.0) as u64;
        let mut below: Vec<u64> =
            (0..n).into_par_iter().map(|row| hash.of(row)).filter(|hash| *hash <= bound).collect();
        if below.len() as u64 >= m {
            return *below.select_nth_unstable(m as usize - 1).1;
        }
        share *= 2.0;
    }
}

/// Two random halves of the rows, each ascending.
pub fn halves(n: usize, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let first = sample_rows(seed, n, n / 2);
    let mut is_first = vec![false; n];
    first.iter().for_each(|row| is_first[*row as usize] = true);
    let second = (0..n as u32).filter(|row| !is_first[*row as usize]).collect();
    (first, second)
}
