//! Principal components as a step of a fit: what they are, where they are used, and that predict, model files, sparse
//! rows and threads agree with it.

#![allow(clippy::unwrap_used)]

use rpfcluster::metrics::Scores;
use rpfcluster::model_file::Container;
use rpfcluster::random::{Purpose, Stream};
use rpfcluster::{Components, Error, Fitted, Metric, Points, RpfCluster, Silent};

/// `k` groups in a random plane of `signal` dimensions, hidden in `d` columns with some noise.
fn hidden_groups(seed: u64, n: usize, d: usize, signal: usize, k: usize) -> (Vec<f64>, Vec<u32>) {
    noisy_groups(seed, n, d, signal, k, 0.5)
}

fn noisy_groups(seed: u64, n: usize, d: usize, signal: usize, k: usize, noise: f64) -> (Vec<f64>, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Shapes, 21, 0);
    let axes: Vec<f64> = (0..signal * d).map(|_| stream.normal() / (d as f64).sqrt()).collect();
    let centers: Vec<f64> = (0..k * signal).map(|_| 6.0 * stream.normal()).collect();
    let truth: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
    let mut values = vec![0.0; n * d];
    for (row, &group) in values.chunks_exact_mut(d).zip(&truth) {
        row.iter_mut().for_each(|v| *v = noise * stream.normal());
        for s in 0..signal {
            let at = centers[group as usize * signal + s] + stream.normal();
            row.iter_mut().zip(&axes[s * d..]).for_each(|(v, a)| *v += at * a);
        }
    }
    (values, truth)
}

fn fixed(k: usize, components: Components) -> RpfCluster {
    RpfCluster { k, tune: false, assess: false, trees: Some(50), components, ..Default::default() }
}

/// Largest entry of `C a - λ a` over the components, in units of the largest variance, and of `aᵀ a - 1`.
fn errors(values: &[f64], n: usize, d: usize, fitted: &Fitted) -> (f64, f64) {
    let found = fitted.components().unwrap();
    let count = found.variances.len();
    let mean: Vec<f64> = (0..d).map(|j| (0..n).map(|i| values[i * d + j]).sum::<f64>() / n as f64).collect();
    let axis = |c: usize| (0..d).map(move |j| found.axes[j * count + c]);
    let (mut residual, mut skew) = (0.0f64, 0.0f64);
    for c in 0..count {
        let mut image = vec![0.0; d];
        for row in values.chunks_exact(d) {
            let score: f64 = row.iter().zip(&mean).zip(axis(c)).map(|((x, m), a)| (x - m) * a).sum();
            let share = score / n as f64;
            image.iter_mut().zip(row.iter().zip(&mean)).for_each(|(o, (x, m))| *o += share * (x - m));
        }
        for (image, a) in image.iter().zip(axis(c)) {
            residual = residual.max((image - found.variances[c] * a).abs() / found.variances[0]);
        }
        for other in 0..=c {
            let dot: f64 = axis(c).zip(axis(other)).map(|(a, b)| a * b).sum();
            skew = skew.max((dot - f64::from(u8::from(c == other))).abs());
        }
    }
    (residual, skew)
}

#[test]
fn components_are_eigenvectors_of_the_covariance_matrix() {
    // Exact up to 1,000 columns, an iteration of few passes beyond.
    for (d, count, tolerance) in [(61, 12, 1e-12), (130, 50, 1e-12), (1200, 5, 2e-3)] {
        let (n, k) = (400, 3);
        let (values, _) = hidden_groups(d as u64, n, d, 5, k);
        let points = Points::new(&values, n, d).unwrap();
        let fitted = fixed(k, Components::Count(count)).fit(&points).unwrap();
        assert_eq!(fitted.components().unwrap().variances.len(), count);
        assert!(fitted.components().unwrap().variances.is_sorted_by(|a, b| a >= b));
        let (residual, skew) = errors(&values, n, d, &fitted);
        assert!(residual < tolerance && skew < 1e-10, "{d} columns: residual {residual}, {skew}");
        let explained = fitted.components().unwrap().explained();
        assert!((0.0..=1.0).contains(&explained), "{explained}");
    }
}

#[test]
fn wide_tables_take_components_and_narrow_ones_their_columns() {
    for (d, taken) in [(10, false), (50, false), (51, true), (200, true)] {
        let (values, _) = hidden_groups(3, 150, d, 4, 3);
        let fitted = fixed(3, Components::Auto).fit(&Points::new(&values, 150, d).unwrap()).unwrap();
        assert_eq!(fitted.components().is_some(), taken, "{d} columns");
        assert_eq!(fitted.d(), d);
        let grown_on = fitted.forest().d();
        assert_eq!(grown_on, if taken { 50 } else { d }, "{d} columns");
    }
    // No more components than vary.
    let (values, _) = noisy_groups(4, 150, 60, 4, 3, 0.0);
    let fitted = fixed(3, Components::Auto).fit(&Points::new(&values, 150, 60).unwrap()).unwrap();
    assert_eq!(fitted.forest().d(), 4);
    // Nothing varies.
    let constant = vec![1.0; 60 * 40];
    let fitted = fixed(1, Components::Auto).fit(&Points::new(&constant, 40, 60).unwrap()).unwrap();
    assert!(fitted.components().is_none());
}

