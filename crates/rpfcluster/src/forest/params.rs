//! Parameters of a forest (Algorithm 1 of the paper), with validation. The defaults are the values of the paper.

use crate::error::{Error, Result, parameter};

/// The rule that cuts a node along its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Split {
    /// Uniform between the smallest and the largest projection, as in the paper.
    #[default]
    Uniform,
    /// The median projection, which balances the tree.
    Median,
}

/// The distribution of directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Direction {
    /// Standard normal coordinates, as in the paper.
    #[default]
    Gaussian,
    /// √d coordinates are standard normal, the others zero (after Li, Hastie and Church 2006). Cheaper on wide data.
    Sparse,
}

/// Parameters of Algorithm 1 of the paper.
///
/// ```
/// use rpfcluster::ForestParams;
/// let params = ForestParams { trees: 50, ..Default::default() };
/// assert!(params.validate().is_ok());
/// assert!(ForestParams { trees: 0, ..params }.validate().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForestParams {
    /// T, the number of trees. The paper uses 200, 400 and 600.
    pub trees: usize,
    /// n_s: a node with fewer rows is a leaf. The paper uses 30 (12 and 200 on two data sets). All rows count, also where
    /// the trees are grown on `max_samples` of them.
    pub min_node: usize,
    /// The rule that cuts a node.
    pub split: Split,
    /// The distribution of directions.
    pub direction: Direction,
    /// Directions drawn per node; the one with the widest projections is used. 1 in the paper.
    pub candidates: usize,
    /// Trees are grown on this many rows, those with the smallest hash of the seed and the number of the row; all rows
    /// are routed down them. `None` grows them on all rows, as the paper does.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_samples: Option<usize>,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ForestParams {
    fn default() -> Self {
        ForestParams {
            trees: 200,
            min_node: 30,
            split: Split::Uniform,
            direction: Direction::Gaussian,
            candidates: 1,
            max_samples: None,
            seed: 0,
        }
    }
}

impl ForestParams {
    /// Largest number of trees: shared-leaf counts are 16-bit.
    pub const MAX_TREES: usize = u16::MAX as usize;
    /// Largest number of candidates; more only cost time.
    pub const MAX_CANDIDATES: usize = 1000;

    /// Checks the range of every parameter.
    pub fn validate(&self) -> Result<()> {
        within("trees", self.trees, 1, Self::MAX_TREES)?;
        within("min_node", self.min_node, 2, u32::MAX as usize)?;
        within("candidates", self.candidates, 1, Self::MAX_CANDIDATES)?;
        within("max_samples", self.max_samples.unwrap_or(2), 2, u32::MAX as usize)
    }
}

fn within(name: &'static str, value: usize, least: usize, most: usize) -> std::result::Result<(), Error> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(parameter(name, value, format!("from {least} to {most}")))
    }
}
