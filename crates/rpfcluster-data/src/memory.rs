//! The memory that work may take, and the budget of a reader.
//!
//! A small file can describe a large table: compressed text, a run of a billion nulls, a length field that was damaged.
//! A reader therefore asks its [`Budget`] before every allocation whose size the file decides, and refuses the file
//! when the sum passes the limit. What is spent is an estimate of the large allocations, not a count of all.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Result, format};

/// The memory that work may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Number of bytes.
    pub bytes: u64,
    /// Who sets it, for messages: `--memory-limit allows`, `free memory is`.
    pub whose: &'static str,
}

/// The memory that work may take: what the user asks for, or else what the machine has free; in any case no more than
/// the control groups of the process, `ulimit -v` and `ulimit -d` leave. `None` when nothing is known, as on a system
/// without /proc.
pub fn memory_limit(asked: Option<u64>) -> Option<MemoryLimit> {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (limits, status) = (text("/proc/self/limits"), text("/proc/self/status"));
    let left = |limit: &str, used: &str| {
        Some(soft_limit(&limits, limit)?.saturating_sub(kilobytes(&status, used).unwrap_or(0)))
    };
    let soft = match asked {
        Some(_) => (asked, "--memory-limit allows"),
        None => (kilobytes(&text("/proc/meminfo"), "MemAvailable"), "free memory is"),
    };
    [
        soft,
        (control_groups(&text("/proc/self/cgroup")), "the control group leaves"),
        (left("Max address space", "VmSize"), "ulimit -v leaves"),
        (left("Max data size", "VmData"), "ulimit -d leaves"),
    ]
    .into_iter()
    .filter_map(|(bytes, whose)| Some(MemoryLimit { bytes: bytes?, whose }))
    .min_by_key(|limit| limit.bytes)
}

/// Bytes in a line `key:  12 kB`, as in /proc/meminfo.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The soft limit in a line of /proc/self/limits; `None` where it is unlimited.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// What the control groups of the process and those above them leave, versions 1 and 2.
fn control_groups(membership: &str) -> Option<u64> {
    membership
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let (root, limit, used, cache) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "),
                c if c.split(',').any(|c| c == "memory") => (
                    "/sys/fs/cgroup/memory",
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_inactive_file ",
                ),
                _ => return None,
            };
            // Inside a container the path may be that of the host: the groups that are missing have no say.
            let folder = Path::new(root).join(path.trim_start_matches('/'));
            let groups = folder.ancestors().take_while(|group| group.starts_with(root));
            groups.filter_map(|group| left_in_group(group, limit, used, cache)).min()
        })
        .min()
}

/// What one control group leaves; the page cache that it can drop counts as free.
fn left_in_group(group: &Path, limit: &str, used: &str, cache: &str) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let stat = text("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse().ok()).unwrap_or(0);
    Some(number(limit)?.saturating_sub(number(used)?.saturating_sub(cached)))
}

