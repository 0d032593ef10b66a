//! Sparse matrices of SciPy's `save_npz`: a zip archive of .npy arrays.

use std::io::Cursor;

use super::npy;
use super::similarity::Similarity;
use crate::error::{Result, excerpt, format, shortened};
use crate::memory::Budget;

/// Reads a sparse matrix in CSR, CSC or COO form. A similarity is symmetric, so its CSC form is its CSR form.
pub(crate) fn read(bytes: &[u8], source: &str, budget: &Budget) -> Result<Similarity> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|e| format(source, format!("is not an .npz archive: {}", shortened(&e))))?;
    let mut entry = |name: &str| -> Result<Vec<u8>> {
        let inside = archive.by_name(&format!("{name}.npy")).map_err(|_| {
            format(
                source,
                format!("has no array \"{name}\"; save a SciPy sparse matrix with scipy.sparse.save_npz"),
            )
        })?;
        // The length in the archive is a claim; the budget counts what comes out.
        let bytes = budget.read_to_end(inside, 0)?;
        bytes.map_err(|e| format(source, format!("array \"{name}\" is damaged: {}", shortened(&e))))
    };
    let kind = npy::read(&entry("format")?, source)?.ascii();
    let shape = npy::read(&entry("shape")?, source)?.indices(budget)?;
    let &[rows, columns] = shape.as_slice() else {
        return Err(format(source, "its shape does not have two dimensions"));
    };
    let data = npy::read(&entry("data")?, source)?.values(budget)?.to_f64().into_owned();
    match kind.as_str() {
        "csr" | "csc" => {
            let indptr = npy::read(&entry("indptr")?, source)?.indices(budget)?;
            let indices = npy::read(&entry("indices")?, source)?.indices(budget)?;
            let ascending = indptr.windows(2).all(|w| w[0] <= w[1]);
            let fits = indptr.len().checked_sub(1) == Some(rows)
                && indptr.first() == Some(&0)
                && indptr.last() == Some(&data.len())
                && indices.len() == data.len();
            if !(ascending && fits) {
                return Err(format(source, "the arrays data, indices and indptr do not fit together"));
            }
            budget.spend_items(data.len(), size_of::<(usize, usize, f64)>())?;
            let row_of = indptr.windows(2).enumerate().flat_map(|(i, w)| std::iter::repeat_n(i, w[1] - w[0]));
            let triplets = row_of.zip(indices).zip(data).map(|((i, j), s)| (i, j, s)).collect();
            Similarity::from_triplets(source, rows, columns, triplets, budget)
        }
        "coo" => {
            let row = npy::read(&entry("row")?, source)?.indices(budget)?;
            let col = npy::read(&entry("col")?, source)?.indices(budget)?;
            if row.len() != data.len() || col.len() != data.len() {
                return Err(format(source, "the arrays data, row and col do not fit together"));
            }
            budget.spend_items(data.len(), size_of::<(usize, usize, f64)>())?;
            let triplets = row.into_iter().zip(col).zip(data).map(|((i, j), s)| (i, j, s)).collect();
            Similarity::from_triplets(source, rows, columns, triplets, budget)
        }
        other => Err(format(
            source,
            format!("the sparse form \"{}\" is not read; convert it with .tocsr()", excerpt(other)),
        )),
    }
}
