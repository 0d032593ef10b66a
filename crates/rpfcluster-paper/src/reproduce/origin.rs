//! Where results come from: the commit the caller names, a digest of the sources, the machine and the date. Kept with
//! every unit, so that the page of a resumed run names all of them.

use serde::{Deserialize, Serialize};

use super::sentences::plural;

/// Digest of the sources of the library, the data sets and the experiments, by the build script.
pub(super) const SOURCES: &str = env!("RPF_SOURCES");

/// The origin of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The commit of the sources; empty if the caller did not name one.
    pub commit: String,
    /// Digest of the sources.
    pub sources: String,
    /// Processor and number of cores.
    pub machine: String,
    /// The day, `2026-11-18`, in UTC.
    pub date: String,
}

impl Origin {
    /// This program on this machine, today.
    pub fn here(commit: Option<&str>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let seconds =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Origin {
            commit: commit.unwrap_or_default().to_string(),
            sources: SOURCES.to_string(),
            machine: format!("{}, {cores} cores", processor()),
            date: date(seconds / 86_400),
        }
    }
}

/// The name of the processor where the system tells it in a file, else its architecture.
fn processor() -> String {
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = described.lines().find(|line| line.starts_with("model name"));
    let name = name.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_string());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

/// The date of a number of days after 1 January 1970, in the Gregorian calendar (Richards, Explanatory Supplement to the
/// Astronomical Almanac, 2013, section 15.11.3).
fn date(days: u64) -> String {
    let julian = days + 2_440_588;
    let f = julian + 1401 + (4 * julian + 274_277) / 146_097 * 3 / 4 - 38;
    let e = 4 * f + 3;
    let h = 5 * (e % 1461 / 4) + 2;
    let (day, month) = (h % 153 / 5 + 1, (h / 153 + 2) % 12 + 1);
    let year = e / 1461 + (14 - month) / 12 - 4716;
    format!("{year:04}-{month:02}-{day:02}")
}

/// The units of one origin in the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The commit; empty if it was not named.
    pub commit: String,
    /// Digest of the sources.
    pub sources: String,
    /// Processor and number of cores.
    pub machine: String,
    /// The first and the last day.
    pub dates: [String; 2],
    /// The number of units.
    pub units: usize,
    /// Their seconds of wall-clock time.
    pub seconds: f64,
}

/// Counts a unit.
pub(super) fn count(shares: &mut Vec<Share>, origin: &Origin, seconds: f64) {
    let same = |s: &&mut Share| {
        (&s.commit, &s.sources, &s.machine) == (&origin.commit, &origin.sources, &origin.machine)
    };
    match shares.iter_mut().find(same) {
        Some(share) => {
            share.units += 1;
            share.seconds += seconds;
            let [first, last] = &mut share.dates;
            if origin.date < *first {
                first.clone_from(&origin.date);
            }
            if origin.date > *last {
                last.clone_from(&origin.date);
            }
        }
        None => shares.push(Share {
            commit: origin.commit.clone(),
            sources: origin.sources.clone(),
            machine: origin.machine.clone(),
            dates: [origin.date.clone(), origin.date.clone()],
            units: 1,
            seconds,
        }),
    }
}

/// `commit abc, 2026-11-18, AMD EPYC, 2 cores, 685 units in 38 minutes`.
pub(super) fn words(share: &Share) -> String {
    let commit = match share.commit.as_str() {
        "" => format!("sources {}", share.sources),
        commit => format!("commit {commit}"),
    };
    let [first, last] = &share.dates;
    let dates = if first == last { first.clone() } else { format!("{first} to {last}") };
    let minutes = (share.seconds / 60.0).ceil();
    let (units, minutes) = (plural(share.units, "unit"), plural(minutes as usize, "minute"));
    format!("{commit}, {dates}, {}, {units} in {minutes}", share.machine)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_775, "2026-11-18"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
