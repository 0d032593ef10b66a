//! Generated shapes: reproducible, with the stated number of clusters and the stated geometry.

use rpfcluster_data::shapes::Shape;

#[test]
fn every_shape_has_its_size_and_labels() {
    for shape in Shape::ALL {
        let made = shape.generate(600, 1);
        assert_eq!((made.values.len(), made.labels.len(), made.d), (600 * shape.d(), 600, shape.d()));
        assert!(made.values.iter().all(|x| x.is_finite()));
        let mut seen = made.labels.clone();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), shape.k(), "{}", shape.name());
        assert_eq!(made, shape.generate(600, 1), "the same seed, the same points");
        assert_ne!(made.values, shape.generate(600, 2).values, "another seed, other points");
        assert_eq!(shape.name().parse::<Shape>().unwrap(), shape);
        assert_eq!(shape.generate(0, 1).values.len(), 0);
        assert_eq!(shape.generate(1, 1).labels.len(), 1);
    }
    assert!("cubes".parse::<Shape>().unwrap_err().to_string().contains("swiss-roll"));
}

#[test]
fn first_points_do_not_depend_on_the_number_of_points() {
    for shape in Shape::ALL {
        let (few, many) = (shape.generate(10, 3), shape.generate(100, 3));
        if shape != Shape::Sizes {
            assert_eq!(few.values, many.values[..10 * few.d], "{}", shape.name());
        }
    }
}

#[test]
fn sizes_have_their_shares_and_rings_their_radii() {
    let made = Shape::Sizes.generate(1000, 0);
    let count = |c: u32| made.labels.iter().filter(|l| **l == c).count();
    assert_eq!([count(0), count(1), count(2)], [800, 150, 50]);
    let made = Shape::Rings.generate(3000, 0);
    for (point, label) in made.values.chunks(2).zip(&made.labels) {
        let radius = point[0].hypot(point[1]);
        assert!((radius - (1.0 + 2.0 * f64::from(*label))).abs() < 0.9);
    }
}

#[test]
fn blobs_have_their_standard_deviation() {
    let made = Shape::Blobs { k: 4, d: 5, sd: 0.5 }.generate(4000, 7);
    for cluster in 0..4u32 {
        let rows: Vec<&[f64]> =
            made.values.chunks(5).zip(&made.labels).filter(|(_, l)| **l == cluster).map(|(r, _)| r).collect();
        assert_eq!(rows.len(), 1000);
        for j in 0..5 {
            let mean = rows.iter().map(|r| r[j]).sum::<f64>() / 1000.0;
            let sd = (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / 1000.0).sqrt();
            assert!((sd - 0.5).abs() < 0.05, "{sd}");
            assert!(mean.abs() < 10.1);
        }
    }
}

/// At least 890 of 900 points have the label of their nearest neighbour.
#[test]
fn nearest_neighbours_in_thin_shapes_share_their_label() {
    for shape in [Shape::Moons, Shape::Bananas, Shape::Spirals, Shape::Rings, Shape::Chains] {
        let made = shape.generate(900, 5);
        let distance = |i: usize, j: usize| {
            (0..made.d)
                .map(|c| (made.values[i * made.d + c] - made.values[j * made.d + c]).powi(2))
                .sum::<f64>()
        };
        let nearest = |i: usize| {
            (0..900).filter(|j| *j != i).min_by(|a, b| distance(i, *a).total_cmp(&distance(i, *b)))
        };
        let agreeing =
            (0..900).filter(|i| nearest(*i).map(|j| made.labels[j]) == Some(made.labels[*i])).count();
        assert!(agreeing >= 890, "{}: {agreeing}", shape.name());
    }
}
