//! The same bits on any number of threads, below and above every number of rows at which the code takes another path:
//! labels, eigenvectors, predictions and the bytes of the model, for every affinity and both precisions.
//!
//! The sizes that `make test` runs take two thread counts. `make threads` runs 1, 2, 3 and 8 threads, both precisions at
//! every size, and the choice of parameters.
#![allow(clippy::unwrap_used)]

mod common;

use common::{normals, to_f32};
use rpfcluster::{AffinityKind, Fitted, Points, Real, RpfCluster, Silent};

/// Rows at which the path changes: the dense solver ends (300), `paper` is no longer tried unasked (3,000), the
/// aggregation hierarchy begins (4,000), quantized rows and tree batches begin (4,096), a sample starts the solver of
/// `linear` (20,000), k-means starts from a sample (40,000), the graph is reordered (50,000), pairs are counted in windows
/// (65,536), and settings are chosen on a sample and the tolerance rises (100,000).
const THRESHOLDS: [usize; 9] = [300, 3000, 4000, 4096, 20_000, 40_000, 50_000, 65_536, 100_000];
const KINDS: [AffinityKind; 3] = [AffinityKind::Linear, AffinityKind::Paper, AffinityKind::TopK];

/// Rows of three clouds that overlap, so that graphs are connected.
fn clouds(n: usize, d: usize) -> Vec<f64> {
    let mut values = normals(n, d, 11);
    for (i, row) in values.chunks_exact_mut(d).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, x)| *x += 2.5 * f64::from(u8::from(i % 3 == j % 3)));
    }
    values
}

/// Everything a fit leaves behind, as bytes.
struct Outcome {
    labels: Vec<u32>,
    eigenvectors: Vec<u64>,
    predicted: Vec<u32>,
    model: Vec<u8>,
}

impl Outcome {
    fn new<R: Real>(fitted: &Fitted, unseen: &Points<R>) -> Self {
        let mut model = Vec::new();
        fitted.write_with(&mut model, &[], &Silent).unwrap();
        let e = fitted.embedding();
        Outcome {
            labels: fitted.labels().to_vec(),
            eigenvectors: e.eigenvalues.iter().chain(&e.vectors).map(|v| v.to_bits()).collect(),
            predicted: fitted.predict(unseen).unwrap(),
            model,
        }
    }

    fn assert_equal(&self, other: &Outcome, what: &str) {
        assert!(self.eigenvectors == other.eigenvectors, "the eigenvectors differ: {what}");
        assert!(self.labels == other.labels, "the labels differ: {what}");
        assert!(self.predicted == other.predicted, "the predictions differ: {what}");
        assert!(self.model == other.model, "the model files differ: {what}");
    }

