//! Fits other settings on the forest of a clustering. The forest is not grown again.

use std::sync::Arc;

use super::{Evidence, Fitted, Seconds, fit_forest, memory};
use crate::affinity::Diagonal;
use crate::error::{Result, parameter};
use crate::observe::Observer;
use crate::params::{AffinityParams, RpfCluster, Setting};
use crate::points::Precision;
use crate::thread_pool::in_pool;

impl Fitted {
    /// Clusters the same rows with other parameters on the same forest. Affinity, its numbers and `min_node` keep the values
    /// of this fit where they are `None`. The labels equal those of a new fit with the same setting.
    ///
    /// The parameters of the forest (trees, split, direction, candidates, max_samples, components, metric, seed, duplicates) are ignored, and
    /// `min_node` must not be below the value the forest was grown with.
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
            trees: Some(grown.trees),
            max_trees: None,
            split: grown.split,
            direction: grown.direction,
            candidates: grown.candidates,
            max_samples: grown.max_samples,
            seed: grown.seed,
            duplicates: self.params.duplicates,
            components: self.params.components,
            metric: self.params.metric,
            ..params.clone()
        };
        params.validate()?;
        let setting = self.completed(&params);
        // What stays open in the parameters of a model describes how the setting was found.
        params = RpfCluster {
            memory_limit: params.memory_limit,
            threads: params.threads,
            ..params.at_setting(&setting)
        };
        let width = match self.forest.precision() {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        };
        memory::check(&params, self.d(), |params| params.memory_with(self.n(), self.d(), width, 0))?;
        let forest = Arc::clone(&self.forest);
        let distinct = self.rows.distinct.clone();
        let (evidence, seconds) = (Evidence::default(), Seconds::default());
        let mut fitted = in_pool(params.threads, || {
            fit_forest(params.clone(), setting, forest, distinct, evidence, seconds, observer)
        })??;
        fitted.pca = self.pca.clone();
        (fitted.extent, fitted.far) = (self.extent.clone(), self.far.clone());
        Ok(fitted)
    }

    /// The setting that these parameters name, and that of this fit for what they leave open.
    fn completed(&self, params: &RpfCluster) -> Setting {
        let mut all = params.clone();
        let names_other =
            all.top.is_some() || all.power.is_some() || all.beta1.is_some() || all.beta2.is_some();
        if all.affinity.is_none() && !names_other {
            all.affinity = Some(self.setting.affinity.kind());
        }
        let same = all.fixed_affinity().kind() == self.setting.affinity.kind();
        match self.setting.affinity {
            AffinityParams::Paper { beta1, beta2, diagonal } if same => {
                all.beta1.get_or_insert(beta1);
                all.beta2.get_or_insert(beta2);
                if all.diagonal == Diagonal::Keep {
                    all.diagonal = diagonal;
                }
            }
            AffinityParams::TopK { top, power } if same => {
                all.top.get_or_insert(top);
                all.power.get_or_insert(power);
            }
            _ => {}
        }
        if same {
            all.min_node.get_or_insert(self.setting.min_node);
        }
        // A default cannot be smaller than what the forest was grown with.
        let least = if all.min_node.is_none() { self.forest.params().min_node } else { 0 };
        let has_categories = self.forest.keys().iter().any(|key| key.is_level());
        let fixed = all.fixed_setting(self.forest.n(), has_categories);
        Setting { min_node: fixed.min_node.max(least), ..fixed }
    }
}