#[test]
fn components_find_groups_that_all_columns_hide() {
    let (n, d, k) = (600, 300, 5);
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 0..5 {
        let (values, truth) = noisy_groups(seed, n, d, 6, k, 1.5);
        let points = Points::new(&values, n, d).unwrap();
        for (components, sum) in [(Components::Auto, &mut with), (Components::None, &mut without)] {
            let params = RpfCluster { seed, trees: None, ..fixed(k, components) };
            *sum += Scores::new(params.fit(&points).unwrap().labels(), &truth).unwrap().ari / 5.0;
        }
    }
    assert!(with > 0.88 && with > without + 0.05, "with {with}, without {without}");
}

#[test]
fn predict_transform_and_model_files_apply_the_components() {
    let (n, d, k) = (300, 80, 4);
    let (values, _) = hidden_groups(8, n, d, 5, k);
    let points = Points::new(&values, n, d).unwrap();
    let fitted = fixed(k, Components::Auto).fit(&points).unwrap();
    assert_eq!(fitted.predict(&points).unwrap(), fitted.labels());
    assert_eq!(fitted.transform(&points).unwrap(), fitted.embedding().vectors);
    let mut bytes = Vec::new();
    fitted.write_with(&mut bytes, &[], &Silent).unwrap();
    let loaded = Fitted::from_container(&Container::parse(&bytes, &Silent).unwrap(), &Silent).unwrap();
    assert_eq!(loaded.components().unwrap().axes, fitted.components().unwrap().axes);
    assert_eq!(loaded.predict(&points).unwrap(), fitted.labels());
    assert_eq!(fitted.refit(&fixed(k, Components::Auto), &Silent).unwrap().labels(), fitted.labels());
    // Rows of the other width of numbers, and rows of another number of columns.
    let single: Vec<f32> = values.iter().map(|v| *v as f32).collect();
    let single = Points::new(&single, n, d).unwrap();
    let same = fitted.predict(&single).unwrap().iter().zip(fitted.labels()).filter(|(a, b)| a == b).count();
    assert!(same * 100 >= n * 99, "{same} of {n}");
    let narrow = Points::new(&values[..50], 1, 50).unwrap();
    assert_eq!(fitted.predict(&narrow).unwrap_err(), Error::Columns { got: 50, expected: d });
}

#[test]
fn neither_threads_nor_sparse_storage_change_a_bit() {
    for (n, d) in [(500, 70), (300, 1100)] {
        let (mut values, _) = hidden_groups(4, n, d, 5, 3);
        // Half of the entries are zero.
        values.iter_mut().enumerate().for_each(|(i, v)| *v *= f64::from(u8::from(i % 2 == i / d % 2)));
        let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks_exact(d) {
            for (column, value) in (0u32..).zip(row).filter(|(_, value)| **value != 0.0) {
                columns.push(column);
                stored.push(*value);
            }
            starts.push(columns.len());
        }
        let dense = Points::new(&values, n, d).unwrap();
        let sparse = Points::sparse(&starts, &columns, &stored, n, d).unwrap();
        let fit = |points: &Points<f64>, threads| {
            let params = RpfCluster { threads: Some(threads), ..fixed(3, Components::Auto) };
            let fitted = params.fit(points).unwrap();
            let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            (bits(fitted.components().unwrap().axes), fitted.labels().to_vec())
        };
        let one = fit(&dense, 1);
        for threads in [2, 3, 8] {
            assert_eq!(fit(&dense, threads), one, "{d} columns, {threads} threads");
        }
        assert_eq!(fit(&sparse, 2), one, "{d} columns, sparse");
    }
}

#[test]
fn a_count_out_of_range_is_refused() {
    let (values, _) = hidden_groups(1, 60, 12, 3, 2);
    let points = Points::new(&values, 60, 12).unwrap();
    for count in [0, 13] {
        let problem = fixed(2, Components::Count(count)).fit(&points).unwrap_err().to_string();
        assert!(problem.contains(&format!("components is {count}")), "{problem}");
    }
    // Squares would overflow.
    let huge: Vec<f64> = values.iter().map(|v| v * 1e200).collect();
    let huge = Points::new(&huge, 60, 12).unwrap();
    let problem = fixed(2, Components::Count(3)).fit(&huge).unwrap_err().to_string();
    assert!(problem.contains("too large to be squared"), "{problem}");
}

