//! Values that options take, where they are more than a number or a path.

use std::str::FromStr;

use clap::ValueEnum;
use rpfcluster::{Direction, Split};
use rpfcluster_data::Missing;

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
