//! `rpf completions`: prints a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Failure, Result};
use crate::output;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rpf", &mut script);
    let script = String::from_utf8(script).map_err(|e| Failure::data(e.to_string()))?;
    output::print(&script)
}
