//! What can be chosen when a forest is grown; `Default` quotes the paper's values.

use crate::error::{Error, Result, parameter};

/// Where a node is cut along its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Uniformly between the smallest and the largest projection (the paper's).
    #[default]
    Uniform,
    /// At the median projection: balanced trees.
    Median,
}

/// How directions are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Every coordinate a standard normal deviate (the paper's).
    #[default]
    Gaussian,
    /// About sqrt(d) coordinates are not zero: cheap on wide data.
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
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ForestParams {
    /// T, the number of trees. The paper uses 200, 400 and 600.
    pub trees: usize,
    /// n_s: a node with fewer points is a leaf. The paper uses 30 (12 and 200 on two sets).
    pub min_node: usize,
    /// Where a node is cut.
    pub split: Split,
    /// How directions are drawn.
    pub direction: Direction,
    /// Directions drawn for each node, of which the one with the widest projections is kept. 1 in the paper.
    pub candidates: usize,
    /// Everything random follows from it.
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
            seed: 0,
        }
    }
}

impl ForestParams {
    /// Counts of shared leaves are kept in 16 bits.
    pub const MAX_TREES: usize = u16::MAX as usize;
    /// More candidates than this only cost time.
    pub const MAX_CANDIDATES: usize = 1000;

    /// Checks every range; nothing is clamped.
    pub fn validate(&self) -> Result<()> {
        within("trees", self.trees, 1, Self::MAX_TREES)?;
        within("min_node", self.min_node, 2, u32::MAX as usize)?;
        within("candidates", self.candidates, 1, Self::MAX_CANDIDATES)
    }
}

fn within(name: &'static str, value: usize, least: usize, most: usize) -> std::result::Result<(), Error> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(parameter(name, value, format!("from {least} to {most}")))
    }
}