#[test]
fn cosine_ignores_the_length_of_rows() {
    for (d, components) in [(6, Components::None), (80, Components::Count(6))] {
        let (n, k) = (300, 3);
        let (values, _) = hidden_groups(4, n, d, 4, k);
        let mut stream = Stream::new(5, Purpose::Shapes, 22, 0);
        // Powers of two keep the bits of a unit row. Components are those of the centred rows, so only the rows count there.
        let scaled: Vec<f64> = values
            .chunks_exact(d)
            .flat_map(|row| {
                let factor = 2f64.powi((6.0 * stream.uniform()) as i32);
                row.iter().map(move |v| v * factor)
            })
            .collect();
        let params = RpfCluster { metric: Metric::Cosine, ..fixed(k, components) };
        let fitted = params.fit(&Points::new(&values, n, d).unwrap()).unwrap();
        let lengthened = Points::new(&scaled, n, d).unwrap();
        if components == Components::None {
            assert_eq!(params.fit(&lengthened).unwrap().labels(), fitted.labels());
            assert_eq!(fitted.predict(&lengthened).unwrap(), fitted.labels());
        }
        assert_eq!(fitted.predict(&Points::new(&values, n, d).unwrap()).unwrap(), fitted.labels());
        let euclidean = RpfCluster { metric: Metric::Euclidean, ..params.clone() };
        let other = euclidean.fit(&Points::new(&values, n, d).unwrap()).unwrap();
        // By angle no row is far outside; by distance these are.
        let long: Vec<f64> = values.iter().map(|v| v * 1e3).collect();
        let far = |fitted: &Fitted| fitted.far_rows(&Points::new(&long, n, d).unwrap()).unwrap().len();
        assert_eq!((far(&fitted), far(&other) > n / 2), (0, true));
        assert_ne!(other.forest().leaves().dense(), fitted.leaves().dense());
        // As single precision, and after a model file.
        let single: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        let single = Points::new(&single, n, d).unwrap();
        assert_eq!(params.fit(&single).unwrap().predict(&single).unwrap().len(), n);
        let mut bytes = Vec::new();
        fitted.write_with(&mut bytes, &[], &Silent).unwrap();
        let loaded = Fitted::from_container(&Container::parse(&bytes, &Silent).unwrap(), &Silent).unwrap();
        assert_eq!(loaded.params().metric, Metric::Cosine);
        assert_eq!(loaded.predict(&Points::new(&values, n, d).unwrap()).unwrap(), fitted.labels());
    }
}

#[test]
fn topics_of_short_and_long_texts_are_found_by_angle() {
    // Texts of four topics, from 5 to 200 words of a vocabulary of 2,000, counted as log(1 + count).
    let (n, d, k) = (400, 2000, 4);
    let mut stream = Stream::new(1, Purpose::Shapes, 23, 0);
    let truth: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
    let mut counts = vec![0.0f64; n * d];
    for (row, &topic) in counts.chunks_exact_mut(d).zip(&truth) {
        let words = (5.0 * 40f64.powf(stream.uniform())) as usize;
        for _ in 0..words {
            let u = stream.uniform();
            // Half of the words are common to all topics.
            let word = match stream.uniform() < 0.5 {
                true => (2000.0 * u * u * u) as usize,
                false => 400 + 400 * topic as usize + (400.0 * u * u) as usize,
            };
            row[word] += 1.0;
        }
    }
    counts.iter_mut().for_each(|count| *count = count.ln_1p());
    let dense = Points::new(&counts, n, d).unwrap();
    let params = RpfCluster { trees: Some(200), ..fixed(k, Components::Auto) };
    let fitted = params.fit(&dense).unwrap();
    assert_eq!(fitted.params().metric, Metric::Cosine, "more than 95 % are zeros");
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in counts.chunks_exact(d) {
        for (column, value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(column as u32);
            values.push(*value);
        }
        starts.push(columns.len());
    }
    let sparse = Points::sparse(&starts, &columns, &values, n, d).unwrap();
    assert_eq!(params.fit(&sparse).unwrap().labels(), fitted.labels(), "sparse rows change no bit");
    assert_eq!(fitted.predict(&sparse).unwrap(), fitted.labels());
    // The limit counts the stored values: the dense rows alone take 6.4 MB.
    let (least, most) = (params.memory_of(&sparse), params.memory_of(&dense));
    assert!(least + (4 << 20) < most, "{least} bytes of sparse and {most} of dense rows");
    let limited = RpfCluster { memory_limit: Some(least), ..params.clone() };
    assert!(matches!(limited.fit(&dense), Err(Error::Memory { .. })));
    assert_eq!(limited.fit(&sparse).unwrap().labels(), fitted.labels());
    let ari = |fitted: &Fitted| Scores::new(fitted.labels(), &truth).unwrap().ari;
    let euclidean = RpfCluster { metric: Metric::Euclidean, ..params }.fit(&dense).unwrap();
    assert!(
        ari(&fitted) > ari(&euclidean) + 0.02,
        "{} by angle, {} by distance",
        ari(&fitted),
        ari(&euclidean)
    );
}
