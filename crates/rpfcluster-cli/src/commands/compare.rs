//! `rpf compare`: rpfCluster and the paper's rivals side by side on one labelled table.

use std::fmt::Write;

use rpfcluster::RpfCluster;
use rpfcluster_paper::compare::{Answer, Comparison, Method};
use rpfcluster_paper::rivals::DENSE_LIMIT;
use serde_json::{Map, Value, json};

use crate::args::{CompareArgs, RivalArg};
use crate::exit::{Failure, Outcome};
use crate::resolve::Clusters;
use crate::session::Session;
use crate::{engine, output, resolve};

/// The forest of the paper's protocol when `--min-node` is left open.
const PAPER_MIN_NODE: usize = 30;
/// Those that look at no label, when `--methods` says nothing.
const LABEL_FREE: [RivalArg; 4] = [RivalArg::Kmeans, RivalArg::Njw, RivalArg::Cf, RivalArg::Rpf];

type Answers = Vec<(Method, rpfcluster::Result<Answer>)>;

/// Reads, lets each method cluster, scores them alike, prints.
pub fn run(args: &CompareArgs) -> Outcome {
    let session = Session::new(&args.run);
    let k = resolve::positive("--clusters", args.clusters)?;
    let mut rpf = resolve::walk(&args.forest, &args.spectral, &Clusters::Fixed(k))?;
    rpf.method = args.method.map(Into::into);
    rpf.threads = session.threads();
    let methods = methods(args)?;
    session.on_threads(|| {
        let (table, _) = engine::load(&session, &args.data)?;
        let (n, d) = (table.n, table.d());
        let classes = table.labels.as_ref().ok_or_else(|| Failure::usage("--label is missing"))?;
        check_memory(&session, n, d, &rpf)?;
        let values = table.values.to_f64();
        let comparison = comparison(&rpf);
        let mut answers = Answers::new();
        for method in methods {
            session.detail(method.title());
            match comparison.run(method, &values, d, &classes.codes, &session.progress) {
                Err(rpfcluster::Error::Cancelled) => return Err(Failure::Interrupted),
                answer => answers.push((method, answer)),
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
        let mut object = session.head_of("compare", (n, d, k), rpf.seed, json!(rpf));
        object.insert("majority".into(), json!(majority(&answers)));
        object.insert("methods".into(), Value::Object(entries(&answers, k)));
        session.finish_json(object)
    })
}

/// Those asked for, each once.
fn methods(args: &CompareArgs) -> Outcome<Vec<Method>> {
    let named = if args.methods.is_empty() { &LABEL_FREE[..] } else { &args.methods };
    let mut methods: Vec<Method> = Vec::new();
    for method in named.iter().map(|name| Method::from(*name)) {
        if methods.contains(&method) {
            return Err(Failure::usage(format!("--methods names {} twice", method.title())));
        }
        methods.push(method);
    }
    Ok(methods)
}

fn comparison(rpf: &RpfCluster) -> Comparison {
    Comparison {
        rpf: rpf.clone(),
        trees: vec![rpf.trees],
        min_node: rpf.min_node.unwrap_or(PAPER_MIN_NODE),
        k: rpf.k,
        seed: rpf.seed,
        ..Default::default()
    }
}

/// The rivals hold a few matrices of all pairs up to their limit; rpfCluster what it says itself.
fn check_memory(session: &Session, n: usize, d: usize, rpf: &RpfCluster) -> Outcome {
    let dense = (n.min(DENSE_LIMIT) as u64).pow(2) * 8 * 4;
    let values = (n * d * size_of::<f64>()) as u64;
    let needed = rpf.memory_needed(n, d, size_of::<f64>()).max(dense + values);
    session.check_memory(
        &format!("comparing methods on {n} rows"),
        needed,
        "take fewer rows or --trees, or raise --memory-limit",
    )
}

fn majority(answers: &Answers) -> Option<f64> {
    answers.iter().find_map(|(_, answer)| answer.as_ref().ok().map(|a| a.scores.majority))
}

fn entries(answers: &Answers, k: usize) -> Map<String, Value> {
    let entry = |answer: &rpfcluster::Result<Answer>| match answer {
        Ok(answer) => {
            let mut sizes = vec![0usize; k];
            for label in &answer.labels {
                if let Some(size) = sizes.get_mut(*label as usize) {
                    *size += 1;
                }
            }
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
        "{:<width$} {:>7} {:>7} {:>7} {:>7} {:>9}\n",
        "method", "rho_c", "rho_r", "ARI", "NMI", "seconds"
    );
    for (method, answer) in answers {
        let title = method.title();
        match answer {
            Ok(Answer { scores: s, seconds, note, .. }) => {
                let line = format!(
                    "{title:<width$} {:>7.2} {:>7.2} {:>7.3} {:>7.3} {seconds:>9.2}  {note}",
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
        let _ = writeln!(text, "{:<width$} {majority:>7.2}  one cluster for all", "majority");
    }
    text
}
