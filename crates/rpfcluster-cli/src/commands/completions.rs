//! `rpf completions`: prints a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::Result;
use crate::output;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rpf", &mut script);
    // As it is: a script may contain tabs, and nothing in it comes from outside.
    output::to_stdout(|out| out.write_all(&script))
}
