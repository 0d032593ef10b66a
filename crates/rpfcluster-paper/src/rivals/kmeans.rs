//! The paper's baseline: R's `kmeans()` by Hartigan and Wong, at most 1000 iterations, 100 restarts.

use rpfcluster::Result;
use rpfcluster::kmeans::KMeansFit;
use rpfcluster::observe::Observer;
use serde::{Deserialize, Serialize};

use super::HartiganWong;

/// K-means with the paper's parameters.
///
/// ```
/// use rpfcluster_paper::rivals::PaperKMeans;
/// let rows = [0.0, 0.1, 5.0, 5.1, 9.0, 9.1];
/// let fit = PaperKMeans { k: 3, ..Default::default() }.fit(&rows, 1, &rpfcluster::Silent)?;
/// assert_eq!(fit.labels, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), rpfcluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaperKMeans {
    /// Number of clusters.
    pub k: usize,
    /// Most iterations of one run.
    pub max_iterations: usize,
    /// Starts tried; the smallest sum of squares wins.
    pub restarts: usize,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for PaperKMeans {
    fn default() -> Self {
        PaperKMeans { k: 2, max_iterations: 1000, restarts: 100, seed: 0 }
    }
}

impl PaperKMeans {
    fn inner(&self) -> HartiganWong {
        HartiganWong {
            k: self.k,
            restarts: self.restarts,
            max_iterations: self.max_iterations,
            seed: self.seed,
        }
    }

    /// Refuses values that cannot be meant.
    pub fn validate(&self) -> Result<()> {
        self.inner().validate()
    }

    /// Clusters the rows of `data`, each `d` numbers.
    pub fn fit(&self, data: &[f64], d: usize, observer: &dyn Observer) -> Result<KMeansFit> {
        self.inner().fit(data, d, observer)
    }
}
