//! The command `rpf`: a door to the library. What was typed is parsed in [`args`], checked in [`resolve`], done by one
//! file of [`commands`] a verb, and printed by [`output`] alone.

mod args;
mod clock;
mod clustered;
mod commands;
mod config;
mod engine;
mod exit;
mod kernel_file;
mod labels_file;
mod model;
mod output;
mod plot_bars;
mod progress;
mod report;
mod resolve;
mod session;
mod summary;
mod sweep_map;
mod tried;

fn main() -> std::process::ExitCode {
    exit::guarded(|| {
        progress::catch_interrupts()?;
        commands::run(config::parse(std::env::args_os().collect())?)
    })
}
