//! The evidence for every number of clusters beside the resolution profile of the graph, for bench/resolution_profile.py.
//!
//! Reads rows of little-endian doubles from a file: `resolution_profile FILE ROWS COLUMNS`. Prints JSON: the evidence of
//! `-k auto`, the number of communities at each resolution on three graphs, and the labels for every K.

use rpfcluster::affinity::SparseAffinity;
use rpfcluster::leiden::{Quality, geometric_resolutions, resolution_profile};
use rpfcluster::select::numbers_of_clusters;
use rpfcluster::{Forest, ForestParams, Points, RpfCluster, Silent};

/// Neighbours and power of the graphs: the soft and the sharp one of the evidence, and one without a power.
const GRAPHS: [(usize, f64); 3] = [(10, 2.0), (20, 8.0), (20, 1.0)];
const MOST_CLUSTERS: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, file, rows, columns] = &words[..] else { return Err("FILE ROWS COLUMNS".into()) };
    let (n, d): (usize, usize) = (rows.parse()?, columns.parse()?);
    let bytes = std::fs::read(file)?;
    let values = bytes.chunks_exact(8).map(|b| Ok(f64::from_le_bytes(b.try_into()?)));
    let values = values.collect::<Result<Vec<f64>, std::array::TryFromSliceError>>()?;
    let points = Points::new(&values, n, d)?;
    let ks: Vec<usize> = (2..=MOST_CLUSTERS.min(n / 5)).collect();
    let params = RpfCluster { assess: false, tune: false, ..Default::default() };
    let evidence = numbers_of_clusters(&points, &params, &ks)?;
    let min_node = (n / 5).clamp(n.clamp(2, 4), 24);
    let forest = Forest::grow(&points, &ForestParams { trees: 200, min_node, ..Default::default() })?;
    let lists = forest.leaves().top_k(20, &Silent)?;
    let resolutions = geometric_resolutions(0.02, 20.0, 70)?;
    let mut profiles = Vec::new();
    for (top, power) in GRAPHS {
        let graph = SparseAffinity::top_k(&lists, top, power, &Silent)?;
        let levels = resolution_profile(&graph, Quality::Modularity, &resolutions, 0, &Silent)?;
        profiles.push(levels.iter().map(|level| level.communities).collect::<Vec<_>>());
    }
    let partitions = params.fit(&points)?.partitions(&ks, &Silent)?;
    let labels: Vec<_> = partitions.iter().map(|one| (one.k, &one.labels)).collect();
    let found = serde_json::json!({"evidence": evidence, "profiles": profiles, "labels": labels});
    serde_json::to_writer(std::io::stdout(), &found)?;
    Ok(())
}
