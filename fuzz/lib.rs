//! The functions that the fuzz targets run. `targets/` is compiled here and, with the stable compiler, into the tests of
//! the root that replay `seeds/`.
//!
//! The command has no library. Its modules are compiled in here as they are, for the targets of its command line.
#![allow(missing_docs, dead_code, unused_imports)]

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, Once};

#[path = "targets/mod.rs"]
mod targets;

#[cfg(feature = "command")]
#[path = "targets/command_line.rs"]
pub mod command_line;

/// Runs a target. libFuzzer's hook would abort at every panic, also at those of the arrow and parquet crates that the
/// readers turn into errors: here a panic counts when it leaves the target.
pub fn run(name: &str, bytes: &[u8]) {
    static HOOK: Once = Once::new();
    static LAST: Mutex<String> = Mutex::new(String::new());
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            if let Ok(mut last) = LAST.lock() {
                *last = info.to_string();
            }
        }));
    });
    let target = AssertUnwindSafe(|| targets::run(name, bytes));
    if std::panic::catch_unwind(target).is_err() {
        eprintln!("{}", LAST.lock().map(|last| last.clone()).unwrap_or_default());
        std::process::abort();
    }
}

macro_rules! command_modules {
    ($($name:ident $path:literal),* $(,)?) => {
        $(#[cfg(feature = "command")] #[path = $path] mod $name;)*
    };
}

command_modules! {
    args "../crates/rpfcluster-cli/src/args/mod.rs",
    charts "../crates/rpfcluster-cli/src/charts/mod.rs",
    commands "../crates/rpfcluster-cli/src/commands/mod.rs",
    config "../crates/rpfcluster-cli/src/config.rs",
    exit "../crates/rpfcluster-cli/src/exit.rs",
    files "../crates/rpfcluster-cli/src/files/mod.rs",
    library "../crates/rpfcluster-cli/src/library.rs",
    load "../crates/rpfcluster-cli/src/load.rs",
    outcome "../crates/rpfcluster-cli/src/outcome.rs",
    output "../crates/rpfcluster-cli/src/output.rs",
    output_paths "../crates/rpfcluster-cli/src/output_paths.rs",
    resolve "../crates/rpfcluster-cli/src/resolve.rs",
    session "../crates/rpfcluster-cli/src/session/mod.rs",
    summary "../crates/rpfcluster-cli/src/summary/mod.rs",
    transaction "../crates/rpfcluster-cli/src/transaction.rs",
}
