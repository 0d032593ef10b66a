//! A pool of our own for each piece of work, never rayon's global one.
//!
//! Everything parallel in the library runs in the pool it is called in. [`in_pool`] makes one of the asked size,
//! so that two users in one process do not fight over threads and `threads = 1` really means one.

use crate::error::{Error, Result, parameter};

/// More threads than this is a typing error, not a machine.
pub const MAX_THREADS: usize = 4096;

/// Runs `work` in a fresh pool of `threads` threads (`None`: one per core).
pub fn in_pool<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let wanted = match threads {
        Some(0) => return Err(parameter("threads", 0, "at least 1")),
        Some(t) if t > MAX_THREADS => return Err(parameter("threads", t, format!("at most {MAX_THREADS}"))),
        Some(t) => t,
        None => std::thread::available_parallelism().map_or(1, |c| c.get()),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(wanted)
        .thread_name(|i| format!("rpf-{i}"))
        .build()
        .map_err(|e| Error::System { what: format!("starting {wanted} threads"), problem: e.to_string() })?;
    Ok(pool.install(work))
}
