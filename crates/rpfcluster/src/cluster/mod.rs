//! RpfCluster: the only room that knows the whole walk, Points → Forest → LeafMatrix → Affinity → Embedding → Labels.
//!
//! `params` what can be said, `fit` the chain, `fitted` what comes out and its predict, `codec` bytes.

mod codec;
pub(crate) mod fit;
mod fitted;
mod memory;
mod params;

use std::sync::Arc;
use std::time::Instant;

pub use fit::{Cut, Seconds};
pub use fitted::Fitted;
pub use params::{AffinityKind, AffinityParams, RpfCluster};

use crate::error::Result;
use crate::forest::Forest;
use crate::observe::{Observer, Silent};
use crate::parallel::in_pool;
use crate::points::{Points, Real};

impl RpfCluster {
    /// Clusters the points.
    pub fn fit<R: Real>(&self, points: &Points<R>) -> Result<Fitted> {
        self.fit_observed(points, &Silent)
    }

    /// Clusters the points, telling `observer` about each stage.
    pub fn fit_observed<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Fitted> {
        self.validate()?;
        memory::check(self, points.n(), points.d(), size_of::<R>())?;
        in_pool(self.threads, || self.fit_here(points, observer))?
    }

    fn fit_here<R: Real>(&self, points: &Points<R>, observer: &dyn Observer) -> Result<Fitted> {
        let mut seconds = Seconds::default();
        let clock = Instant::now();
        let min_node = self.fixed_min_node(points.n());
        let forest = Forest::grow_observed(points, &self.forest_params(min_node), observer)?;
        seconds.grow = clock.elapsed().as_secs_f64();
        self.fit_forest(forest, min_node, seconds, observer)
    }

    /// Clusters the points of a grown forest.
    fn fit_forest(
        &self,
        forest: Forest,
        min_node: usize,
        mut seconds: Seconds,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let leaves = Arc::new(forest.leaves_at(min_node)?);
        fit::check_distinct(&leaves, self.k)?;
        let affinity_params = self.fixed_affinity();
        let method = self.method.unwrap_or_default();
        let clock = Instant::now();
        let pairs = fit::pairs(&leaves, &affinity_params, observer)?;
        let affinity = fit::affinity(&leaves, &pairs, &affinity_params)?;
        drop(pairs);
        seconds.kernel = clock.elapsed().as_secs_f64();
        let spectral = self.spectral_params(method);
        let cut = fit::cut(&leaves, affinity.as_ref(), &spectral, None, &mut seconds, observer)?;
        drop(affinity);
        Fitted::new(self.clone(), forest, min_node, leaves, affinity_params, method, cut, seconds)
    }
}
