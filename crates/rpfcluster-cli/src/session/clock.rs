//! Times of the stages of a run, and the peak memory from /proc, for `--json` and the report. Systems without /proc
//! report no memory.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Map, Value};

/// Seconds of each stage, in the order in which stages began.
pub struct Clock {
    start: Instant,
    stages: Mutex<Vec<(&'static str, f64)>>,
}

impl Clock {
    /// Starts the clock.
    pub fn new() -> Self {
        Clock { start: Instant::now(), stages: Mutex::new(Vec::new()) }
    }

    /// Runs `work` and adds its time to `stage`.
    pub fn time<T>(&self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let since = Instant::now();
        let done = work();
        self.book(stage, since.elapsed().as_secs_f64());
        done
    }

    /// Adds seconds to a stage.
    pub fn book(&self, stage: &'static str, seconds: f64) {
        if let Ok(mut stages) = self.stages.lock() {
            match stages.iter_mut().find(|(name, _)| *name == stage) {
                Some((_, sum)) => *sum += seconds,
                None => stages.push((stage, seconds)),
            }
        }
    }

    /// Seconds since the start.
    pub fn total(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds of one stage so far.
    pub fn seconds_of(&self, stage: &str) -> f64 {
        let found = self.stages.lock().ok().and_then(|s| s.iter().find(|(name, _)| *name == stage).copied());
        found.map_or(0.0, |(_, seconds)| seconds)
    }

    /// The `seconds` of a JSON object: every stage, and the total.
    pub fn seconds(&self) -> Value {
        let round = |seconds: f64| Value::from((seconds * 1e6).round() / 1e6);
        let mut object = Map::new();
        if let Ok(stages) = self.stages.lock() {
            object.extend(stages.iter().map(|(name, seconds)| (name.to_string(), round(*seconds))));
        }
        object.insert("total".into(), round(self.total()));
        Value::Object(object)
    }
}

/// Peak resident memory of the process; `None` where the system does not report it.
pub fn peak_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}
