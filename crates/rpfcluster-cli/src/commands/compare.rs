//! `rpf compare`: rpfCluster and the paper's rivals side by side on one labelled table.

use std::fmt::Write;

use rpfcluster::observe::Observer;
use rpfcluster_rivals::compare::{Comparison, compare};
use rpfcluster_rivals::{Bandwidth, ClusterForests, Method, Njw, PaperKMeans};
use serde_json::{Map, Value, json};

/// A table with known classes, and what is asked of it.
pub struct Request<'a> {
    /// Rows of `d` numbers.
    pub values: &'a [f64],
    /// Columns.
    pub d: usize,
    /// The known class of each row.
    pub classes: &'a [u32],
    /// Number of clusters.
    pub k: usize,
    /// rpfCluster as the common options describe it; its seed serves all methods.
    pub rpf: rpfcluster::RpfCluster,
    /// Which methods, in order.
    pub methods: Vec<Method>,
    /// Restarts of K-means.
    pub restarts: usize,
    /// NJW's bandwidth.
    pub bandwidth: Bandwidth,
    /// Pursuits of Cluster Forests.
    pub instances: usize,
}

/// The members of the JSON object below its common head, and the table for people. Runs in the current thread pool.
pub fn run(
    request: &Request<'_>,
    observer: &dyn Observer,
) -> rpfcluster::Result<(Map<String, Value>, String)> {
    let comparison = Comparison {
        kmeans: PaperKMeans { restarts: request.restarts, ..Default::default() },
        njw: Njw { bandwidth: request.bandwidth, ..Default::default() },
        cf: ClusterForests { instances: request.instances, ..Default::default() },
        rpf: request.rpf.clone(),
        trees: vec![request.rpf.trees],
        min_node: request.rpf.min_node.unwrap_or(30),
        k: request.k,
        seed: request.rpf.seed,
        ..Default::default()
    };
    let answers =
        compare(&comparison, &request.methods, request.values, request.d, request.classes, observer);
    let width = Method::ALL.iter().map(|m| m.title().len()).max().unwrap_or(0);
    let mut text = format!(
        "{:<width$} {:>7} {:>7} {:>7} {:>7} {:>9}\n",
        "method", "rho_c", "rho_r", "ARI", "NMI", "seconds"
    );
    let mut methods = Map::new();
    let mut majority = None;
    for (method, answer) in answers {
        match answer {
            Ok(answer) => {
                let s = answer.scores;
                majority = Some(s.majority);
                let _ = writeln!(
                    text,
                    "{:<width$} {:>7.2} {:>7.2} {:>7.3} {:>7.3} {:>9.2}  {}",
                    method.title(),
                    s.rho_c,
                    s.rho_r,
                    s.ari,
                    s.nmi,
                    answer.seconds,
                    answer.note
                );
                let mut sizes = vec![0usize; request.k];
                for label in &answer.labels {
                    if let Some(size) = sizes.get_mut(*label as usize) {
                        *size += 1;
                    }
                }
                let entry = json!({
                    "scores": s, "seconds": answer.seconds, "cluster_sizes": sizes, "note": answer.note,
                });
                methods.insert(method.name().into(), entry);
            }
            Err(rpfcluster::Error::Cancelled) => return Err(rpfcluster::Error::Cancelled),
            Err(problem) => {
                let _ = writeln!(text, "{:<width$} failed: {problem}", method.title());
                methods.insert(method.name().into(), json!({"error": problem.to_string()}));
            }
        }
    }
    if let Some(majority) = majority {
        let _ = writeln!(text, "{:<width$} {majority:>7.2}  one cluster for all", "majority");
    }
    let mut object = Map::new();
    object.insert("methods".into(), Value::Object(methods));
    object.insert("majority".into(), json!(majority));
    Ok((object, text))
}
