//! The paper's two small examples (section 5.1), recomputed and drawn: two kernels of the Iris data, and nine points on
//! a line; with them the bounds of section 3. None needs an input file. The Gaussian kernel of Iris is clustered at 400 bandwidths, the rpf-kernel on the
//! paper's grid with several seeds.

use std::sync::Arc;

use crate::rivals::Gaussian;
use crate::sweep::{Sweep, coarse_bandwidths, paper_bandwidths};
use rayon::prelude::*;
use rpfcluster::affinity::{Affinity, SimilarityOperator, SparseAffinity};
use rpfcluster::metrics::Scores;
use rpfcluster::spectral::{Method, SpectralParams, cluster};
use rpfcluster::{Forest, ForestParams, Points, Silent};
use rpfcluster_report::figures::{Group, Panel, heat};
use serde::Serialize;

use super::Result;
use super::bounds::Bounds;
use super::contrast::Contrast;

/// The paper's scores on Iris, (rho_c, rho_r): rpf-kernel, Gaussian kernel.
pub(super) const PAPER_IRIS: [(f64, f64); 2] = [(96.67, 94.95), (92.00, 90.55)];

/// Similarities of neighbours among the paper's nine points.
const CHAIN: [f64; 8] = [0.9, 0.9, 0.9, 0.3, 0.9, 0.9, 0.9, 0.9];

/// The eigenvector printed in the paper.
const PAPER_VECTOR: [f64; 9] = [0.340, 0.469, 0.392, 0.219, -0.098, -0.249, -0.351, -0.419, -0.304];

/// The example of nine points on a line in two clusters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NinePoints {
    /// `D^1/2 u2` scaled to unit length, the vector the paper prints.
    pub vector: Vec<f64>,
    /// The vector printed in the paper.
    pub paper: Vec<f64>,
    /// The two clusters.
    pub labels: Vec<u32>,
}

/// Computes the example of the paper's section 5.1.2.
///
/// ```
/// let found = rpfcluster_paper::reproduce::nine_points()?;
/// assert_eq!(found.labels, [0, 0, 0, 0, 1, 1, 1, 1, 1]);
/// assert!(found.vector.iter().zip(&found.paper).all(|(a, b)| (a - b).abs() < 6e-4));
/// # Ok::<(), rpfcluster_paper::reproduce::Error>(())
/// ```
pub fn nine_points() -> Result<NinePoints> {
    let mut matrix = [0.0; 81];
    for i in 0..9 {
        matrix[i * 9 + i] = 1.0;
    }
    for (i, s) in CHAIN.into_iter().enumerate() {
        matrix[i * 9 + i + 1] = s;
        matrix[(i + 1) * 9 + i] = s;
    }
    let affinity = SparseAffinity::precomputed_dense(&matrix, 9, &Silent)?;
    let params = SpectralParams { k: 2, method: Method::Ncut, ..Default::default() };
    let (labels, embedding) = cluster(&affinity, &params, &Silent)?;
    let mut vector: Vec<f64> = (0..9).map(|i| embedding.row(i)[1] * embedding.degrees[i].sqrt()).collect();
    let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    let sign = if vector[0] < 0.0 { -1.0 } else { 1.0 };
    vector.iter_mut().for_each(|v| *v *= sign / length);
    Ok(NinePoints { vector, paper: PAPER_VECTOR.to_vec(), labels })
}

