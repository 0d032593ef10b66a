//! `rpf man`: writes a manual page (section 1) for the command and for each of its verbs, made from the same definitions
//! as `--help`.

use clap::CommandFactory;

use crate::args::{Cli, ManArgs};
use crate::exit::{Failure, Result};
use crate::output;
use crate::transaction::Transaction;

/// Renders `rpf.1` and `rpf-VERB.1` into the folder, all or none.
pub fn run(args: &ManArgs) -> Result {
    let failed = |e: std::io::Error| Failure::data(format!("{}: {e}", args.out.display()));
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let pages: Vec<clap::Command> = std::iter::once(command.clone())
        .chain(command.get_subcommands().map(|verb| {
            // The page of a verb is called as those of git are: rpf-cluster(1).
            verb.clone().display_name(format!("rpf-{}", verb.get_name()))
        }))
        .collect();
    let mut transaction = Transaction::default();
    let many = pages.len();
    for page in pages {
        let man = clap_mangen::Man::new(page);
        let path = args.out.join(man.get_filename());
        transaction.file(&path, move |mut out| man.render(&mut out))?;
    }
    transaction.commit()?;
    output::message(&format!("wrote {many} manual pages to {}", args.out.display()));
    Ok(())
}
