//! Types of option values other than plain numbers and paths: named choices, `auto` or a number, byte sizes; and the
//! parsers of counts, seeds and shares.

use std::str::FromStr;

use clap::ValueEnum;
use rpfcluster::affinity::Diagonal;
use rpfcluster::spectral::{Method, Quality, Solver};
use rpfcluster::{AffinityKind, Components, Direction, Duplicates, Metric, Split};
use rpfcluster_data::Missing;
use rpfcluster_paper::compare::Experiment;

/// Where a node is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// At a uniform random point between the smallest and the largest projection
    Uniform,
    /// At the median projection
    Median,
}

impl From<SplitArg> for Split {
    fn from(split: SplitArg) -> Self {
        match split {
            SplitArg::Uniform => Split::Uniform,
            SplitArg::Median => Split::Median,
        }
    }
}

/// How directions are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Every coordinate is standard normal
    Gaussian,
    /// About sqrt(d) coordinates are not zero: fast on wide data
    Sparse,
}

impl From<DirectionArg> for Direction {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::Gaussian => Direction::Gaussian,
            DirectionArg::Sparse => Direction::Sparse,
        }
    }
}

/// What is done with rows that occur several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DuplicatesArg {
    /// The forest grows on distinct rows; each counts as often as it occurs
    Weigh,
    /// The paper's: the forest grows on all rows; min-node or more equal rows are a leaf of their own
    Keep,
}

/// `--metric`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricArg {
    /// Cosine on the principal components of a table with more than 95 % zeros, else Euclidean
    Auto,
    /// Rows as they are
    Euclidean,
    /// Rows, or their principal components, scaled to unit length: only angles count
    Cosine,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Self {
        match metric {
            MetricArg::Auto => Metric::Auto,
            MetricArg::Euclidean => Metric::Euclidean,
            MetricArg::Cosine => Metric::Cosine,
        }
    }
}

impl From<DuplicatesArg> for Duplicates {
    fn from(duplicates: DuplicatesArg) -> Self {
        match duplicates {
            DuplicatesArg::Weigh => Duplicates::Weigh,
            DuplicatesArg::Keep => Duplicates::Keep,
        }
    }
}

/// Whether the first line of a text file names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HeaderArg {
    /// Found by looking: text above numbers, or years in equal steps
    Auto,
    /// It does
    Yes,
    /// It does not
    No,
}

impl From<HeaderArg> for Option<bool> {
    fn from(header: HeaderArg) -> Self {
        match header {
            HeaderArg::Auto => None,
            HeaderArg::Yes => Some(true),
            HeaderArg::No => Some(false),
        }
    }
}

/// How missing values are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// Stop with an error that names the first one
    Error,
    /// Leave the row out
    Drop,
    /// Replace by the mean of the column
    Mean,
    /// Route the row by its other columns
    Native,
}

impl From<MissingArg> for Missing {
    fn from(missing: MissingArg) -> Self {
        match missing {
            MissingArg::Error => Missing::Error,
            MissingArg::Drop => Missing::Drop,
            MissingArg::Mean => Missing::Mean,
            MissingArg::Native => Missing::Native,
        }
    }
}

/// The similarity that is clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AffinityArg {
    /// Select affinity and leaf size by prediction strength
    Auto,
    /// The paper's: exp(S / beta2), with S below beta1 set to 0
    Paper,
    /// S itself, in factored form: for any number of rows
    Linear,
    /// The graph of each row's most similar rows, weights S to a power
    TopK,
}

impl From<AffinityArg> for Option<AffinityKind> {
    fn from(affinity: AffinityArg) -> Self {
        match affinity {
            AffinityArg::Auto => None,
            AffinityArg::Paper => Some(AffinityKind::Paper),
            AffinityArg::Linear => Some(AffinityKind::Linear),
            AffinityArg::TopK => Some(AffinityKind::TopK),
        }
    }
}

/// Whether the diagonal of the similarity matrix is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiagonalArg {
    /// As in the paper
    Keep,
    /// Less sensitive to a small beta2
    Drop,
}

impl From<DiagonalArg> for Diagonal {
    fn from(diagonal: DiagonalArg) -> Self {
        match diagonal {
            DiagonalArg::Keep => Diagonal::Keep,
            DiagonalArg::Drop => Diagonal::Drop,
        }
    }
}

/// How labels are made from the affinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// K-means on the rows of K eigenvectors, scaled to unit length
    Kway,
    /// The paper's: recursive normalised cuts by the second eigenvector
    Ncut,
    /// Communities of the graph by the Leiden algorithm, without eigenvectors
    Leiden,
}

