//! The rayon pool that parallel work runs in.
//!
//! A parallel function runs in the pool of its caller. Fit, refit, predict and transform call [`in_pool`] with their
//! `threads`, so that two users in one process do not share threads and `threads = 1` means one thread. Other
//! functions, called outside any pool, run in rayon's global pool. A new pool costs the start of its threads.

use crate::error::{Error, Result, parameter};

/// Largest accepted number of threads: above the cores of usual machines, so that a larger number is a typing error.
pub const MAX_THREADS: usize = 4096;

/// Runs `work` in a pool of `threads` threads (`None`: one per core).
///
/// A caller that already runs in a rayon pool keeps it when `threads` is `None` or equals its size; otherwise a new
/// pool is started and lives as long as the call.
pub fn in_pool<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let current = rayon::current_thread_index().map(|_| rayon::current_num_threads());
    let wanted = match threads {
        Some(0) => return Err(parameter("threads", 0, "at least 1")),
        Some(t) if t > MAX_THREADS => return Err(parameter("threads", t, format!("at most {MAX_THREADS}"))),
        Some(t) => t,
        None => current.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |c| c.get())),
    };
    if current == Some(wanted) {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(wanted)
        .thread_name(|i| format!("rpf-{i}"))
        .build()
        .map_err(|e| Error::System { what: format!("starting {wanted} threads"), problem: e.to_string() })?;
    Ok(pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pool's size, and the thread `in_pool` runs in when called from inside it with `inner` threads.
    fn nested(outer: usize, inner: Option<usize>) -> (usize, bool) {
        in_pool(Some(outer), || {
            let caller = std::thread::current().id();
            in_pool(inner, || (rayon::current_num_threads(), std::thread::current().id() == caller))
        })
        .and_then(|result| result)
        .unwrap_or_default()
    }

    #[test]
    fn a_caller_inside_a_pool_keeps_it() {
        assert_eq!(nested(3, None), (3, true));
        assert_eq!(nested(3, Some(3)), (3, true));
    }

    #[test]
    fn another_number_of_threads_starts_another_pool() {
        assert_eq!(nested(3, Some(2)), (2, false));
        assert_eq!(nested(2, Some(1)), (1, false));
    }

    #[test]
    fn a_caller_outside_a_pool_gets_one() {
        assert_eq!(in_pool(Some(2), rayon::current_num_threads), Ok(2));
        assert!(in_pool(None, || rayon::current_thread_index().is_some()).unwrap_or(false));
    }

    #[test]
    fn zero_and_absurd_numbers_of_threads_are_refused_inside_a_pool_too() {
        for threads in [0, MAX_THREADS + 1] {
            assert!(in_pool(Some(threads), || ()).is_err());
            assert!(in_pool(Some(1), || in_pool(Some(threads), || ())).is_ok_and(|inner| inner.is_err()));
        }
    }
}
