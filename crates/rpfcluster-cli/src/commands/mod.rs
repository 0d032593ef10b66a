//! One file per verb. Each resolves its arguments, calls the library and hands the result to `output`.

mod cluster;
mod compare;
mod completions;
mod demo;
mod embed;
mod inspect;
mod kernel;
mod man;
mod neighbors;
mod plot;
mod predict;
mod reproduce;
mod score;
mod sweep;

use crate::args::{Cli, Verb};
use crate::exit::Result;

/// Runs the verb.
pub fn run(cli: Cli) -> Result {
    match cli.verb {
        Verb::Demo(args) => demo::run(&args),
        Verb::Cluster(args) => cluster::run(&args),
        Verb::Predict(args) => predict::run(&args),
        Verb::Embed(args) => embed::run(&args),
        Verb::Kernel(args) => kernel::run(&args),
        Verb::Neighbors(args) => neighbors::run(&args),
        Verb::Score(args) => score::run(&args),
        Verb::Compare(args) => compare::run(&args),
        Verb::Sweep(args) => sweep::run(&args),
        Verb::Reproduce(args) => reproduce::run(&args),
        Verb::Plot(args) => plot::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => man::run(&args),
    }
}
