//! The random number generator and its normal deviates. Tolerances are five standard errors of the statistic unless
//! stated otherwise; seeds are fixed, so the tests are deterministic.
#![allow(clippy::unwrap_used)]

use rpfcluster::random::{Purpose, ROOT_PATH, Stream, child_path, ln, mix, sample_rows};

fn normals(mut stream: Stream, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    stream.normals(&mut out);
    out
}

#[test]
fn normal_deviates_have_normal_moments_and_tails() {
    const N: usize = 200_000;
    let mut beyond = [0usize; 5];
    for seed in 0..25 {
        let z = normals(Stream::new(seed, Purpose::Direction, 3, ROOT_PATH), N);
        let n = N as f64;
        let moment = |p: i32| z.iter().map(|z| z.powi(p)).sum::<f64>() / n;
        // Variances of the sample moments: 1, 2, 15, 96 over n.
        for (p, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let sigma = (variance / n).sqrt();
            let found = moment(p);
            assert!((found - expected).abs() < 5.0 * sigma, "seed {seed}: moment {p} is {found}");
        }
        for (limit, beyond) in beyond.iter_mut().enumerate() {
            *beyond += z.iter().filter(|z| z.abs() > limit as f64).count();
        }
        // The two deviates of a Box-Muller pair are uncorrelated.
        let product: f64 = z.chunks_exact(2).map(|p| p[0] * p[1]).sum();
        assert!(product.abs() < 5.0 * (n / 2.0).sqrt());
    }
    let n = 25.0 * N as f64;
    for (found, share) in beyond.iter().zip([1.0, 0.317_310_507_9, 0.045_500_263_9, 2.699_796e-3, 6.334e-5]) {
        let sigma = (share * (1.0 - share) / n).sqrt();
        let found = *found as f64 / n;
        assert!((found - share).abs() <= 5.0 * sigma + 1e-7, "{found} against {share}");
    }
}

#[test]
fn normal_and_normals_give_the_same_numbers() {
    for count in [1, 2, 7, 100] {
        let mut one = Stream::new(4, Purpose::Direction, 5, 6);
        let singles: Vec<f64> = (0..count).map(|_| one.normal()).collect();
        assert_eq!(singles, normals(Stream::new(4, Purpose::Direction, 5, 6), count));
    }
}

#[test]
fn neighbouring_streams_are_not_correlated() {
    const N: usize = 50_000;
    let limit = 5.0 / (N as f64).sqrt();
    let correlation = |a: Stream, b: Stream| {
        let (a, b) = (normals(a, N), normals(b, N));
        a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>() / N as f64
    };
    for i in 0..20u64 {
        let path = mix(i);
        let here = || Stream::new(i, Purpose::Direction, 7, path);
        let others = [
            ("tree", Stream::new(i, Purpose::Direction, 8, path)),
            ("seed", Stream::new(i + 1, Purpose::Direction, 7, path)),
            ("draw", Stream::new(i, Purpose::Direction, 7, path ^ 2)),
            ("purpose", Stream::new(i, Purpose::Cut, 7, path)),
            ("left child", Stream::new(i, Purpose::Direction, 7, child_path(path, false))),
            ("right child", Stream::new(i, Purpose::Direction, 7, child_path(path, true))),
            ("swapped", Stream::new(7, Purpose::Direction, i + 1000, path)),
        ];
        for (what, other) in others {
            let r = correlation(here(), other);
            assert!(r.abs() < limit, "{what}: {r}");
        }
        // Autocorrelation at lags 1 and 2.
        let z = normals(here(), N + 2);
        for lag in [1, 2] {
            let r = (0..N).map(|k| z[k] * z[k + lag]).sum::<f64>() / N as f64;
            assert!(r.abs() < limit, "lag {lag}: {r}");
        }
    }
}

#[test]
fn first_numbers_of_neighbouring_keys_are_uniform_and_independent() {
    // As for cuts: one number from each of many streams with keys 0, 1, 2, …
    const N: usize = 100_000;
    type Key = fn(u64) -> Stream;
    let keys: [(&str, Key); 3] = [
        ("tree", |i| Stream::new(1, Purpose::Cut, i, ROOT_PATH)),
        ("node", |i| Stream::new(1, Purpose::Cut, 0, i)),
        ("seed", |i| Stream::new(i, Purpose::Cut, 0, ROOT_PATH)),
    ];
    for (what, stream) in keys {
        let u: Vec<f64> = (0..N as u64).map(|i| stream(i).uniform()).collect();
        assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
        // Pairs of neighbours fall evenly into 16 x 16 boxes: chi-square with 255 degrees, sd sqrt(510).
        let mut boxes = [0.0f64; 256];
        for pair in u.chunks_exact(2) {
            boxes[(pair[0] * 16.0) as usize * 16 + (pair[1] * 16.0) as usize] += 1.0;
        }
        let expected = N as f64 / 2.0 / 256.0;
        let chi: f64 = boxes.iter().map(|b| (b - expected).powi(2) / expected).sum();
        assert!((chi - 255.0).abs() < 5.0 * 510f64.sqrt(), "{what}: chi-square {chi}");
        // Every bit is set half of the time.
        for bit in 0..64 {
            let ones = (0..N as u64).filter(|&i| stream(i).bits() >> bit & 1 == 1).count();
            assert!(
                (ones as f64 - N as f64 / 2.0).abs() < 5.0 * (N as f64 / 4.0).sqrt(),
                "{what}, bit {bit}"
            );
        }
    }
}

