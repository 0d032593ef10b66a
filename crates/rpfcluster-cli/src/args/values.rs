//! Values that options take, where they are more than a number or a path.

use std::str::FromStr;

use clap::ValueEnum;
use rpfcluster::affinity::Diagonal;
use rpfcluster::spectral::{Method, Solver};
use rpfcluster::{AffinityKind, Direction, Split};
use rpfcluster_data::Missing;
use rpfcluster_paper::compare::Method as Rival;

/// Where a node is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// Uniformly between the smallest and the largest projection
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
    /// Every coordinate a standard normal deviate
    Gaussian,
    /// About sqrt(d) coordinates are not zero: cheap on wide data
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

/// What to do about gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// Refuse, naming the first one
    Error,
    /// Leave the row out
    Drop,
    /// Put the column's mean
    Mean,
}

impl From<MissingArg> for Missing {
    fn from(missing: MissingArg) -> Self {
        match missing {
            MissingArg::Error => Missing::Error,
            MissingArg::Drop => Missing::Drop,
            MissingArg::Mean => Missing::Mean,
        }
    }
}

/// Which similarity is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AffinityArg {
    /// Left to the program
    Auto,
    /// Pairs below beta1 pruned, then exp(S / beta2): the paper's
    Paper,
    /// S itself, never formed: for any number of rows
    Linear,
    /// Each row's strongest neighbours, weights raised to a power
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

/// Whether a row is similar to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiagonalArg {
    /// As the paper has it
    Keep,
    /// Sounder at a small beta2
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

/// How labels are made from eigenvectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// K eigenvectors, rows to unit length, k-means
    Kway,
    /// Recursive cuts by the second eigenvector: the paper's
    Ncut,
}

impl From<MethodArg> for Method {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Kway => Method::Kway,
            MethodArg::Ncut => Method::Ncut,
        }
    }
}

/// A method of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RivalArg {
    /// Hartigan and Wong's K-means
    Kmeans,
    /// Spectral clustering with the Gaussian kernel
    Njw,
    /// Cluster Forests
    Cf,
    /// rpfCluster, label-free
    Rpf,
    /// rpfCluster by the paper's protocol
    RpfBestByLabels,
}

impl From<RivalArg> for Rival {
    fn from(rival: RivalArg) -> Self {
        match rival {
            RivalArg::Kmeans => Rival::KMeans,
            RivalArg::Njw => Rival::Njw,
            RivalArg::Cf => Rival::Cf,
            RivalArg::Rpf => Rival::RpfLabelFree,
            RivalArg::RpfBestByLabels => Rival::RpfBestByLabels,
        }
    }
}

/// Which bandwidths a sweep tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GridArg {
    /// Eighteen over the paper's range
    Coarse,
    /// All of the paper: 2,090 from 0.01 to 200
    Paper,
}

/// How eigenvectors are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverArg {
    /// Dense for few rows, block for many
    Auto,
    /// All of them: n² memory, n³ time
    Dense,
    /// The largest few, exact to the tolerance at any n
    Block,
    /// Approximate, from landmarks
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

/// A number, or a choice left to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<T> {
    /// Chosen without labels.
    Auto,
    /// As given.
    Given(T),
}

impl<T> Choice<T> {
    /// The number, if one was given.
    pub fn given(self) -> Option<T> {
        match self {
            Choice::Auto => None,
            Choice::Given(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for Choice<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Choice::Auto),
            _ => text.parse().map(Choice::Given).map_err(|_| {
                let kind = if "0.5".parse::<T>().is_ok() { "a number" } else { "a whole number" };
                format!("take {kind}, or auto")
            }),
        }
    }
}

/// A whole number that counts something.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "take a whole number from 1".into())
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("take a whole number from 0 to {}", u64::MAX))
}

/// A share, whose range `resolve` checks.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "take a number from 0 to 1".into())
}

/// `--min-node`: a number, or a choice left to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MinNode {
    /// Chosen without labels; where a command has something to choose by.
    Auto,
    /// As given.
    Fixed(usize),
}

impl FromStr for MinNode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(MinNode::Auto),
            _ => text.parse().map(MinNode::Fixed).map_err(|_| "take a whole number from 2, or auto".into()),
        }
    }
}

/// A number of bytes: `500000000`, `500M`, `1.5G`, `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "take a size such as 500M, 2G or 1.5GiB".to_string();
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
        Ok(Size(bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let size = |text: &str| text.parse::<Size>().map(|s| s.0);
        assert_eq!(size("500"), Ok(500));
        assert_eq!(size("1.5G"), Ok(1_500_000_000));
        assert_eq!(size("2 GiB"), Ok(2 << 30));
        assert_eq!(size("10kb"), Ok(10_000));
        for wrong in ["", "G", "-1G", "1X", "0", "1..2G", "nan", "1e400"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
