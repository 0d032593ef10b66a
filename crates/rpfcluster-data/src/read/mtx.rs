//! Matrix Market (Boisvert, Pozo and Remington, NISTIR 5935, 1996): a banner, comments, sizes, then entries; coordinate
//! or array, general or symmetric. Entries are real or integer; the entries of a coordinate pattern count as ones. A
//! symmetric file holds the lower triangle, which is mirrored.

use super::number::{Cell, Decimal, cell};
use super::similarity::Similarity;
use crate::error::{DataError, Place, Result, excerpt, format};
use crate::memory::Budget;

/// Reads a matrix of similarities.
pub(crate) fn read(bytes: &[u8], source: &str, budget: &Budget) -> Result<Similarity> {
    let mut lines = bytes.split(|b| *b == b'\n').enumerate();
    let banner =
        lines.next().map(|(_, l)| String::from_utf8_lossy(l).to_ascii_lowercase()).unwrap_or_default();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", form, field, symmetry] = words[..] else {
        return Err(format(
            source,
            "does not begin with a line like: %%MatrixMarket matrix coordinate real symmetric",
        ));
    };
    let coordinate = match form {
        "coordinate" => true,
        "array" => false,
        _ => {
            return Err(format(
                source,
                format!("the form \"{}\" is neither coordinate nor array", excerpt(form)),
            ));
        }
    };
    let pattern = match field {
        "real" | "integer" | "double" => false,
        "pattern" if coordinate => true,
        _ => {
            return Err(format(
                source,
                format!("entries of kind \"{}\" are not similarities", excerpt(field)),
            ));
        }
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => {
            return Err(format(
                source,
                format!("symmetry \"{}\" is neither general nor symmetric", excerpt(symmetry)),
            ));
        }
    };
    let mut lines = lines.filter(|(_, l)| !l.trim_ascii().is_empty() && !l.starts_with(b"%"));
    let numbers = |at: usize, line: &[u8], count: usize| -> Result<Vec<f64>> {
        let cells = line.split(|b| b.is_ascii_whitespace()).filter(|c| !c.is_empty());
        let numbers: Option<Vec<f64>> = cells
            .map(|c| if let Cell::Number(x) = cell(c, Decimal::Point) { Some(x) } else { None })
            .collect();
        numbers.filter(|n| n.len() == count).ok_or_else(|| DataError::Row {
            path: source.to_string(),
            row: Place { row: at + 1, line: at + 1 },
            problem: format!("expected {count} numbers"),
        })
    };
    let (at, sizes) = lines.next().ok_or_else(|| format(source, "there is no line of sizes"))?;
    let sizes: Vec<usize> =
        numbers(at, sizes, if coordinate { 3 } else { 2 })?.into_iter().map(|x| x as usize).collect();
    let (rows, columns) = (sizes[0], sizes[1]);
    let mut triplets = Vec::new();
    let both = |i: usize, j: usize, s: f64, triplets: &mut Vec<(usize, usize, f64)>| -> Result<()> {
        if triplets.capacity() - triplets.len() < 2 {
            budget.reserve(triplets, 64.max(triplets.len() / 4))?;
        }
        triplets.push((i, j, s));
        if symmetric && i != j {
            triplets.push((j, i, s));
        }
        Ok(())
    };
    let mut found = 0usize;
    if coordinate {
        for (at, line) in lines {
            let entry = numbers(at, line, if pattern { 2 } else { 3 })?;
            let inside = |x: f64, limit: usize| x >= 1.0 && x <= limit as f64 && x.fract() == 0.0;
            if !(inside(entry[0], rows) && inside(entry[1], columns)) {
                return Err(DataError::Row {
                    path: source.to_string(),
                    row: Place { row: at + 1, line: at + 1 },
                    problem: format!("entry {}, {} lies outside {rows} x {columns}", entry[0], entry[1]),
                });
            }
            let s = entry.get(2).copied().unwrap_or(1.0);
            both(entry[0] as usize - 1, entry[1] as usize - 1, s, &mut triplets)?;
            found += 1;
        }
        if found != sizes[2] {
            return Err(format(
                source,
                format!("the header announces {} entries, the file has {found}", sizes[2]),
            ));
        }
        return Similarity::from_triplets(source, rows, columns, triplets, budget);
    }
    // An array is stored by columns; of a symmetric one, the lower triangle.
    let (mut i, mut j) = (0, 0);
    for (at, line) in lines {
        let entry = numbers(at, line, 1)?;
        if j >= columns {
            return Err(format(source, format!("more entries than {rows} x {columns}")));
        }
        both(i, j, entry[0], &mut triplets)?;
        i += 1;
        if i >= rows {
            j += 1;
            i = if symmetric { j } else { 0 };
        }
    }
    if j < columns {
        return Err(format(source, format!("fewer entries than {rows} x {columns}")));
    }
    Similarity::from_triplets(source, rows, columns, triplets, budget)
}