#[test]
fn below_is_uniform_and_stays_below_the_bound() {
    for bound in [1u64, 2, 3, 7, 10, 64, 1000] {
        const PER: usize = 200;
        let mut statistic = 0.0;
        for seed in 0..20 {
            let mut stream = Stream::new(seed, Purpose::Sample, 1, bound);
            let mut seen = vec![0.0f64; bound as usize];
            for _ in 0..PER * bound as usize {
                seen[stream.below(bound) as usize] += 1.0;
            }
            statistic += seen.iter().map(|s| (s - PER as f64).powi(2) / PER as f64).sum::<f64>();
        }
        // Chi-square, 20 (bound - 1) degrees of freedom.
        let degrees = 20.0 * (bound - 1) as f64;
        assert!((statistic - degrees).abs() <= 5.0 * (2.0 * degrees).sqrt(), "bound {bound}: {statistic}");
    }
    let mut stream = Stream::new(1, Purpose::Sample, 2, 3);
    assert_eq!(stream.below(0), 0);
    assert!((0..1000).all(|_| stream.below(u64::MAX) < u64::MAX));
}

#[test]
fn logarithm_agrees_with_the_standard_library() {
    let mut stream = Stream::new(2, Purpose::Sample, 0, 0);
    let near = |x: f64| {
        let (ours, std) = (ln(x), x.ln());
        assert!((ours - std).abs() <= 1e-15 * std.abs(), "ln({x:e}) is {ours:e}, not {std:e}");
    };
    for _ in 0..200_000 {
        // The arguments of Box-Muller, and every magnitude.
        near(((stream.bits() >> 11) + 1) as f64 / 9_007_199_254_740_992.0);
        let exponent = stream.below(2046) + 1;
        near(f64::from_bits(exponent << 52 | stream.bits() >> 12));
        near(1.0 + (stream.uniform() - 0.5) * 1e-6);
    }
    assert_eq!(ln(1.0), 0.0);
    for x in [f64::MIN_POSITIVE, f64::MAX, 2.0, 0.5, std::f64::consts::SQRT_2, 1.0 + f64::EPSILON] {
        near(x);
    }
}

#[test]
fn deviates_are_the_box_muller_transform_of_the_bits() {
    let mut stream = Stream::new(0, Purpose::Direction, 0, ROOT_PATH);
    let first: Vec<u64> = (0..2).map(|_| stream.bits()).collect();
    let z = normals(Stream::new(0, Purpose::Direction, 0, ROOT_PATH), 2);
    // Box-Muller with the mathematics library of the platform, from the same bits.
    let u = ((first[0] >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
    let radius = (-2.0 * u.ln()).sqrt();
    assert!((z[0].hypot(z[1]) - radius).abs() < 1e-14);
    // The four quadrants are equally frequent.
    let mut quadrants = [0usize; 4];
    for pair in normals(Stream::new(0, Purpose::Direction, 1, ROOT_PATH), 80_000).chunks_exact(2) {
        quadrants[usize::from(pair[0] > 0.0) * 2 + usize::from(pair[1] > 0.0)] += 1;
    }
    assert!(quadrants.iter().all(|&q| (q as f64 - 10_000.0).abs() < 5.0 * 7500f64.sqrt()), "{quadrants:?}");
    // Angles are uniform within the quadrants.
    let z = normals(Stream::new(0, Purpose::Direction, 2, ROOT_PATH), 160_000);
    let mut slices = [0.0f64; 16];
    for pair in z.chunks_exact(2) {
        let turn = pair[1].atan2(pair[0]) / std::f64::consts::TAU + 0.5;
        slices[((turn * 16.0) as usize).min(15)] += 1.0;
    }
    let chi: f64 = slices.iter().map(|s| (s - 5000.0).powi(2) / 5000.0).sum();
    assert!((chi - 15.0).abs() < 5.0 * 30f64.sqrt(), "chi-square {chi}");
}

#[test]
fn samples_have_the_requested_size_and_are_nested() {
    for seed in 0..20 {
        for n in [0usize, 1, 2, 10, 1000] {
            let mut smaller: Vec<u32> = Vec::new();
            for m in [0, 1, 2, 5, 9, 10, 500, 999, 1000, 2000] {
                let sample = sample_rows(seed, n, m);
                assert_eq!(sample.len(), m.min(n));
                assert!(sample.windows(2).all(|w| w[0] < w[1]));
                assert!(sample.iter().all(|&i| (i as usize) < n));
                assert!(smaller.iter().all(|i| sample.contains(i)));
                smaller = sample;
            }
        }
    }
    // All rows are equally likely: 200 samples of 50 in 100, standard deviation of a count sqrt(200 / 4).
    let mut seen = [0.0f64; 100];
    for seed in 0..200 {
        sample_rows(seed, 100, 50).iter().for_each(|&i| seen[i as usize] += 1.0);
    }
    assert!(seen.iter().all(|s| (s - 100.0).abs() < 5.0 * 50f64.sqrt()), "{seen:?}");
    assert_ne!(sample_rows(0, 1000, 10), sample_rows(1, 1000, 10));
}

#[test]
fn paths_of_a_deep_tree_are_distinct() {
    let mut paths = vec![ROOT_PATH];
    let mut level = vec![ROOT_PATH];
    for _ in 0..14 {
        level = level.iter().flat_map(|&p| [child_path(p, false), child_path(p, true)]).collect();
        paths.extend(&level);
    }
    for side in [false, true] {
        let mut path = ROOT_PATH;
        for depth in 0..5000 {
            path = child_path(path, side);
            // The first 14 levels are in the list already.
            if depth >= 14 {
                paths.push(path);
            }
        }
    }
    let count = paths.len();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), count);
}