/// Refuses to read a file that takes `bytes` of memory, when the user asks for less or less is free.
pub fn check_reading(source: &str, bytes: u64, asked: Option<u64>) -> Result<()> {
    Budget::new(source, asked).spend(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The memory that the reader of one file may hold. Copies share what is spent.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    source: String,
    asked: Option<u64>,
    /// Found when more than [`SMALL`] bytes are spent.
    limit: OnceLock<MemoryLimit>,
    spent: AtomicU64,
}

/// Bytes that are spent without asking the system, which takes a good part of a millisecond.
const SMALL: u64 = 4 << 20;

impl Budget {
    /// For a file of this name, and the limit that the user asks for.
    pub fn new(source: &str, asked: Option<u64>) -> Self {
        let (limit, spent) = (OnceLock::new(), AtomicU64::new(0));
        Budget(Arc::new(Shared { source: source.to_string(), asked, limit, spent }))
    }

    /// A budget of the same limit for work that is freed before the next: what it spends is on top of what is spent by now.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub fn part(&self) -> Self {
        let Shared { source, asked, limit, .. } = &*self.0;
        let (limit, spent) = (limit.clone(), AtomicU64::new(self.spent()));
        Budget(Arc::new(Shared { source: source.clone(), asked: *asked, limit, spent }))
    }

    /// What the user asks for, in full, or seven eighths of any other limit: the rest is for the allocator, for page
    /// tables, and for what other processes allocate meanwhile.
    fn limit(&self) -> &MemoryLimit {
        self.0.limit.get_or_init(|| {
            let unknown = MemoryLimit { bytes: u64::MAX, whose: "the system allows" };
            let mut limit = memory_limit(self.0.asked).unwrap_or(unknown);
            if Some(limit.bytes) != self.0.asked {
                limit.bytes -= limit.bytes / 8;
            }
            limit
        })
    }

    /// Notes that `bytes` are about to be allocated; an error when that is too much.
    pub fn spend(&self, bytes: usize) -> Result<()> {
        let within = |spent: u64| {
            let small = self.0.asked.map_or(SMALL, |asked| asked.min(SMALL));
            spent.checked_add(bytes as u64).filter(|sum| *sum <= small || *sum <= self.limit().bytes)
        };
        let Err(spent) = self.0.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within) else {
            return Ok(());
        };
        let needed = byte_size(spent.saturating_add(bytes as u64));
        let MemoryLimit { bytes, whose } = *self.limit();
        let remedy = if whose.starts_with("--") { "read fewer rows, or raise it" } else { "read fewer rows" };
        let limit = byte_size(bytes);
        let problem = format!("reading needs over {needed} of memory, but {whose} {limit}; {remedy}");
        Err(format(&self.0.source, problem))
    }

    /// As [`spend`](Self::spend), for `count` items of `width` bytes.
    pub fn spend_items(&self, count: usize, width: usize) -> Result<()> {
        self.spend(count.saturating_mul(width))
    }

    /// An error when `bytes` more would be too much; notes nothing.
    pub fn probe(&self, bytes: usize) -> Result<()> {
        self.spend(bytes)?;
        self.release(bytes);
        Ok(())
    }

    /// What is spent by now, for [`rewind`](Self::rewind).
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub fn spent(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    /// Notes that everything that was allocated since `spent` was freed.
    pub fn rewind(&self, spent: u64) {
        self.0.spent.store(spent, Ordering::Relaxed);
    }

    /// Notes that `bytes` were freed.
    pub fn release(&self, bytes: usize) {
        self.0.spent.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Enlarges a vector by `additional` items; an error when the limit or the system does not allow it.
    pub fn reserve<T>(&self, vector: &mut Vec<T>, additional: usize) -> Result<()> {
        let missing = additional.saturating_sub(vector.capacity() - vector.len());
        if missing == 0 {
            return Ok(());
        }
        self.spend_items(missing, size_of::<T>())?;
        vector.try_reserve_exact(additional).map_err(|_| {
            let bytes =
                byte_size((vector.len().saturating_add(additional)).saturating_mul(size_of::<T>()) as u64);
            format(&self.0.source, format!("the system refuses {bytes} of memory for it; read fewer rows"))
        })
    }

    /// Appends `most` bytes of a reader, or fewer at its end; returns how many. Takes memory for what there is, since `most`
    /// may be a mere claim.
    pub fn read_some(
        &self,
        reader: &mut impl Read,
        to: &mut Vec<u8>,
        most: usize,
    ) -> Result<std::io::Result<usize>> {
        const STEP: usize = 1 << 20;
        let before = to.len();
        while to.len() - before < most {
            let step = (most - (to.len() - before)).min(STEP);
            if to.capacity() - to.len() < step {
                let more = step.max((to.len() / 4).min(most - (to.len() - before)));
                self.reserve(to, more)?;
            }
            match reader.take(step as u64).read_to_end(to) {
                Ok(got) if got < step => break,
                Ok(_) => {}
                Err(e) => return Ok(Err(e)),
            }
        }
        Ok(Ok(to.len() - before))
    }

    /// Reads to the end, at most as much as the budget allows; `expected` is a guess of the length.
    pub fn read_to_end(&self, mut reader: impl Read, expected: usize) -> Result<std::io::Result<Vec<u8>>> {
        /// Bytes by which a vector grows at least.
        const STEP: usize = 1 << 16;
        let mut bytes = Vec::new();
        self.reserve(&mut bytes, expected)?;
        loop {
            if bytes.len() == bytes.capacity() {
                // The end is looked for before the vector grows.
                let mut next = Vec::with_capacity(1);
                match (&mut reader).take(1).read_to_end(&mut next) {
                    Ok(0) => return Ok(Ok(bytes)),
                    Ok(_) => {}
                    Err(e) => return Ok(Err(e)),
                }
                // By a quarter: the last step of a doubling vector would take twice what the file needs.
                let step = STEP.max(bytes.len() / 4);
                self.reserve(&mut bytes, step)?;
                bytes.append(&mut next);
            }
            let space = (bytes.capacity() - bytes.len()) as u64;
            match (&mut reader).take(space).read_to_end(&mut bytes) {
                Ok(0) => return Ok(Ok(bytes)),
                Ok(_) => {}
                Err(e) => return Ok(Err(e)),
            }
        }
    }
}

/// A number of bytes with a unit, as in `1.5 GB`.
pub fn byte_size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(byte_size(999), "999 bytes");
        assert_eq!(byte_size(80_000_000_000), "80.0 GB");
        assert_eq!(byte_size(8_000_000_000_000), "8.0 TB");
    }

    #[test]
    fn limits_of_the_process_are_parsed() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         1024000              unlimited            bytes     \n";
        assert_eq!(soft_limit(limits, "Max address space"), Some(1_024_000));
        assert_eq!(soft_limit(limits, "Max data size"), None);
        assert_eq!(kilobytes("VmPeak:\t  9 kB\nVmSize:\t  12 kB\n", "VmSize"), Some(12 * 1024));
    }

    #[test]
    fn control_group_leaves_its_limit_less_what_is_not_cache() {
        let group = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(group.path().join(name), text).unwrap();
        put("memory.max", "1000\n");
        put("memory.current", "700\n");
        put("memory.stat", "anon 300\ninactive_file 150\n");
        let left = || left_in_group(group.path(), "memory.max", "memory.current", "inactive_file ");
        assert_eq!(left(), Some(450));
        put("memory.max", "max\n");
        assert_eq!(left(), None);
    }

    #[test]
    fn budget_refuses_what_passes_its_limit_and_forgets_what_was_freed() {
        let budget = Budget::new("a.csv", Some(100));
        budget.spend(60).unwrap();
        let message = budget.spend(50).unwrap_err().to_string();
        assert_eq!(
            message,
            "a.csv: reading needs over 110 bytes of memory, but --memory-limit allows 100 bytes; read fewer \
             rows, or raise it"
        );
        budget.release(60);
        budget.spend(100).unwrap();
        assert!(Budget::new("a", None).spend(usize::MAX).is_err(), "no machine has that much");
    }

    #[test]
    fn endless_input_is_refused_at_the_limit() {
        let budget = Budget::new("zeros", Some(1 << 20));
        assert!(budget.read_to_end(std::io::repeat(0), 0).unwrap_err().to_string().contains("1.0 MB"));
        let bytes = Budget::new("zeros", Some(1 << 20)).read_to_end(&[7u8; 1000][..], 0).unwrap().unwrap();
        assert_eq!(bytes, [7; 1000]);
    }
}
