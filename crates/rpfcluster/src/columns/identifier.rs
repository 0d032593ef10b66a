//! Columns that look like identifiers.
//!
//! An identifier numbers the rows and describes none of them. Its values all differ, and they are strictly sorted or
//! whole and evenly spaced. Nothing else tells it from a measurement: a table that somebody sorted by a measured column
//! is reported as well, therefore "looks like".

use super::spread::Extent;
use super::{ColumnProblem, IdentifierOrder};
use crate::points::{Points, Real};

/// Fewest rows of an identifier. Twenty measured values are sorted by chance once in 20! / 2 tables; the values of a
/// short table may well be sorted or evenly spaced on purpose.
const MIN_ROWS: usize = 20;
/// Largest whole number with an exact successor in an f64: 2^53.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The columns that look like identifiers. At least one column that varies has to remain: columns of ranks are all
/// evenly spaced, and the columns of a measured curve are all sorted. When every column looks like an identifier,
/// sorted columns with fractions count as measured; when still none remains, nothing is reported.
pub(super) fn identifiers<R: Real>(
    points: &Points<R>,
    extents: &[Extent],
    deviations: &[f64],
) -> Vec<ColumnProblem> {
    let n = points.n();
    if n < MIN_ROWS {
        return Vec::new();
    }
    // Two zeros are two equal values, so only full columns are looked at.
    let full =
        |(column, extent): (usize, &Extent)| (extent.nonzeros + 1 >= n).then(|| (column, Order::new()));
    let candidates = extents.iter().enumerate().filter_map(full).collect();
    let ordered = scan(points, candidates, Order::accepts);
    let numbered = |(column, order): &(usize, Order)| Some((*column, Numbered::new(order, n)?));
    let numbered = scan(points, ordered.iter().filter_map(numbered).collect(), Numbered::accepts);

    let kind = |(column, order): &(usize, Order)| {
        let evenly_spaced = numbered.binary_search_by_key(column, |(column, _)| *column).is_ok();
        match evenly_spaced {
            true => Some((*column, IdentifierOrder::EvenlySpaced, order.whole)),
            false => order.is_sorted().then_some((*column, IdentifierOrder::Sorted, order.whole)),
        }
    };
    let mut found: Vec<_> = ordered.iter().filter_map(kind).collect();
    let varying = deviations.iter().filter(|deviation| **deviation > 0.0).count();
    if found.len() >= varying {
        found.retain(|(_, _, whole)| *whole);
    }
    if found.len() >= varying {
        return Vec::new();
    }
    found.into_iter().map(|(column, order, _)| ColumnProblem::Identifier { column, order }).collect()
}

/// A column read in the order of the rows.
struct Scan<T> {
    column: usize,
    state: T,
    rows: usize,
    open: bool,
}

impl<T> Scan<T> {
    /// Reads the zeros that rows before `row` do not store.
    fn zeros_until(&mut self, row: usize, accepts: &impl Fn(&mut T, f64) -> bool) {
        while self.open && self.rows < row {
            self.open = accepts(&mut self.state, 0.0);
            self.rows += 1;
        }
    }
}

/// Passes the values of some columns to `accepts` in the order of the rows, until it declines one; returns the columns
/// all of whose values it accepts. Stops with the last column.
fn scan<R: Real, T>(
    points: &Points<R>,
    columns: Vec<(usize, T)>,
    accepts: impl Fn(&mut T, f64) -> bool,
) -> Vec<(usize, T)> {
    let mut scan_of = vec![usize::MAX; points.d()];
    let mut open = columns.len();
    let start = |(at, (column, state)): (usize, (usize, T))| {
        scan_of[column] = at;
        Scan { column, state, rows: 0, open: true }
    };
    let mut scans: Vec<Scan<T>> = columns.into_iter().enumerate().map(start).collect();
    for row in 0..points.n() {
        if open == 0 {
            return Vec::new();
        }
        points.each_value(row, |column, value| {
            let Some(scan) = scans.get_mut(scan_of[column]) else { return };
            scan.zeros_until(row, &accepts);
            scan.open = scan.open && accepts(&mut scan.state, value.to_f64());
            scan.rows += 1;
            if !scan.open {
                scan_of[column] = usize::MAX;
                open -= 1;
            }
        });
    }
    scans.iter_mut().for_each(|scan| scan.zeros_until(points.n(), &accepts));
    scans.into_iter().filter(|scan| scan.open).map(|scan| (scan.column, scan.state)).collect()
}

/// Whether the values read so far rise, fall or are whole.
struct Order {
    previous: Option<f64>,
    rising: bool,
    falling: bool,
    whole: bool,
    lowest: f64,
    highest: f64,
}

impl Order {
    fn new() -> Self {
        Order {
            previous: None,
            rising: true,
            falling: true,
            whole: true,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
        }
    }

    fn accepts(&mut self, value: f64) -> bool {
        if let Some(previous) = self.previous.replace(value) {
            self.rising &= previous < value;
            self.falling &= previous > value;
        }
        self.whole &= value.abs() <= LARGEST_WHOLE && value.fract() == 0.0;
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
        self.whole || self.is_sorted()
    }

    fn is_sorted(&self) -> bool {
        self.rising || self.falling
    }
}

/// Whether whole values fill a range of n evenly spaced numbers. Each number occurs once, so n values fill it.
struct Numbered {
    lowest: i64,
    step: i64,
    seen: Vec<u64>,
}

impl Numbered {
    /// `None` when the values are not whole, or their range is no multiple of n − 1.
    fn new(order: &Order, n: usize) -> Option<Self> {
        if !order.whole {
            return None;
        }
        // Exact: whole values are at most 2^53.
        let (lowest, gaps) = (order.lowest as i64, n as i64 - 1);
        let range = order.highest as i64 - lowest;
        (range > 0 && range % gaps == 0).then(|| Numbered {
            lowest,
            step: range / gaps,
            seen: vec![0; n.div_ceil(64)],
        })
    }

    fn accepts(&mut self, value: f64) -> bool {
        let offset = value as i64 - self.lowest;
        let place = (offset / self.step) as usize;
        let (word, bit) = (&mut self.seen[place / 64], 1 << (place % 64));
        let is_new = offset % self.step == 0 && *word & bit == 0;
        *word |= bit;
        is_new
    }
}
