//! Similarity matrices (`--precomputed`) from .csv, .npy, .npz or .mtx files, held as CSR without zeros. Every matrix
//! is checked to be square, finite, non-negative and symmetric up to a relative difference of 1e-6.

use std::path::Path;

use super::{Format, ReadOptions, load, mtx, name, npy, npz, parse_frame};
use crate::error::{Result, format};
use crate::memory::Budget;

/// The largest number of points. A header alone must not cause an allocation of gigabytes.
const MAX_POINTS: usize = 1 << 26;

/// Points per entry that are believed. Fewer entries than points mean points without any similarity, which no method
/// accepts.
const POINTS_PER_ENTRY: usize = 64;

/// Bytes of an entry in CSR form.
const ENTRY: usize = size_of::<u32>() + size_of::<f64>();

/// A square, symmetric, finite, non-negative matrix in CSR form, columns ascending, without zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    /// Number of points.
    pub n: usize,
    /// Where each row begins; n + 1 numbers.
    pub indptr: Vec<usize>,
    /// Column of each entry.
    pub indices: Vec<u32>,
    /// Similarity of each entry.
    pub data: Vec<f64>,
}

/// Reads a similarity matrix from a file, or from standard input when the path is `-`.
pub fn read_similarity(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Similarity> {
    let path = path.as_ref();
    let source = name(path);
    let budget = Budget::new(&source, options.memory);
    let bytes = load(path, &budget)?;
    let options = options.of_path(path);
    parse(bytes, &source, &options, &budget)
}

/// Reads a similarity matrix from bytes that are not gzipped; `source` is their name in messages.
pub fn read_similarity_bytes(bytes: Vec<u8>, source: &str, options: &ReadOptions) -> Result<Similarity> {
    let budget = Budget::new(source, options.memory);
    budget.spend(bytes.len())?;
    parse(bytes, source, options, &budget)
}

fn parse(bytes: Vec<u8>, source: &str, options: &ReadOptions, budget: &Budget) -> Result<Similarity> {
    match options.format.unwrap_or_else(|| Format::from_bytes(&bytes)) {
        Format::Npz => npz::read(&bytes, source, budget),
        Format::Mtx => mtx::read(&bytes, source, budget),
        Format::Npy => {
            let (n, d, values) = npy::read(&bytes, source)?.matrix(budget)?;
            Similarity::from_dense(source, n, d, &values.to_f64(), budget)
        }
        Format::Text => {
            let options = ReadOptions { format: Some(Format::Text), ..options.clone() };
            let frame = parse_frame(bytes, source, &options, budget)?;
            if let Some((row, text)) = (0..frame.width()).find_map(|c| frame.first_text(c)) {
                let problem = format!("\"{}\" is not a number", crate::error::excerpt(text));
                let column = (0..frame.width()).find(|c| frame.first_text(*c).is_some()).unwrap_or(0);
                return Err(frame.cell_error(row, column, problem));
            }
            Similarity::from_dense(source, frame.n(), frame.width(), &frame.values.to_f64(), budget)
        }
        Format::Parquet | Format::Arrow | Format::Json | Format::Excel | Format::Sqlite => {
            Err(format(source, "a similarity matrix is read from .csv, .npy, .npz or .mtx"))
        }
    }
}

impl Similarity {
    /// From all n x n numbers.
    fn from_dense(source: &str, n: usize, d: usize, values: &[f64], budget: &Budget) -> Result<Similarity> {
        check_square(source, n, d)?;
        let entries = values.iter().filter(|s| **s != 0.0).count();
        budget.spend_items(entries, ENTRY)?;
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks_exact(d) {
            for (j, &s) in row.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                indices.push(j as u32);
                data.push(s);
            }
            indptr.push(indices.len());
        }
        Similarity { n, indptr, indices, data }.checked(source)
    }

    /// From (row, column, similarity); repeated entries add up, as in SciPy.
    pub(crate) fn from_triplets(
        source: &str,
        rows: usize,
        columns: usize,
        mut triplets: Vec<(usize, usize, f64)>,
        budget: &Budget,
    ) -> Result<Similarity> {
        check_square(source, rows, columns)?;
        // The number of points is a claim of the file; the entries are there.
        if rows / POINTS_PER_ENTRY > triplets.len() {
            let problem =
                format!("claims {rows} points, but has {} entries; every point needs some", triplets.len());
            return Err(format(source, problem));
        }
        // A stable sort takes half of the triplets again.
        budget.spend_items(triplets.len(), ENTRY + size_of::<(usize, usize, f64)>() / 2)?;
        budget.spend_items(rows, size_of::<usize>())?;
        if let Some((i, j, _)) = triplets.iter().find(|(i, j, _)| *i >= rows || *j >= columns) {
            let problem = format!("entry {}, {} lies outside {rows} x {columns}", i + 1, j + 1);
            return Err(format(source, problem));
        }
        triplets.sort_by_key(|(i, j, _)| (*i, *j));
        let mut indptr = vec![0; rows + 1];
        let (mut indices, mut data): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        for same in triplets.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let s: f64 = same.iter().map(|t| t.2).sum();
            if s != 0.0 {
                indptr[same[0].0 + 1] += 1;
                indices.push(same[0].1 as u32);
                data.push(s);
            }
        }
        for i in 0..rows {
            indptr[i + 1] += indptr[i];
        }
        Similarity { n: rows, indptr, indices, data }.checked(source)
    }

    /// The entry of row `i`, column `j`; zero where none is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (Some(&start), Some(&end)) = (self.indptr.get(i), self.indptr.get(i + 1)) else { return 0.0 };
        match self.indices[start..end].binary_search(&(j as u32)) {
            Ok(at) => self.data[start + at],
            Err(_) => 0.0,
        }
    }

    fn checked(self, source: &str) -> Result<Similarity> {
        for i in 0..self.n {
            for at in self.indptr[i]..self.indptr[i + 1] {
                let (j, s) = (self.indices[at] as usize, self.data[at]);
                let entry = || format!("row {}, column {} of the similarity matrix is {s}", i + 1, j + 1);
                if !s.is_finite() || s < 0.0 {
                    return Err(format(
                        source,
                        format!("{}; similarities are finite and not negative", entry()),
                    ));
                }
                let mirrored = self.get(j, i);
                if (s - mirrored).abs() > 1e-6 * s.max(mirrored) {
                    return Err(format(
                        source,
                        format!("{}, but its transpose is {mirrored}; similarities are symmetric", entry()),
                    ));
                }
            }
        }
        Ok(self)
    }
}

fn check_square(source: &str, rows: usize, columns: usize) -> Result<()> {
    if rows != columns || rows == 0 {
        return Err(format(source, format!("a similarity matrix is square, this one is {rows} x {columns}")));
    }
    if rows > MAX_POINTS {
        return Err(format(source, format!("{rows} points are more than the limit of {MAX_POINTS}")));
    }
    Ok(())
}
