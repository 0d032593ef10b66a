//! `rpf inspect`: prints the content of a model file, as text or JSON: parameters, sizes of the trees, the clustering,
//! columns and their preparation, sections.

use rpfcluster::Precision;
use rpfcluster::printable::{escaped, excerpt};
use rpfcluster_data::{Category, byte_size};
use rpfcluster_report::{affinity_in_words, word};
use serde_json::{Map, json};

use crate::args::InspectArgs;
use crate::exit::Result;
use crate::files::model::Model;
use crate::output;

/// Columns listed for a principal component.
const LEADING: usize = 3;

/// Statistics of a forest.
struct ForestStatistics {
    leaves: usize,
    depth_mean: f64,
    depth_max: usize,
    mean_leaf: f64,
}

/// Reads the file and prints its content.
pub fn run(args: &InspectArgs) -> Result {
    let model = crate::files::model::load(&args.model, None)?;
    let leaves = model.forest().leaves();
    let depths = model.forest().depths();
    let shape = ForestStatistics {
        leaves: leaves.columns(),
        depth_mean: depths.iter().sum::<usize>() as f64 / depths.len().max(1) as f64,
        depth_max: depths.iter().max().copied().unwrap_or(0),
        mean_leaf: leaves.mean_leaf(),
    };
    if args.json { print_json(&model, &shape) } else { print_text(args, &model, &shape) }
}

fn print_json(model: &Model, shape: &ForestStatistics) -> Result {
    let forest = model.forest();
    let sections: Map<_, _> = model.sections.iter().map(|(name, size)| (name.clone(), json!(size))).collect();
    output::print_json(&json!({
        "command": "inspect",
        "version": env!("CARGO_PKG_VERSION"),
        "format": model.version,
        "n": model.clustering().map_or(forest.n(), |fitted| fitted.n()),
        "distinct": model.clustering().and_then(|fitted| fitted.distinct()),
        "d": model.clustering().map_or(forest.d(), |fitted| fitted.d()),
        "components": model.clustering().and_then(|fitted| fitted.components()).map(|found| json!({
            "count": found.variances.len(),
            "explained_variance": found.explained(),
            "leading_columns": (0..found.variances.len())
                .map(|at| found.leading_columns(at, LEADING).iter().map(|(column, _)| column + 1).collect())
                .collect::<Vec<Vec<usize>>>(),
        })),
        "seed": forest.params().seed,
        "params": forest.params(),
        "precision": forest.precision(),
        "trees": forest.trees(),
        "leaves": shape.leaves,
        "depth": { "mean": shape.depth_mean, "max": shape.depth_max },
        "mean_leaf": shape.mean_leaf,
        "clustering": model.clustering().map(|fitted| json!({
            "k": fitted.k(),
            "cluster_sizes": fitted.sizes(),
            "min_node": fitted.min_node(),
            "affinity": fitted.affinity(),
            "method": fitted.method(),
            "resolution": fitted.resolution(),
        })),
        "columns": model.meta.as_ref().map(|m| &m.preparation.columns),
        "meta": model.meta,
        "sections": sections,
        "bytes": model.size,
    }))
}

fn print_text(args: &InspectArgs, model: &Model, shape: &ForestStatistics) -> Result {
    let forest = model.forest();
    let params = forest.params();
    let width = match forest.precision() {
        Precision::F32 => "single",
        Precision::F64 => "double",
    };
    let rows = match model.clustering().filter(|fitted| fitted.distinct().is_some()) {
        Some(fitted) => format!("{} distinct rows of {}", forest.n(), fitted.n()),
        None => format!("{} rows", forest.n()),
    };
    let components = model.clustering().and_then(|fitted| fitted.components());
    let columns = match &components {
        Some(found) => format!(
            "{} principal components of {} columns ({:.0} % of the variance)",
            found.variances.len(),
            found.mean.len(),
            100.0 * found.explained()
        ),
        None => format!("{} columns", forest.d()),
    };
    let sample = params.max_samples.filter(|most| *most < forest.n());
    let rows = sample.map_or(rows.clone(), |most| format!("{most} of {rows}"));
    let mut lines = vec![
        ("file", format!("{}, {}", args.model.display(), byte_size(model.size as u64))),
        ("format", format!("version {}", model.version)),
        ("grown on", format!("{rows}, {columns}, {width} precision")),
        (
            "parameters",
            format!(
                "trees {}, min-node {}, split {}, direction {}, candidates {}, seed {}",
                params.trees,
                params.min_node,
                word(&params.split),
                word(&params.direction),
                params.candidates,
                params.seed
            ),
        ),
        ("leaves", format!("{} in {} trees", shape.leaves, forest.trees())),
        ("depth", format!("mean {:.1}, maximum {}", shape.depth_mean, shape.depth_max)),
        ("leaf size", format!("{:.1} rows on average", shape.mean_leaf)),
    ];
    if let Some(fitted) = model.clustering() {
        let sizes: Vec<String> = fitted.sizes().iter().map(usize::to_string).collect();
        lines.push(("clusters", format!("{}, of {} rows", fitted.k(), listed(&sizes))));
        lines.push((
            "similarity",
            format!("{}, {}", affinity_in_words(fitted.affinity()), word(&fitted.method())),
        ));
    }
    if let Some(meta) = &model.meta {
        let p = &meta.preparation;
        lines.push(("written by", excerpt(&meta.written_by, 80)));
        lines.push(("columns", listed(&p.columns)));
        if !p.categories.is_empty() {
            let levels = |c: &Category| format!("{} ({} levels)", p.columns[c.column], c.levels.len());
            lines.push(("categorical", listed(&p.categories.iter().map(levels).collect::<Vec<_>>())));
        }
        if let Some(label) = &meta.label {
            lines.push(("label", excerpt(label, 80)));
        }
        let scaled: Vec<String> = p
            .columns
            .iter()
            .zip(p.center.iter().zip(&p.scale))
            .filter(|(_, (center, scale))| **center != 0.0 || **scale != 1.0)
            .map(|(name, _)| name.clone())
            .collect();
        let scaled = match scaled.len() {
            0 => "none".to_string(),
            all if all == p.columns.len() => "all".to_string(),
            _ => listed(&scaled),
        };
        lines.push(("standardised", scaled));
        lines.push(("missing", word(&p.missing)));
        if let Some(rows) = &meta.rows {
            lines.push(("rows", format!("{} of the input; the others had missing values", rows.len())));
        }
    }
    let sections: Vec<String> =
        model.sections.iter().map(|(name, size)| format!("{name} {}", byte_size(*size as u64))).collect();
    lines.push(("sections", sections.join(", ")));
    let text: String = lines.iter().map(|(name, value)| format!("{name:<13} {}\n", escaped(value))).collect();
    output::print(&text)
}

/// The first names of a long list.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    const NAME: usize = 80;
    let mut text = names.iter().take(SHOWN).map(|name| excerpt(name, NAME)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(", … ({} in all)", names.len()));
    }
    text
}
