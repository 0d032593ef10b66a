//! The paper's data sets, and a few larger ones, read from a folder in their distributors' own formats.
//!
//! The digest of every file is checked before it is parsed: copies with missing rows or shifted decimal points are
//! common, and a wrong copy would silently give a wrong table. The size of the table is checked too. `entries` lists
//! the sets, `readers` reads those that are not plain tables; [`Scaling`] standardises no feature, all, or those of the
//! paper.

mod entries;
mod readers;

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::column_ref::{ColumnRef, close_names};
use crate::error::{DataError, Result, file, format};
use crate::frame::Frame;
use crate::memory::Budget;
use crate::prepare::Prepare;
use crate::read::{Format, ReadOptions, load, read_frame_bytes};
use crate::scaling::standardize_columns;
use crate::table::Table;

/// How the features are scaled after reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// As read.
    #[default]
    Raw,
    /// All features standardised.
    Standardized,
    /// As the paper describes: some features of WDBC and Wine standardised, none elsewhere.
    Paper,
}

impl Scaling {
    /// Every scaling with its name in results.
    pub const ALL: [(&'static str, Scaling); 3] =
        [("raw", Scaling::Raw), ("standardized", Scaling::Standardized), ("paper", Scaling::Paper)];
}

/// One file of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFile {
    /// Path within the data folder.
    pub path: &'static str,
    /// SHA-256 of the contents, decompressed where the file is gzipped.
    pub sha256: &'static str,
}

/// How the files are combined into a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileLayout {
    /// Text tables, one below the other; the label's column and those left out, from 1.
    Text { label: usize, drop: &'static [usize], header: bool },
    /// Records of one label line and 15 lines of 6 numbers.
    Robot,
    /// Numbers in one file, labels in another.
    Madelon,
    /// The label follows from the last two columns.
    Naval,
    /// Images and labels in the idx format, two parts.
    Mnist,
}

/// One data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Short name, as on a command line.
    pub name: &'static str,
    /// Name in a table.
    pub title: &'static str,
    /// Rows.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes.
    pub k: usize,
    /// The paper's n_s, the smallest node that is split; `None` where the paper does not use the set.
    pub paper_min_node: Option<usize>,
    /// The files, in order.
    pub files: &'static [DataFile],
    /// Where to get them.
    pub origin: &'static str,
    /// The features the paper standardised, from 0.
    pub paper_standardized: &'static [usize],
    pub(crate) layout: FileLayout,
}

/// Data sets of the paper that are not public: name, title, reason.
pub const NOT_PUBLIC: [(&str, &str, &str); 1] =
    [("rs", "RS (remote sensing)", "3303 x 56, 7 classes; its authors have not published it")];

/// All data sets: the paper's first, in its order, then the larger ones.
pub fn entries() -> &'static [Entry] {
    &entries::ENTRIES
}

/// The data set of that name.
pub fn find(name: &str) -> Result<&'static Entry> {
    if let Some(entry) = entries().iter().find(|e| e.name.eq_ignore_ascii_case(name)) {
        return Ok(entry);
    }
    let problem = match NOT_PUBLIC.iter().find(|(n, _, _)| n.eq_ignore_ascii_case(name)) {
        Some((_, _, why)) => format!("is not public ({why})"),
        None => {
            let names: Vec<String> = entries().iter().map(|e| e.name.to_string()).collect();
            match close_names(name, &names).as_slice() {
                [] => format!("is not known; there are {}", names.join(", ")),
                close => format!("is not known; did you mean {}?", close.join(" or ")),
            }
        }
    };
    Err(DataError::Option { name: format!("data set \"{name}\""), problem })
}

impl Entry {
    /// Reads the set from a data folder, checks it, and scales it.
    pub fn load(&self, folder: impl AsRef<Path>, scaling: Scaling) -> Result<Table> {
        let parts: Vec<(String, Vec<u8>)> =
            self.files.iter().map(|f| self.checked(folder.as_ref(), f)).collect::<Result<_>>()?;
        let mut table = match self.layout {
            FileLayout::Text { label, drop, header } => {
                let column = |c: usize| ColumnRef(c.to_string());
                let prepare = Prepare {
                    label: Some(column(label)),
                    drop: drop.iter().map(|c| column(*c)).collect(),
                    ..Prepare::default()
                };
                prepare.fit(stacked(parts, header)?)?.0
            }
            FileLayout::Robot => readers::robot(parts)?,
            FileLayout::Madelon => readers::madelon(parts)?,
            FileLayout::Naval => readers::naval(stacked(parts, false)?)?,
            FileLayout::Mnist => readers::mnist(&parts)?,
        };
        if (table.n, table.d()) != (self.n, self.d) {
            let problem = format!("{} x {} was read, {} x {} expected", table.n, table.d(), self.n, self.d);
            return Err(format(self.title, problem));
        }
        let columns = match scaling {
            Scaling::Raw => Vec::new(),
            Scaling::Standardized => (0..self.d).collect(),
            Scaling::Paper => self.paper_standardized.to_vec(),
        };
        standardize_columns(&mut table.values, self.d, &columns);
        Ok(table)
    }

    /// Whether all files are in the folder. Their contents are not checked.
    pub fn is_in(&self, folder: impl AsRef<Path>) -> bool {
        self.files.iter().all(|f| folder.as_ref().join(f.path).is_file())
    }

    /// One file, decompressed, its digest checked.
    fn checked(&self, folder: &Path, wanted: &DataFile) -> Result<(String, Vec<u8>)> {
        let path = folder.join(wanted.path);
        if !path.is_file() {
            let problem = format!(
                "no such file; {} is available from {} (sha256 {})",
                self.title, self.origin, wanted.sha256
            );
            return Err(DataError::File { path: path.display().to_string(), problem });
        }
        let source = path.display().to_string();
        let bytes = load(&path, &Budget::new(&source, None))?;
        let digest: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        if digest != wanted.sha256 {
            let problem = format!(
                "is not the original: its sha256 is {digest}, expected is {}; {} is available from {}",
                wanted.sha256, self.title, self.origin
            );
            return Err(DataError::Format { path: source, problem });
        }
        Ok((source, bytes))
    }
}

/// Text tables, one below the other.
fn stacked(parts: Vec<(String, Vec<u8>)>, header: bool) -> Result<Frame> {
    let options = ReadOptions { format: Some(Format::Text), header: Some(header), ..Default::default() };
    let mut frames = parts.into_iter().map(|(source, bytes)| read_frame_bytes(bytes, &source, &options));
    let missing = || file("data set", &std::io::Error::from(std::io::ErrorKind::NotFound));
    let first = frames.next().ok_or_else(missing)??;
    frames.try_fold(first, |above, below| above.stack(&below?))
}
