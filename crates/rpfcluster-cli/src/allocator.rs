//! The system's allocator. Where it has no memory left, the process ends with a sentence and exit code 1 instead of an abort,
//! and the temporary files of its outputs are removed.
//!
//! Estimates are compared with the limits of the machine before the work begins (`session`), but `ulimit -v` also counts
//! stacks and what the allocator keeps back. A `try_reserve` that fails ends the process too; allocations whose
//! size a file decides are compared with a budget before (`rpfcluster_data`).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{output, transaction};

/// [`System`], ending the process where memory runs out.
pub struct ExitingAllocator;

// SAFETY: every call is passed on to `System` unchanged, and so is every result; a null pointer ends the process first.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is that of `System`. So below.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(at, layout, size) }, size)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

fn checked(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() {
        give_up(bytes);
    }
    at
}

/// Ends the process. Returns where the end itself needs memory, or another thread does not end it in ten seconds; the caller
/// then aborts.
#[cold]
fn give_up(bytes: usize) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local! {
        static HERE: Cell<bool> = const { Cell::new(false) };
    }
    if HERE.replace(true) {
        return;
    }
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread ends the process.
        std::thread::sleep(Duration::from_secs(10));
        return;
    }
    transaction::remove_temporaries();
    output::out_of_memory(bytes);
    std::process::exit(1)
}
