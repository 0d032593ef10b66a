//! One verb a file. Each takes its typed arguments, resolves them, calls the library and hands the result to `output`.

mod completions;
mod demo;
mod inspect;
mod kernel;
mod neighbors;
mod score;

use crate::args::{Cli, Verb};
use crate::exit::Outcome;

/// Does what was asked for.
pub fn run(cli: Cli) -> Outcome {
    match cli.verb {
        Verb::Demo(args) => demo::run(&args),
        Verb::Kernel(args) => kernel::run(&args),
        Verb::Neighbors(args) => neighbors::run(&args),
        Verb::Score(args) => score::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Completions(args) => completions::run(&args),
    }
}
