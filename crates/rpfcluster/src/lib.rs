//! Random projection forests, the similarity kernel they learn, and spectral clustering on that kernel.
//!
//! The crate implements "Similarity Kernel and Clustering via Random Projection Forests" (Yan, Gu, Xu and Qin, 2019,
//! arXiv:1908.10506), "the paper" below. Two rows are similar when random cuts of the data seldom separate them: T
//! random projection trees are grown, and the similarity of two rows is the fraction of trees in which they end in the
//! same leaf, the *rpf-kernel*. It needs no distance, no bandwidth and no labels, and its factored form needs no matrix
//! of all pairs. The same seed gives the same bits on any number of threads.
//!
//! # Clustering
//!
//! [`Points`] is a checked view of your values, [`RpfCluster`] the parameters, [`Fitted`] the result:
//!
//! ```
//! use rpfcluster::{Points, RpfCluster};
//!
//! // 90 rows of 2 columns in three groups.
//! let values: Vec<f64> = (0..180).map(|i| (i / 2 % 3 * 10) as f64 + (i % 7) as f64 * 0.1).collect();
//! let points = Points::new(&values, 90, 2)?;
//!
//! let fitted = RpfCluster { k: 3, ..Default::default() }.fit(&points)?;
//! assert_eq!(fitted.labels()[..6], [0, 1, 2, 0, 1, 2]);
//!
//! // Rows that were not fitted.
//! assert_eq!(fitted.predict(&Points::new(&[10.2, 10.1], 1, 2)?)?, [1]);
//!
//! // The similarity behind it: the fraction of trees in which two rows share a leaf.
//! assert!(fitted.leaves().pair(0, 3) > fitted.leaves().pair(0, 1));
//! # Ok::<(), rpfcluster::Error>(())
//! ```
//!
//! Parameters have defaults that suit most tables. On request they are selected without labels: [`RpfCluster::max_k`]
//! selects K, [`RpfCluster::tune`] affinity and leaf size by prediction strength. [`Fitted::evidence`] says what was
//! selected and why.
//!
//! # The steps
//!
//! A fit is a chain of types, each usable on its own:
//!
//! | step | type | what it is |
//! |---|---|---|
//! | data | [`Points`] | n rows of d finite values, dense or sparse, `f32` or `f64` |
//! | grow | [`Forest`] with [`ForestParams`] | T random projection trees (Algorithm 1) |
//! | leaves | [`LeafMatrix`] | Z, the leaf of each row in each tree; S = Z Zᵀ / T (Algorithm 2) |
//! | affinity | [`affinity::Affinity`] | S itself, `exp(S / beta2)` above a threshold, or a neighbour graph |
//! | eigenvectors | [`spectral::Embedding`] | the largest eigenpairs of the normalised affinity |
//! | labels | [`Fitted`] | k-means on the eigenvectors, or recursive normalised cuts (Algorithm 3) |
//!
//! ```
//! use rpfcluster::{Forest, ForestParams, Points, Silent};
//! # let values: Vec<f64> = (0..180).map(|i| (i / 2 % 3 * 10) as f64 + (i % 7) as f64 * 0.1).collect();
//! # let points = Points::new(&values, 90, 2)?;
//! let forest = Forest::grow(&points, &ForestParams { trees: 100, ..Default::default() })?;
//! let neighbors = forest.leaves().top_k(5, &Silent)?;      // the five most similar rows of each row
//! let kernel = forest.leaves().sparse(0.5, &Silent)?;      // all pairs with S of at least 0.5
//! # assert_eq!((neighbors.n(), kernel.rows), (90, 90));
//! # Ok::<(), rpfcluster::Error>(())
//! ```
//!
//! A similarity of your own is clustered by [`spectral::cluster`]; [`kmeans`] and [`metrics`] stand alone.
//!
//! # Progress and cancellation
//!
//! The library neither prints nor handles signals. `points.observed(&observer)` passes an [`Observer`] along with the
//! points; functions without points take it as an argument, [`Silent`] where nobody watches. Work that it cancels
//! returns [`Error::Cancelled`].
//!
//! # Stability
//!
//! Parameter structs have public fields and `Default`; write `..Default::default()`, and a new field does not break
//! your code. They are not `#[non_exhaustive]`, because that would forbid this syntax. Enums of errors and results are.
//! Model files of every earlier version load.
//!
//! # Features
//!
//! `serde` (default): `Serialize` and `Deserialize` for parameters and results, and model files
//! ([`Fitted::save`], [`Forest::save`]).

pub mod affinity;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod atomic_file;
pub mod columns;
mod distinct;
mod eigen;
mod error;
mod forest;
mod graph;
mod hash;
mod kernel;
pub mod kmeans;
mod label;
pub mod metrics;
#[cfg(feature = "serde")]
pub mod model_file;
#[doc(hidden)]
pub mod observe;
mod params;
mod pca;
mod pipeline;
mod points;
#[doc(hidden)]
pub mod printable;
#[doc(hidden)]
pub mod random;
pub mod select;
mod simd;
#[doc(hidden)]
pub mod thread_pool;

/// Spectral clustering of any affinity: eigenvectors, labels and the normalised cut of a partition.
pub mod spectral {
    pub use crate::eigen::{
        EmbedOptions, Embedding, Method, Quality, Solver, SpectralParams, embed, fix_signs,
    };
    pub use crate::label::{cluster, label, ncut_value};
}

/// Communities of a graph by the Leiden algorithm: at a resolution, for a given K, and the profile over resolutions.
pub mod leiden {
    pub use crate::eigen::Quality;
    pub use crate::label::leiden::{
        ResolutionLevel, communities, communities_at_k, geometric_resolutions, partition_quality,
        resolution_profile,
    };
}

pub use error::{Error, Result};
pub use forest::{Direction, Forest, ForestParams, LeafIds, Split};
pub use half::f16;
pub use kernel::{FeatureMap, LeafMatrix, Neighbors, Reranked, SparseKernel, rerank};
pub use observe::{Observed, Observer, Silent, Stage};
pub use params::{AffinityKind, AffinityParams, Components, Duplicates, Metric, RpfCluster, Setting};
pub use pipeline::{
    Evidence, Fitted, Partition, PrincipalComponents, Seconds, Verdict, VerdictWord, check_distinct,
    partitions,
};
pub use points::{ColumnKey, CompactValues, Points, Precision, Real, column_means};
