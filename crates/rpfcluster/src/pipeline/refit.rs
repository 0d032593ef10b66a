//! Fits other settings on the forest of a clustering. The forest is not grown again.

use std::sync::Arc;

use super::{Evidence, Fitted, Seconds, fit_forest, memory};
use crate::error::{Result, parameter};
use crate::observe::Observer;
use crate::params::RpfCluster;
use crate::points::Precision;
use crate::thread_pool::in_pool;

impl Fitted {
    /// Clusters the same rows with other parameters on the same forest. The labels equal those of a new fit.
    ///
    /// The parameters of the forest (trees, split, direction, candidates, components, seed, duplicates) are ignored, and `min_node` must not be
    /// below the value the forest was grown with. Above 100,000 rows a fit tries settings on a sample, a refit on all
    /// rows: it takes longer and may select another setting, so give the setting explicitly there.
    ///
    /// ```
    /// use rpfcluster::{Points, RpfCluster, Silent};
    /// let values: Vec<f64> = (0..400).map(|i| ((i * i) % 97) as f64).collect();
    /// let points = Points::new(&values, 200, 2)?;
    /// let two = RpfCluster { k: 2, ..Default::default() };
    /// let three = RpfCluster { k: 3, ..Default::default() };
    /// assert_eq!(two.fit(&points)?.refit(&three, &Silent)?.labels(), three.fit(&points)?.labels());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn refit(&self, params: &RpfCluster, observer: &dyn Observer) -> Result<Fitted> {
        if let Some(most) = params.max_k {
            return Err(parameter(
                "max_k",
                most,
                "None: K is selected from the rows, which a refit does not have",
            ));
        }
        let grown = self.forest.params().clone();
        let mut params = RpfCluster {
            trees: grown.trees,
            max_trees: None,
            split: grown.split,
            direction: grown.direction,
            candidates: grown.candidates,
            seed: grown.seed,
            duplicates: self.params.duplicates,
            components: self.params.components,
            ..params.clone()
        };
        params.tune &= params.k > 1 && params.resolution.is_none();
        params.validate()?;
        let width = match self.forest.precision() {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        };
        memory::check(&params, self.n(), self.d(), width)?;
        let forest = Arc::clone(&self.forest);
        let distinct = self.rows.distinct.clone();
        let (evidence, seconds) = (Evidence::default(), Seconds::default());
        let mut fitted = in_pool(params.threads, || {
            fit_forest(params.clone(), forest, distinct, evidence, seconds, observer)
        })??;
        fitted.pca = self.pca.clone();
        (fitted.extent, fitted.far) = (self.extent.clone(), self.far.clone());
        Ok(fitted)
    }
}
