//! `rpf compare`: runs rpfCluster and the rival methods of the paper on one table with known classes and prints scores
//! and seconds, as a table or as JSON. A method that fails is listed with its error.

use std::fmt::Write;

use rpfcluster::RpfCluster;
use rpfcluster::metrics::cluster_sizes;
use rpfcluster_paper::compare::{Answer, ComparedMethod, Comparison, Experiment};
use rpfcluster_paper::rivals::DENSE_LIMIT;
use serde_json::{Map, Value, json};

use crate::args::{CompareArgs, RivalArg};
use crate::exit::{Failure, Result};
use crate::resolve::Clusters;
use crate::session::{ProblemSize, Session};
use crate::{load, output, resolve};

/// min-node of the paper's protocol, used when `--min-node` is auto.
const PAPER_MIN_NODE: usize = 30;
/// The default of `--methods`: the methods that use no labels.
const LABEL_FREE: [RivalArg; 4] = [RivalArg::Kmeans, RivalArg::Njw, RivalArg::Cf, RivalArg::Rpf];

type Answers = Vec<(ComparedMethod, rpfcluster::Result<Answer>)>;

/// Reads, clusters by each method, scores and prints.
pub fn run(args: &CompareArgs) -> Result {
    let session = Session::new(&args.run);
    let k = resolve::positive("--clusters", args.clusters)?;
    let mut rpf = resolve::pipeline(&args.forest, &args.spectral, &Clusters::Fixed(k))?;
    rpf.method = args.method.map(Into::into);
    let experiments = experiments(args)?;
    session.on_threads(|| {
        let (table, _) = load::table(&session, &args.data)?;
        let (n, d) = (table.n, table.d());
        let classes = table.labels.as_ref().ok_or_else(|| Failure::usage("--label is missing"))?;
        check_memory(&session, n, d, &rpf)?;
        let values = table.complete_values();
        let comparison = Comparison { keys: table.keys.clone(), ..comparison(&rpf) };
        let mut answers = Answers::new();
        for experiment in experiments {
            session.detail(experiment.title());
            match comparison.run(experiment, &values, d, &classes.codes, &session.progress) {
                Err(rpfcluster::Error::Cancelled) => return Err(Failure::Interrupted),
                Err(problem) => {
                    answers.extend(experiment.methods().iter().map(|m| (*m, Err(problem.clone()))));
                }
                Ok(found) => answers.extend(found.into_iter().map(|answer| (answer.method, Ok(answer)))),
            }
        }
        if answers.iter().all(|(_, answer)| answer.is_err()) {
            let first = answers.into_iter().find_map(|(_, answer)| answer.err());
            return Err(first.map_or_else(
                || Failure::usage("--methods names none"),
                |problem| Failure::of_file(&table.source, problem),
            ));
        }
        for (method, answer) in &answers {
            if let Ok(answer) = answer {
                session.clock.book(method.name(), answer.seconds);
            }
        }
        if !args.json {
            return output::print(&text(&answers));
        }
        let mut object = session.head("compare", ProblemSize { n, d, k: Some(k) }, rpf.seed, json!(rpf));
        object.insert("majority".into(), json!(majority(&answers)));
        object.insert("methods".into(), Value::Object(entries(&answers, k)));
        output::print_json(&session.finished(object))
    })
}

/// The requested experiments, without repetition.
fn experiments(args: &CompareArgs) -> Result<Vec<Experiment>> {
    let named = if args.methods.is_empty() { &LABEL_FREE[..] } else { &args.methods };
    let mut found: Vec<Experiment> = Vec::new();
    for experiment in named.iter().map(|name| Experiment::from(*name)) {
        if found.contains(&experiment) {
            return Err(Failure::usage(format!("--methods names {} twice", experiment.title())));
        }
        found.push(experiment);
    }
    Ok(found)
}

fn comparison(rpf: &RpfCluster) -> Comparison {
    Comparison {
        rpf: rpf.clone(),
        trees: vec![rpf.trees.unwrap_or(RpfCluster::TREES)],
        min_node: rpf.min_node.unwrap_or(PAPER_MIN_NODE),
        k: rpf.k,
        seed: rpf.seed,
        ..Default::default()
    }
}

/// The rivals hold four n x n matrices up to their limit of rows.
fn check_memory(session: &Session, n: usize, d: usize, rpf: &RpfCluster) -> Result {
    let dense = (n.min(DENSE_LIMIT) as u64).pow(2) * 8 * 4;
    let values = (n * d * size_of::<f64>()) as u64;
    let needed = rpf.memory_needed(n, d, size_of::<f64>()).max(dense + values);
    session.check_memory(&format!("comparing methods on {n} rows"), needed, "use fewer rows or fewer --trees")
}

fn majority(answers: &Answers) -> Option<f64> {
    answers.iter().find_map(|(_, answer)| answer.as_ref().ok().map(|a| a.scores.majority))
}

fn entries(answers: &Answers, k: usize) -> Map<String, Value> {
    let entry = |answer: &rpfcluster::Result<Answer>| match answer {
        Ok(answer) => {
            let sizes = cluster_sizes(&answer.labels, k);
            json!({
                "scores": answer.scores, "seconds": answer.seconds, "cluster_sizes": sizes, "note": answer.note,
            })
        }
        Err(problem) => json!({"error": problem.to_string()}),
    };
    answers.iter().map(|(method, answer)| (method.name().to_string(), entry(answer))).collect()
}

fn text(answers: &Answers) -> String {
    let width = answers.iter().map(|(m, _)| m.title().len()).max().unwrap_or(0).max("majority".len());
    let mut text = format!(
        "{:<width$} {:>8} {:>10} {:>7} {:>7} {:>9}\n",
        "method", "accuracy", "Rand index", "ARI", "NMI", "seconds"
    );
    for (method, answer) in answers {
        let title = method.title();
        match answer {
            Ok(Answer { scores: s, seconds, note, .. }) => {
                let line = format!(
                    "{title:<width$} {:>8.2} {:>10.2} {:>7.3} {:>7.3} {seconds:>9.2}  {note}",
                    s.rho_c, s.rho_r, s.ari, s.nmi
                );
                text.push_str(line.trim_end());
                text.push('\n');
            }
            Err(problem) => {
                let _ = writeln!(text, "{title:<width$} failed: {problem}");
            }
        }
    }
    if let Some(majority) = majority(answers) {
        let _ = writeln!(text, "{:<width$} {majority:>8.2}  always the largest class", "majority");
        text.push_str("\naccuracy (rho_c) and Rand index (rho_r) in percent\n");
    }
    text
}
