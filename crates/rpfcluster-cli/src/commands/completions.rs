//! `rpf completions`: a script that teaches a shell our options.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Failure, Outcome};
use crate::output;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rpf", &mut script);
    let script = String::from_utf8(script).map_err(|e| Failure::data(e.to_string()))?;
    output::print(&script)
}
