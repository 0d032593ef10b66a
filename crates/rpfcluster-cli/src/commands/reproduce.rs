//! `rpf reproduce`: runs the experiments of the paper, writes them to a folder and prints accuracy and adjusted Rand
//! index of every data set and method. It fails at the end if a data set failed.

use std::fmt::Write;
use std::path::Path;

use rpfcluster_data::catalog::{Entry, Scaling};
use rpfcluster_paper::compare::ComparedMethod;
use rpfcluster_paper::reproduce::{Reproduction, Results};
use rpfcluster_paper::rivals::DENSE_LIMIT;
use serde_json::json;

use crate::args::{ReproduceArgs, VERSION};
use crate::exit::{Failure, Result};
use crate::session::Session;
use crate::session::progress::Steps;
use crate::{output, resolve};

/// Checks the folders, runs what is not done yet and prints the table.
pub fn run(args: &ReproduceArgs) -> Result {
    let session = Session::new(&args.run);
    let request = Reproduction {
        data: args.data.clone(),
        out: args.output.clone().unwrap_or_else(|| Reproduction::default().out),
        quick: args.quick,
        only: args.only.clone(),
        seeds: args.seeds.map(|seeds| resolve::positive("--seeds", seeds)).transpose()?,
        threads: session.threads(),
        commit: commit(),
    };
    let sets = request.sets()?;
    check_folders(&request, &sets)?;
    check_memory(&session, &sets)?;
    let results = request.run(&Steps::new(args.run.quiet, args.run.verbose))?;
    if args.json {
        output::print_json(&json!(results))?;
    } else {
        output::print(&table(&results, &request))?;
    }
    if results.failed.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = results.failed.keys().map(String::as_str).collect();
    let first = results.failed.values().flatten().next().map_or("", String::as_str);
    Err(Failure::data(format!(
        "{} of {} data sets failed in part or entirely ({}): {first}",
        names.len(),
        sets.len(),
        names.join(", ")
    )))
}

/// The commit in the version, where it is known.
fn commit() -> Option<String> {
    let (_, rest) = VERSION.split_once('(')?;
    Some(rest.trim_end_matches(')').to_string())
}

/// Refuses a run that has no data before a folder is created.
fn check_folders(request: &Reproduction, sets: &[&Entry]) -> Result {
    let folder = |path: &Path, problem: &str| Failure::data(format!("{}: {problem}", path.display()));
    if !request.data.is_dir() {
        return Err(folder(
            &request.data,
            "no such folder; --data is the folder of the data sets, such as iris/iris.data",
        ));
    }
    if request.out.exists() && !request.out.is_dir() {
        return Err(folder(&request.out, "is a file, not a folder; --output is the folder for the results"));
    }
    if let Some(first) = sets.first()
        && !sets.iter().any(|set| set.is_in(&request.data))
    {
        first.load(&request.data, Scaling::Raw)?;
    }
    Ok(())
}

/// The rivals hold four n x n matrices up to their limit of rows.
fn check_memory(session: &Session, sets: &[&Entry]) -> Result {
    let needed = |set: &Entry| (set.n.min(DENSE_LIMIT) as u64).pow(2) * 8 * 4 + (set.n * set.d * 16) as u64;
    let Some(largest) = sets.iter().max_by_key(|set| needed(set)) else { return Ok(()) };
    session.check_memory(
        &format!("the experiments on {}", largest.title),
        needed(largest),
        "choose smaller data sets with --only",
    )
}

fn table(results: &Results, request: &Reproduction) -> String {
    let mut text = format!(
        "accuracy (rho_c) / ARI, data as in the paper, {} run\n{:<12} {:>8}",
        results.effort, "set", "majority"
    );
    for method in ComparedMethod::ALL {
        let _ = write!(text, " {:>21}", method.name());
    }
    text.push('\n');
    for (_, set) in results.in_order() {
        let _ = write!(text, "{:<12} {:>8.1}", set.title, set.majority);
        for method in ComparedMethod::ALL {
            match set.cell(method, "paper") {
                Some(cell) => {
                    let _ = write!(text, " {:>21}", format!("{:.1} / {:.3}", cell.rho_c.mean, cell.ari.mean));
                }
                None => {
                    let _ = write!(text, " {:>21}", "-");
                }
            }
        }
        text.push('\n');
    }
    for (title, why) in &results.not_public {
        let _ = writeln!(text, "not run: {title}: {why}");
    }
    for (name, problems) in &results.failed {
        for problem in problems {
            let _ = writeln!(text, "not run: {name}: {problem}");
        }
    }
    let _ = writeln!(text, "report: {}", request.out.join("report.html").display());
    text
}
