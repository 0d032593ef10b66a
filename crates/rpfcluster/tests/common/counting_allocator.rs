//! An allocator that counts the bytes held and their peak, for tests that bound the memory of a call. The counters belong
//! to the process: a test that reads them runs alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system allocator, counting.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The peak if a block that grows is copied.
static PEAK_COPYING: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
    PEAK_COPYING.fetch_max(held, Relaxed);
}

// SAFETY: every request is passed unchanged to the system allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        PEAK_COPYING.fetch_max(HELD.load(Relaxed) + size, Relaxed);
        if size > layout.size() {
            more(size - layout.size());
        } else {
            HELD.fetch_sub(layout.size() - size, Relaxed);
        }
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `work`, and the bytes held at its peak less what was held before. Blocks grow in place, as large ones
/// do where the system can move pages.
#[allow(dead_code, reason = "a test uses one of the two")]
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    counted(&PEAK, work)
}

/// As [`peak`], with old and new block at the same time when one grows.
#[allow(dead_code, reason = "a test uses one of the two")]
pub fn peak_copying<T>(work: impl FnOnce() -> T) -> (T, usize) {
    counted(&PEAK_COPYING, work)
}

fn counted<T>(peak: &AtomicUsize, work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Relaxed);
    peak.store(before, Relaxed);
    let done = work();
    (done, peak.load(Relaxed).saturating_sub(before))
}
