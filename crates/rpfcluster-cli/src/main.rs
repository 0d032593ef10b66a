//! The command `rpf`. [`args`] parses the command line, [`resolve`] checks it, one file of [`commands`] per verb does
//! the work, and [`output`] alone prints.

mod allocator;
mod args;
mod charts;
mod commands;
mod config;
mod exit;
mod files;
mod library;
mod load;
mod outcome;
mod output;
mod output_paths;
mod resolve;
mod session;
mod summary;
mod transaction;

/// The fuzz targets of the command line, which a test replays.
#[cfg(all(test, unix))]
#[path = "../../../fuzz/targets/command_line.rs"]
mod command_line;

#[global_allocator]
static ALLOCATOR: allocator::ExitingAllocator = allocator::ExitingAllocator;

fn main() -> std::process::ExitCode {
    exit::guarded(|| {
        session::progress::catch_interrupts()?;
        commands::run(config::parse(std::env::args_os().collect())?)
    })
}
