//! Other settings for the rows of a clustering, on the forest it has: growing, most of a fit, is not done again.

use std::sync::Arc;

use super::{Evidence, Fitted, RpfCluster, Seconds, fit_forest, memory};
use crate::error::{Result, parameter};
use crate::observe::Observer;
use crate::points::Precision;
use crate::thread_pool::in_pool;

impl Fitted {
    /// Clusters the same rows by other settings, with the forest there is. Labels are those a fit with these settings
    /// would give.
    ///
    /// What decides the forest (trees, split, direction, candidates, seed) stays as it is, whatever `params` says, and
    /// `min_node` cannot be below the one it was grown with. Beyond 100,000 rows a fit tries settings on a sample of them;
    /// here they are tried on the whole forest, which may choose otherwise and takes longer: better give them there.
    ///
    /// ```
    /// use rpfcluster::{Points, RpfCluster};
    /// let values: Vec<f64> = (0..400).map(|i| ((i * i) % 97) as f64).collect();
    /// let points = Points::new(&values, 200, 2)?;
    /// let two = RpfCluster { k: 2, ..Default::default() };
    /// let three = RpfCluster { k: 3, ..Default::default() };
    /// assert_eq!(two.fit(&points)?.refit(&three, &Silent)?.labels(), three.fit(&points)?.labels());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn refit(&self, params: &RpfCluster, observer: &dyn Observer) -> Result<Fitted> {
        if let Some(most) = params.max_k {
            return Err(parameter("max_k", most, "left open: K is chosen from the rows, not from a forest"));
        }
        let grown = self.forest.params().clone();
        let mut params = RpfCluster {
            trees: grown.trees,
            max_trees: None,
            split: grown.split,
            direction: grown.direction,
            candidates: grown.candidates,
            seed: grown.seed,
            ..params.clone()
        };
        params.tune &= params.k > 1;
        params.validate()?;
        let width = match self.forest.precision() {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        };
        memory::check(&params, self.forest.n(), self.forest.d(), width)?;
        let forest = Arc::clone(&self.forest);
        let (evidence, seconds) = (Evidence::default(), Seconds::default());
        in_pool(params.threads, || fit_forest(params.clone(), forest, evidence, seconds, observer))?
    }
}
