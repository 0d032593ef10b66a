//! `rpf reproduce`: the paper's experiments, written to a folder; what is printed is the table of the paper's figure.

use std::fmt::Write;

use rpfcluster_reproduce::{METHODS, Progress, Reproduction, Results};
use serde_json::Value;

/// Runs what is not yet done; the JSON is that of `results.json`, the text a table of rho_c / ARI.
pub fn run(request: &Reproduction, progress: &dyn Progress) -> rpfcluster_reproduce::Result<(Value, String)> {
    let results = request.run(progress)?;
    let text = table(&results, request);
    // Results are plain numbers and strings with string keys: they always are a JSON value.
    Ok((serde_json::to_value(&results).unwrap_or_default(), text))
}

fn table(results: &Results, request: &Reproduction) -> String {
    let mut text =
        format!("rho_c / ARI, data as in the paper, {} run\n{:<12} {:>8}", results.effort, "set", "majority");
    for method in METHODS {
        let _ = write!(text, " {:>18}", method.name());
    }
    text.push('\n');
    for (_, set) in results.in_order() {
        let _ = write!(text, "{:<12} {:>8.1}", set.title, set.majority);
        for method in METHODS {
            match set.cell(method, "paper") {
                Some(cell) => {
                    let _ = write!(text, " {:>18}", format!("{:.1} / {:.3}", cell.rho_c.mean, cell.ari.mean));
                }
                None => {
                    let _ = write!(text, " {:>18}", "-");
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
