//! CSV tables: one file for each score and preparation (mean and standard deviation by data set and method), and all
//! runs in one long table.

use crate::compare::ComparedMethod;

use super::results::{MethodResult, Results};

type NamedScore = (&'static str, fn(&MethodResult) -> &super::results::Statistic);

/// The four scores, by name.
pub(super) const SCORES: [NamedScore; 4] =
    [("rho_c", |c| &c.rho_c), ("rho_r", |c| &c.rho_r), ("ari", |c| &c.ari), ("nmi", |c| &c.nmi)];

/// The names of the preparations.
pub(super) const PREPARATIONS: [&str; 3] = ["paper", "raw", "standardized"];

/// File names and contents.
pub(super) fn all(results: &Results) -> Vec<(String, String)> {
    let mut files = vec![("runs.csv".to_string(), long(results))];
    for preparation in PREPARATIONS {
        for score in SCORES {
            files.push((format!("table-{}-{preparation}.csv", score.0), wide(results, preparation, score)));
        }
    }
    files
}

/// Mean and standard deviation; a row per data set, a pair of columns per method.
fn wide(results: &Results, preparation: &str, (_, score): NamedScore) -> String {
    let mut text = "dataset,n,d,k,majority".to_string();
    for method in ComparedMethod::ALL {
        text.push_str(&format!(",{0}_mean,{0}_sd", method.name()));
    }
    text.push('\n');
    for (name, set) in results.in_order() {
        text.push_str(&format!("{name},{},{},{},{:.2}", set.n, set.d, set.k, set.majority));
        for method in ComparedMethod::ALL {
            match set.cell(method, preparation).map(score) {
                Some(s) => text.push_str(&format!(",{:.4},{:.4}", s.mean, s.sd)),
                None => text.push_str(",,"),
            }
        }
        text.push('\n');
    }
    text
}

/// A row per data set, method, preparation and seed.
fn long(results: &Results) -> String {
    let mut text = "dataset,preparation,method,seed,rho_c,rho_r,ari,nmi,mean_seconds\n".to_string();
    for (name, set) in results.in_order() {
        for method in ComparedMethod::ALL {
            for preparation in PREPARATIONS {
                let Some(cell) = set.cell(method, preparation) else { continue };
                for seed in 0..cell.rho_c.runs {
                    text.push_str(&format!("{name},{preparation},{},{seed}", method.name()));
                    for (_, score) in SCORES {
                        let value = score(cell).values.get(seed).copied().unwrap_or(f64::NAN);
                        text.push_str(&format!(",{value:.4}"));
                    }
                    text.push_str(&format!(",{:.3}\n", cell.seconds));
                }
            }
        }
    }
    text
}