    /// FNV-1a over all of it.
    fn hash(&self) -> u64 {
        let numbers = self.labels.iter().chain(&self.predicted).map(|l| u64::from(*l));
        let words = numbers.chain(self.eigenvectors.iter().copied()).flat_map(u64::to_le_bytes);
        let bytes = words.chain(self.model.iter().copied());
        bytes.fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

fn fit<R: Real>(values: &[R], d: usize, params: &RpfCluster) -> Outcome {
    let n = values.len() / d;
    let fitted = params.fit(&Points::new(values, n, d).unwrap()).unwrap();
    // Every third row, and rows between the clouds.
    let unseen: Vec<R> = values.chunks_exact(d).step_by(3).flatten().copied().collect();
    Outcome::new(&fitted, &Points::new(&unseen, unseen.len() / d, d).unwrap())
}

/// Fits the same rows on each number of threads.
fn compare<R: Real>(values: &[R], d: usize, params: &RpfCluster, threads: &[usize], what: &str) {
    let on = |threads| fit(values, d, &RpfCluster { threads: Some(threads), ..params.clone() });
    let first = on(threads[0]);
    for &more in &threads[1..] {
        first.assert_equal(&on(more), &format!("{what}, {} and {more} threads", threads[0]));
    }
}

fn params(kind: AffinityKind) -> RpfCluster {
    let open = RpfCluster { k: 3, trees: Some(8), tune: false, assess: false, ..Default::default() };
    RpfCluster { affinity: Some(kind), ..open }
}

/// Ten rows below and above each threshold up to `most` rows, in double and in single precision.
fn around_every_threshold(kind: AffinityKind, most: usize) {
    for (at, rows) in THRESHOLDS.into_iter().enumerate().filter(|(_, rows)| *rows <= most) {
        let wide = clouds(rows + 10, 3);
        let narrow = to_f32(&wide[..(rows - 10) * 3]);
        let threads = if at % 2 == 0 { [1, 3] } else { [2, 8] };
        compare(&wide, 3, &params(kind), &threads, &format!("{kind:?}, {} rows", rows + 10));
        compare(&narrow, 3, &params(kind), &threads, &format!("{kind:?}, {} rows, f32", rows - 10));
    }
}

#[test]
fn linear_does_not_depend_on_thread_count_around_any_threshold() {
    around_every_threshold(AffinityKind::Linear, usize::MAX);
}

// Its pairs take minutes on larger tables; `make threads` has the time.
#[test]
fn paper_does_not_depend_on_thread_count_around_thresholds_of_small_tables() {
    around_every_threshold(AffinityKind::Paper, 4096);
}

#[test]
fn top_k_does_not_depend_on_thread_count_around_any_threshold() {
    around_every_threshold(AffinityKind::TopK, usize::MAX);
}

#[test]
fn chosen_parameters_and_verdict_do_not_depend_on_thread_count() {
    for (rows, d) in [(290, 3), (3010, 3), (4110, 20)] {
        let open = RpfCluster { k: 3, trees: Some(12), ..Default::default() };
        compare(&clouds(rows, d), d, &open, &[1, 3], &format!("choice on {rows} rows"));
    }
}

#[test]
#[ignore = "takes minutes; `make threads` runs it"]
fn nothing_depends_on_thread_count_at_any_size() {
    let all = [1, 2, 3, 8];
    // The long run in parts.
    let from = std::env::var("RPF_FROM_ROWS").map_or(0, |rows| rows.parse().unwrap());
    for rows in THRESHOLDS.into_iter().flat_map(|rows| [rows - 10, rows + 10]).filter(|rows| *rows >= from) {
        let (wide, columns) = (clouds(rows, 3), clouds(rows, 20));
        let narrow = to_f32(&wide);
        for kind in KINDS {
            let what = format!("{kind:?}, {rows} rows");
            compare(&wide, 3, &params(kind), &all, &what);
            compare(&narrow, 3, &params(kind), &all, &format!("{what}, f32"));
            compare(&columns, 20, &params(kind), &all, &format!("{what}, 20 columns"));
            println!("{what}: equal");
        }
        let open = RpfCluster { k: 3, trees: Some(8), ..Default::default() };
        compare(&wide, 3, &open, &[1, 3], &format!("choice on {rows} rows"));
        println!("choice on {rows} rows: equal");
    }
}

/// One line per fit with a hash of what it left behind. The AVX2 code, the portable code and other machines must print
/// the same lines.
fn hashes() -> String {
    let mut lines = String::new();
    for (rows, d) in [(150, 2), (310, 5), (1500, 40), (4110, 3), (4110, 20), (9000, 7)] {
        let wide = clouds(rows, d);
        let narrow = to_f32(&wide);
        for kind in KINDS {
            let params = params(kind);
            lines += &format!("{rows} {d} {kind:?} f64 {:016x}\n", fit(&wide, d, &params).hash());
            lines += &format!("{rows} {d} {kind:?} f32 {:016x}\n", fit(&narrow, d, &params).hash());
        }
    }
    let open = RpfCluster { k: 3, trees: Some(20), ..Default::default() };
    lines + &format!("150 2 choice f64 {:016x}\n", fit(&clouds(150, 2), 2, &open).hash())
}

#[test]
#[ignore = "prints the hashes that another instruction set must reproduce"]
fn print_hashes() {
    println!("{}", hashes());
}

// On other architectures the portable code is all there is.
#[cfg(target_arch = "x86_64")]
#[test]
fn portable_code_gives_the_bits_of_avx2() {
    let own = std::env::current_exe().unwrap();
    let run = |code: &str| {
        let mut test = std::process::Command::new(&own);
        test.args(["--exact", "print_hashes", "--ignored", "--nocapture"]).env("RPF_SIMD", code);
        let out = String::from_utf8(test.output().unwrap().stdout).unwrap();
        out.lines()
            .filter(|line| [" f64 ", " f32 "].iter().any(|kind| line.contains(kind)))
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let (portable, wide) = (run("scalar"), run("avx2"));
    assert_eq!(portable.len(), 37);
    assert_eq!(portable, wide);
}
