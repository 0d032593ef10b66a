//! The command `rpf`. [`args`] parses the command line, [`resolve`] checks it, one file of [`commands`] per verb does
//! the work, and [`output`] alone prints.

mod args;
mod bars;
mod clock;
mod command_line;
mod commands;
mod config;
mod exit;
mod kernel_file;
mod labels_file;
mod library;
mod load;
mod model;
mod outcome;
mod output;
mod progress;
mod report;
mod resolve;
mod session;
mod summary;
mod sweep_map;

fn main() -> std::process::ExitCode {
    exit::guarded(|| {
        progress::catch_interrupts()?;
        commands::run(config::parse(std::env::args_os().collect())?)
    })
}