/// Normalised cuts of the Iris data with both kernels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IrisExample {
    /// The Gaussian bandwidth whose scores are closest to the paper's; the heat map shows it.
    pub sigma: f64,
    /// The scores at `sigma`.
    pub gaussian: Scores,
    /// The Gaussian bandwidth of the highest rho_c by species.
    pub best_sigma: f64,
    /// The scores at `best_sigma`: the Gaussian kernel tuned by species, as the paper tunes the rpf-kernel.
    pub gaussian_best: Scores,
    /// Bandwidths and rho_c of the Gaussian kernel.
    pub gaussian_curve: Vec<(f64, f64)>,
    /// Bandwidths of the search on the rpf-kernel.
    pub bandwidths: usize,
    /// Seeds of the search: each grows a forest of 200 trees.
    pub seeds: usize,
    /// The rpf-kernel with normalised cuts, the best setting by species for each seed.
    pub rpf: ScoreRange,
    /// The same, the setting chosen without species.
    pub rpf_label_free: ScoreRange,
    /// Similarities within and between species, Gaussian kernel at `sigma`.
    pub gaussian_contrast: Contrast,
    /// The same of the rpf-kernel, one forest of 200 trees.
    pub rpf_contrast: Contrast,
    /// The least Gaussian bandwidth tried from which on the rpf-kernel has the larger contrast, within over between species.
    pub sharper_from: Option<f64>,
    /// The species with their numbers of rows.
    pub species: Vec<(String, usize)>,
    #[serde(skip)]
    gaussian_matrix: Vec<f64>,
    #[serde(skip)]
    rpf_matrix: Vec<f64>,
}

/// Scores over seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreRange {
    /// Least, median and largest rho_c.
    pub rho_c: [f64; 3],
    /// Least, median and largest rho_r.
    pub rho_r: [f64; 3],
}

impl ScoreRange {
    fn new(scores: &[Scores]) -> Self {
        let range = |score: fn(&Scores) -> f64| {
            let mut values: Vec<f64> = scores.iter().map(score).collect();
            values.sort_unstable_by(f64::total_cmp);
            let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
            let last = values.len().saturating_sub(1);
            [at(0), (at(last / 2) + at(values.len() / 2)) / 2.0, at(last)]
        };
        ScoreRange { rho_c: range(|s| s.rho_c), rho_r: range(|s| s.rho_r) }
    }

    /// `median 96.67 / 95.75 (94.00 to 97.33 / 92.68 to 96.56)`.
    pub(super) fn words(&self) -> String {
        let ([least_c, median_c, most_c], [least_r, median_r, most_r]) = (self.rho_c, self.rho_r);
        format!(
            "median {median_c:.2} / {median_r:.2} ({least_c:.2} to {most_c:.2} / {least_r:.2} to {most_r:.2})"
        )
    }
}

/// Both examples and the bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Illustrations {
    /// Nine points on a line.
    pub nine_points: NinePoints,
    /// Iris.
    pub iris: IrisExample,
    /// The bounds of section 3, by Monte Carlo.
    pub bounds: Bounds,
    #[serde(skip)]
    heat_maps: String,
}

impl Illustrations {
    /// Computes all of them; the Iris data is embedded, so no file is needed.
    /// A quick run takes 3 seeds and 18 bandwidths, a full one 20 seeds and the 2,090 bandwidths of the paper.
    pub fn make(quick: bool) -> Result<Self> {
        let iris = iris_example(quick)?;
        let groups: Vec<Group> =
            iris.species.iter().map(|(name, rows)| Group { name: name.clone(), rows: *rows }).collect();
        let panels = [
            Panel { title: "Gaussian kernel", values: &iris.gaussian_matrix, groups: &groups },
            Panel { title: "rpf-kernel", values: &iris.rpf_matrix, groups: &groups },
        ];
        let heat_maps = heat(&panels, &["similarity,", "from 0 to 1"], false)?;
        let bounds = Bounds::measure(if quick { 400 } else { 4000 }, 0);
        Ok(Illustrations { nine_points: nine_points()?, iris, bounds, heat_maps })
    }

    /// Heat maps of the two kernels of the Iris data, as one SVG.
    pub fn heat_maps(&self) -> &str {
        &self.heat_maps
    }

    /// File names and contents.
    pub(super) fn figures(&self) -> Vec<(&'static str, String)> {
        vec![
            ("iris-kernels.svg", self.heat_maps.clone()),
            ("iris-gaussian.svg", self.curve()),
            ("nine-points.svg", self.line()),
        ]
    }