impl From<MethodArg> for Method {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Kway => Method::Kway,
            MethodArg::Ncut => Method::Ncut,
            MethodArg::Leiden => Method::Leiden,
        }
    }
}

/// The quality function of the Leiden algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QualityArg {
    /// Modularity with a resolution
    Modularity,
    /// Constant Potts model: rows with a mean weight below the resolution are apart
    Cpm,
}

impl From<QualityArg> for Quality {
    fn from(quality: QualityArg) -> Self {
        match quality {
            QualityArg::Modularity => Quality::Modularity,
            QualityArg::Cpm => Quality::Cpm,
        }
    }
}

/// A method of `rpf compare`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RivalArg {
    /// Hartigan and Wong's K-means
    Kmeans,
    /// Spectral clustering with the Gaussian kernel
    Njw,
    /// Cluster Forests
    Cf,
    /// rpfCluster with its default parameters
    Rpf,
    /// rpfCluster as in the paper: Algorithm 3 on a grid, the best by the labels and one chosen without
    Algorithm3,
}

impl From<RivalArg> for Experiment {
    fn from(rival: RivalArg) -> Self {
        match rival {
            RivalArg::Kmeans => Experiment::KMeans,
            RivalArg::Njw => Experiment::Njw,
            RivalArg::Cf => Experiment::Cf,
            RivalArg::Rpf => Experiment::Auto,
            RivalArg::Algorithm3 => Experiment::Algorithm3,
        }
    }
}

/// The bandwidths of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GridArg {
    /// 18 bandwidths over the range of the paper
    Coarse,
    /// The 2,090 bandwidths of the paper, 0.01 to 200
    Paper,
}

/// How eigenvectors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverArg {
    /// Dense for few rows, block for many
    Auto,
    /// Full decomposition: n² memory, n³ time
    Dense,
    /// Iterative block method, exact to a tolerance at any n
    Block,
    /// Nystrom approximation from landmark rows
    Nystrom,
}

impl From<SolverArg> for Solver {
    fn from(solver: SolverArg) -> Self {
        match solver {
            SolverArg::Auto => Solver::Auto,
            SolverArg::Dense => Solver::Dense,
            SolverArg::Block => Solver::Block,
            SolverArg::Nystrom => Solver::Nystrom,
        }
    }
}

/// The value of an option that takes `auto` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoOr<T> {
    /// Chosen from the data.
    Auto,
    /// Given on the command line.
    Value(T),
}

impl<T> AutoOr<T> {
    /// The value, unless it is `auto`.
    pub fn value(self) -> Option<T> {
        match self {
            AutoOr::Auto => None,
            AutoOr::Value(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for AutoOr<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(AutoOr::Auto),
            _ => text.parse().map(AutoOr::Value).map_err(|_| {
                let kind = if "0.5".parse::<T>().is_ok() { "a number" } else { "a whole number" };
                format!("expected {kind} or auto")
            }),
        }
    }
}

/// The value of `--components`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentsArg(pub Components);

impl FromStr for ComponentsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(ComponentsArg(Components::Auto)),
            "none" => Ok(ComponentsArg(Components::None)),
            _ => match text.parse() {
                Ok(count) => Ok(ComponentsArg(Components::Count(count))),
                Err(_) => Err("expected a whole number, auto or none".into()),
            },
        }
    }
}

/// A whole number that counts something.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number from 1".into())
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A share; `resolve` checks its range.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number from 0 to 1".into())
}

/// A number of bytes: `500000000`, `500M`, `1.5G`, `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a size such as 500M, 2G or 1.5GiB".to_string();
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit = unit.trim().to_ascii_lowercase();
        let (prefix, base) = match unit.strip_suffix("ib") {
            Some(prefix) => (prefix, 1024f64),
            None => (unit.strip_suffix('b').unwrap_or(&unit), 1000f64),
        };
        let power = ["", "k", "m", "g", "t"].iter().position(|p| *p == prefix).ok_or_else(wrong)?;
        let bytes = number * base.powi(power as i32);
        if !(1.0..1e18).contains(&bytes) {
            return Err(wrong());
        }
        Ok(ByteSize(bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_decimal_and_binary_units() {
        let size = |text: &str| text.parse::<ByteSize>().map(|s| s.0);
        assert_eq!(size("500"), Ok(500));
        assert_eq!(size("1.5G"), Ok(1_500_000_000));
        assert_eq!(size("2 GiB"), Ok(2 << 30));
        assert_eq!(size("10kb"), Ok(10_000));
        for wrong in ["", "G", "-1G", "1X", "0", "1..2G", "nan", "1e400"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
