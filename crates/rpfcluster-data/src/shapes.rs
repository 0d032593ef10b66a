//! Synthetic data sets with known clusters of different shape, density and size, and one without clusters.
//!
//! Point i depends only on the shape, the seed and i (and on n where clusters differ in size), so the points do not
//! depend on the order in which they are generated.

use std::f64::consts::{PI, TAU};
use std::str::FromStr;

use rpfcluster::random::{Purpose, Stream};

use crate::error::DataError;

/// A kind of synthetic data. Parsed from its name, with the parameters in [`Shape::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// `k` round normal clusters, centres uniform in [-10, 10]^d.
    Blobs {
        /// Clusters.
        k: usize,
        /// Dimensions.
        d: usize,
        /// Standard deviation within a cluster.
        sd: f64,
    },
    /// Two interleaved half circles.
    Moons,
    /// Three concentric circles.
    Rings,
    /// Three interleaved arms of a spiral.
    Spirals,
    /// Two interleaved crescents, thicker than the moons and without their tips.
    Bananas,
    /// Three normal clusters whose standard deviations differ by a factor of ten.
    Densities,
    /// Three parallel, wavy, thin chains.
    Chains,
    /// Three normal clusters of 80, 15 and 5 percent of the points.
    Sizes,
    /// Three elongated, rotated normal clusters.
    Anisotropic,
    /// Uniform in a square: no structure, one label.
    Noise,
    /// The Swiss roll (Tenenbaum, de Silva and Langford, Science 290, 2000), a rolled-up sheet in three dimensions; the
    /// labels are four segments along the roll.
    SwissRoll,
}

/// Points and their clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    /// n x d numbers, row by row.
    pub values: Vec<f64>,
    /// Points.
    pub n: usize,
    /// Dimensions.
    pub d: usize,
    /// Cluster of every point, from 0.
    pub labels: Vec<u32>,
}