    /// The accuracy of the Gaussian kernel over its bandwidth, as an SVG; the two bandwidths that are quoted are marked.
    fn curve(&self) -> String {
        use std::fmt::Write;
        const AREA: [f64; 4] = [70.0, 40.0, 460.0, 190.0];
        let iris = &self.iris;
        let ends = (iris.gaussian_curve.first(), iris.gaussian_curve.last());
        let (Some(&(low, _)), Some(&(high, _))) = ends else { return String::new() };
        let x = |sigma: f64| AREA[0] + AREA[2] * (sigma - low) / (high - low);
        let y = |rho_c: f64| AREA[1] + AREA[3] * (100.0 - rho_c) / 70.0;
        let mut out = String::from(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 290" role="img" aria-label="accuracy of the Gaussian kernel over its bandwidth" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/><text x="20" y="20" font-size="14" font-weight="bold">Iris, Gaussian kernel: accuracy over the bandwidth</text>"##,
        );
        for tick in [40.0, 60.0, 80.0, 100.0] {
            let _ = write!(
                out,
                r##"<line x1="{}" x2="{}" y1="{2:.1}" y2="{2:.1}" stroke="#ddd"/><text x="{3}" y="{4:.1}" text-anchor="end">{tick}</text>"##,
                AREA[0],
                AREA[0] + AREA[2],
                y(tick),
                AREA[0] - 8.0,
                y(tick) + 4.0
            );
        }
        for step in 0..=4 {
            let sigma = low + (high - low) * f64::from(step) / 4.0;
            let _ =
                write!(out, r##"<text x="{:.1}" y="250" text-anchor="middle">{sigma:.2}</text>"##, x(sigma));
        }
        let points: Vec<String> =
            iris.gaussian_curve.iter().map(|(s, rho_c)| format!("{:.1},{:.1}", x(*s), y(*rho_c))).collect();
        let _ = write!(
            out,
            r##"<polyline points="{}" fill="none" stroke="#0072b2" stroke-width="1.5"/>"##,
            points.join(" ")
        );
        for (sigma, rho_c, colour, words) in [
            (iris.sigma, iris.gaussian.rho_c, "#c2410c", "closest to the paper"),
            (iris.best_sigma, iris.gaussian_best.rho_c, "#009e73", "best by species"),
        ] {
            let _ = write!(
                out,
                r##"<circle cx="{:.1}" cy="{:.1}" r="5" fill="{colour}"/><text x="{:.1}" y="{:.1}" fill="{colour}">{words}</text>"##,
                x(sigma),
                y(rho_c),
                x(sigma) + 8.0,
                y(rho_c) + if colour == "#c2410c" { 18.0 } else { -8.0 }
            );
        }
        out.push_str(
            r##"<text x="300" y="275" text-anchor="middle">bandwidth σ</text><text transform="translate(20 135) rotate(-90)" text-anchor="middle">accuracy (rho_c), percent</text></svg>"##,
        );
        out
    }

    /// The components of the eigenvector at the nine points, as an SVG.
    fn line(&self) -> String {
        use std::fmt::Write;
        let mut out = String::from(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 260" role="img" aria-label="nine points" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/><text x="20" y="20" font-size="14" font-weight="bold">Nine points on a line: the second eigenvector</text><line x1="50" x2="540" y1="130" y2="130" stroke="#888"/><text transform="translate(16 130) rotate(-90)" text-anchor="middle">component</text>"##,
        );
        for (i, (value, label)) in self.nine_points.vector.iter().zip(&self.nine_points.labels).enumerate() {
            let (x, y) = (75.0 + 54.0 * i as f64, 130.0 - 180.0 * value);
            let fill = if *label == 0 { "#0072b2" } else { "#e69f00" };
            let _ = write!(
                out,
                r##"<line x1="{x}" x2="{x}" y1="130" y2="{y:.1}" stroke="#888"/><circle cx="{x}" cy="{y:.1}" r="6" fill="{fill}"/><text x="{x}" y="{:.1}" text-anchor="middle">{value:.3}</text><text x="{x}" y="246" text-anchor="middle">X{}</text>"##,
                if *value >= 0.0 { y - 10.0 } else { y + 20.0 },
                i + 1
            );
        }
        out.push_str("</svg>");
        out
    }
}

fn iris_example(quick: bool) -> Result<IrisExample> {
    let (table, _) = rpfcluster_data::iris()?;
    let data = table.values.to_f64().into_owned();
    let (n, d) = (table.n, table.d());
    let labels = table.labels.unwrap_or_default();
    let species: Vec<(String, usize)> = labels.names.iter().cloned().zip(labels.counts()).collect();
    let mut tried = Vec::new();
    let params = SpectralParams { k: 3, method: Method::Ncut, ..Default::default() };
    for step in 0..400 {
        let sigma = 0.25 + 0.002 * f64::from(step);
        let kernel = Gaussian::new(&data, d, sigma)?.with_unit_diagonal().dense(&Silent)?;
        tried.push((
            sigma,
            Scores::new(&cluster(Affinity::operator(&kernel), &params, &Silent)?.0, &labels.codes)?,
        ));
    }
    let off = |s: &Scores| (s.rho_c - PAPER_IRIS[1].0).abs() + (s.rho_r - PAPER_IRIS[1].1).abs();
    let whole = (1.0, Scores::new(&labels.codes, &labels.codes)?);
    let (sigma, gaussian) =
        tried.iter().copied().min_by(|a, b| off(&a.1).total_cmp(&off(&b.1))).unwrap_or(whole);
    let (best_sigma, gaussian_best) =
        tried.iter().copied().max_by(|a, b| a.1.rho_c.total_cmp(&b.1.rho_c)).unwrap_or(whole);
    let points = Points::new(&data, n, d)?;
    let (seeds, beta2) = if quick { (3, coarse_bandwidths()) } else { (20, paper_bandwidths()) };
    let bandwidths = beta2.len();
    let sweep = Sweep { k: 3, beta2, methods: vec![Method::Ncut], refine: true, ..Default::default() };
    let searched: Result<Vec<(Scores, Scores)>> = (0..seeds as u64)
        .into_par_iter()
        .map(|seed| {
            let forest = Forest::grow(&points, &ForestParams { seed, ..Default::default() })?;
            let sweep = Sweep { seed, ..sweep.clone() };
            let found = sweep.run(&Arc::new(forest.leaves()), Some(&labels.codes), &Silent)?;
            let scored = |at: usize| Scores::new(found.labels_of(at), &labels.codes);
            Ok((scored(found.best_by_labels.unwrap_or(found.label_free))?, scored(found.label_free)?))
        })
        .collect();
    let (best, label_free): (Vec<Scores>, Vec<Scores>) = searched?.into_iter().unzip();
    let leaves = Forest::grow(&points, &ForestParams::default())?.leaves();
    let kernel = Gaussian::new(&data, d, sigma)?.with_unit_diagonal();
    let mut gaussian_matrix = vec![0.0; n * n];
    for (j, column) in gaussian_matrix.chunks_exact_mut(n).enumerate() {
        kernel.column(j, column, &Silent)?;
    }
    let rpf_matrix = leaves.dense();
    let rpf_contrast = Contrast::new(&rpf_matrix, &labels.codes);
    let sharper_from = sharper_from(&data, d, &labels.codes, &tried, rpf_contrast.ratio())?;
    Ok(IrisExample {
        gaussian_contrast: Contrast::new(&gaussian_matrix, &labels.codes),
        rpf_contrast,
        sharper_from,
        sigma,
        gaussian,
        best_sigma,
        gaussian_best,
        gaussian_curve: tried.iter().map(|(sigma, scores)| (*sigma, scores.rho_c)).collect(),
        bandwidths,
        seeds,
        rpf: ScoreRange::new(&best),
        rpf_label_free: ScoreRange::new(&label_free),
        species,
        gaussian_matrix,
        rpf_matrix,
    })
}

/// See [`IrisExample::sharper_from`].
fn sharper_from(
    data: &[f64],
    d: usize,
    classes: &[u32],
    tried: &[(f64, Scores)],
    ratio: f64,
) -> Result<Option<f64>> {
    let mut from = None;
    for (sigma, _) in tried {
        let kernel = Gaussian::new(data, d, *sigma)?.dense(&Silent)?;
        let matrix: Vec<f64> = (0..classes.len()).flat_map(|i| kernel.row(i)).copied().collect();
        if Contrast::new(&matrix, classes).ratio() >= ratio {
            from = None;
        } else {
            from = from.or(Some(*sigma));
        }
    }
    Ok(from)
}