impl Shape {
    /// Every shape once.
    pub const ALL: [Shape; 11] = [
        Shape::Blobs { k: 3, d: 2, sd: 1.0 },
        Shape::Moons,
        Shape::Rings,
        Shape::Spirals,
        Shape::Bananas,
        Shape::Densities,
        Shape::Chains,
        Shape::Sizes,
        Shape::Anisotropic,
        Shape::Noise,
        Shape::SwissRoll,
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Blobs { .. } => "blobs",
            Shape::Moons => "moons",
            Shape::Rings => "rings",
            Shape::Spirals => "spirals",
            Shape::Bananas => "bananas",
            Shape::Densities => "densities",
            Shape::Chains => "chains",
            Shape::Sizes => "sizes",
            Shape::Anisotropic => "anisotropic",
            Shape::Noise => "noise",
            Shape::SwissRoll => "swiss-roll",
        }
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        match self {
            Shape::Blobs { k, .. } => (*k).max(1),
            Shape::Moons | Shape::Bananas => 2,
            Shape::Noise => 1,
            Shape::SwissRoll => 4,
            _ => 3,
        }
    }

    /// Number of dimensions.
    pub fn d(&self) -> usize {
        match self {
            Shape::Blobs { d, .. } => (*d).max(1),
            Shape::SwissRoll => 3,
            _ => 2,
        }
    }

    /// Generates `n` points.
    pub fn generate(&self, n: usize, seed: u64) -> Shaped {
        let (k, d) = (self.k(), self.d());
        let code = self.name().bytes().fold(0, |h: u64, b| h.wrapping_mul(257).wrapping_add(u64::from(b)));
        let mut centres = vec![0.0; k * d];
        let mut stream = Stream::new(seed, Purpose::Shapes, code, 0);
        centres.iter_mut().for_each(|c| *c = stream.uniform() * 20.0 - 10.0);
        let mut values = vec![0.0; n * d];
        let mut labels = Vec::with_capacity(n);
        for (i, point) in values.chunks_exact_mut(d).enumerate() {
            let mut stream = Stream::new(seed, Purpose::Shapes, code, i as u64 + 1);
            labels.push(self.point(&mut stream, i, n, &centres, point) as u32);
        }
        Shaped { values, n, d, labels }
    }

    /// One point into `out`; returns its cluster.
    fn point(&self, s: &mut Stream, i: usize, n: usize, centres: &[f64], out: &mut [f64]) -> usize {
        let cluster = i % self.k();
        match self {
            Shape::Blobs { sd, .. } => {
                let d = out.len();
                for (x, centre) in out.iter_mut().zip(&centres[cluster * d..]) {
                    *x = centre + sd * s.normal();
                }
                cluster
            }
            Shape::Moons => {
                let (sin, cos) = libm::sincos(PI * s.uniform());
                let (x, y) = if cluster == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) };
                put(out, x + 0.05 * s.normal(), y + 0.05 * s.normal());
                cluster
            }
            Shape::Rings => {
                let (sin, cos) = libm::sincos(TAU * s.uniform());
                let radius = (1.0 + 2.0 * cluster as f64) + 0.15 * s.normal();
                put(out, radius * cos, radius * sin);
                cluster
            }
            Shape::Spirals => {
                // The square root spreads the points about evenly along the arm.
                let along = 0.2 + 0.8 * s.uniform().sqrt();
                let (sin, cos) = libm::sincos(TAU * (along + cluster as f64 / 3.0));
                put(out, 10.0 * along * cos + 0.15 * s.normal(), 10.0 * along * sin + 0.15 * s.normal());
                cluster
            }
            Shape::Bananas => {
                let (sin, cos) = libm::sincos(PI * (0.125 + 0.75 * s.uniform()));
                let radius = 5.0 + 0.5 * s.normal();
                let (x, y) = (radius * cos, radius * sin);
                if cluster == 0 {
                    put(out, x, y)
                } else {
                    put(out, x + 5.0, 2.5 - y)
                };
                cluster
            }
            Shape::Densities => {
                let (x, y, sd) = [(-8.0, 0.0, 0.3), (0.0, 8.0, 1.0), (8.0, 0.0, 3.0)][cluster];
                put(out, x + sd * s.normal(), y + sd * s.normal());
                cluster
            }
            Shape::Chains => {
                let along = 20.0 * s.uniform();
                put(out, along, 3.0 * cluster as f64 + libm::sin(along * 0.8) + 0.1 * s.normal());
                cluster
            }
            Shape::Sizes => {
                let share = (i as f64 + 0.5) / n as f64;
                let cluster = usize::from(share > 0.80) + usize::from(share > 0.95);
                let (x, y) = [(-4.0, 0.0), (4.0, 3.0), (4.0, -3.0)][cluster];
                put(out, x + s.normal(), y + s.normal());
                cluster
            }
            Shape::Anisotropic => {
                let (x, y) = (3.0 * s.normal(), 0.4 * s.normal());
                let offset = 3.0 * (cluster as f64 - 1.0);
                // Turned by 45 degrees, the clusters side by side.
                let turn = std::f64::consts::FRAC_1_SQRT_2;
                put(out, turn * (x - y - offset), turn * (x + y + offset));
                cluster
            }
            Shape::Noise => {
                put(out, 20.0 * s.uniform() - 10.0, 20.0 * s.uniform() - 10.0);
                0
            }
            Shape::SwissRoll => {
                let along = s.uniform();
                let angle = 1.5 * PI * (1.0 + 2.0 * along);
                let (sin, cos) = libm::sincos(angle);
                put(out, angle * cos + 0.1 * s.normal(), 21.0 * s.uniform());
                if let Some(z) = out.get_mut(2) {
                    *z = angle * sin + 0.1 * s.normal();
                }
                ((4.0 * along) as usize).min(3)
            }
        }
    }
}

/// Sets the first two coordinates.
fn put(out: &mut [f64], x: f64, y: f64) {
    if let [a, b, ..] = out {
        *a = x;
        *b = y;
    }
}

impl FromStr for Shape {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Shape, DataError> {
        Shape::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Shape::ALL.iter().map(Shape::name).collect();
            DataError::Option {
                name: format!("shape \"{name}\""),
                problem: format!("is not known; use one of {}", names.join(", ")),
            }
        })
    }
}
