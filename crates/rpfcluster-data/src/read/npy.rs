//! NumPy's .npy format, versions 1 to 3: a text header, then the elements. Reads floats of 2, 4 and 8 bytes, integers and
//! booleans, of either byte order, in C or Fortran order. The length of the data is checked against the shape before
//! anything is allocated. Floats and integers of one byte keep their width; other integers become double precision. Also decodes the index and text arrays of .npz files.
//!
//! Written by hand: npyz brings twelve more packages (a parser generator among them) and reads no faster.

use rpfcluster::f16;

use super::MAX_WIDTH;
use super::input::Input;
use crate::error::{DataError, Result, excerpt, format};
use crate::frame::Frame;
use crate::memory::Budget;
use crate::table::{Values, map_vec};

/// What the header says about the elements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    kind: u8,
    /// Bytes of an element.
    size: usize,
    big_endian: bool,
    pub fortran: bool,
    pub shape: Vec<usize>,
    /// Bytes of all elements.
    needed: usize,
}

/// An array with its header parsed and its elements still bytes.
pub(crate) struct Array<'a> {
    pub header: Header,
    data: &'a [u8],
    source: &'a str,
}

fn bad(source: &str, problem: &str) -> DataError {
    format(source, format!("is not a .npy array: {problem}"))
}

/// Parses the header and checks the number of elements.
pub(crate) fn read<'a>(bytes: &'a [u8], source: &'a str) -> Result<Array<'a>> {
    let at = data_offset(bytes, source)?;
    let header = bytes.get(..at).ok_or_else(|| bad(source, "the header is cut short"))?;
    let (header, data) = (Header::parse(header, source)?, &bytes[at..]);
    let data = data.get(..header.needed).ok_or_else(|| header.cut_short(data.len() as u64, source))?;
    Ok(Array { header, data, source })
}

/// Bytes from which [`data_offset`] tells where the data begin.
pub(crate) const FIRST: usize = 12;

/// Where the data begin, by the first [`FIRST`] bytes.
pub(crate) fn data_offset(bytes: &[u8], source: &str) -> Result<usize> {
    let rest =
        bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| bad(source, "it does not begin with \\x93NUMPY"))?;
    match rest {
        [1, _, a, b, ..] => Ok(10 + usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d, ..] => Ok(12 + u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [1..=3, ..] => Err(bad(source, "the header is cut short")),
        _ => Err(bad(source, "its version is not 1, 2 or 3")),
    }
}

impl Header {
    /// Parses what is in front of the data.
    pub fn parse(bytes: &[u8], source: &str) -> Result<Header> {
        parse_header(
            bytes.get(if bytes.get(6) == Some(&1) { 10 } else { FIRST }..).unwrap_or_default(),
            source,
        )
    }

    /// Rows and columns. An array of one dimension is one column.
    pub fn rows_and_columns(&self, source: &str) -> Result<(usize, usize)> {
        let (n, d) = match self.shape[..] {
            [n] => (n, 1),
            [n, d] => (n, d),
            _ => {
                let problem = format!("has {} dimensions; a table has two", self.shape.len());
                return Err(format(source, problem));
            }
        };
        if n == 0 || d == 0 {
            return Err(format(source, format!("has {n} rows and {d} columns")));
        }
        if d > MAX_WIDTH {
            return Err(format(source, format!("{d} columns are more than the limit of {MAX_WIDTH}")));
        }
        Ok((n, d))
    }

    fn cut_short(&self, got: u64, source: &str) -> DataError {
        let needed = self.needed;
        let problem =
            format!("it should hold {needed} bytes of numbers, but has {got}; the file is cut short");
        bad(source, &problem)
    }
}

fn parse_header(header: &[u8], source: &str) -> Result<Header> {
    let bad = |problem: &str| bad(source, problem);
    let header = std::str::from_utf8(header).map_err(|_| bad("the header is not text"))?;
    let descr = entry(header, "descr").ok_or_else(|| bad("the header has no descr"))?;
    let descr = descr.trim_start_matches(['\'', '"']);
    let descr = &descr[..descr.find(['\'', '"']).ok_or_else(|| bad("the header has no descr"))?];
    let fortran = entry(header, "fortran_order").is_some_and(|v| v.starts_with("True"));
    let shape = entry(header, "shape").and_then(|v| v.strip_prefix('(')).and_then(|v| v.split(')').next());
    let shape: Option<Vec<usize>> = shape.and_then(|s| {
        s.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect()
    });
    let shape = shape.ok_or_else(|| bad("the header has no shape"))?;
    let (order, kind, size) = match descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), kind, size @ ..] => (*order, *kind, size),
        _ => return Err(bad(&format!("elements of type {} are not numbers", excerpt(descr)))),
    };
    let size: usize = std::str::from_utf8(size).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    // A unicode character takes four bytes.
    let size = if kind == b'U' { size.saturating_mul(4) } else { size };
    if size == 0 {
        return Err(bad(&format!("elements of type {} are not numbers", excerpt(descr))));
    }
    let count = shape.iter().try_fold(1usize, |product, s| product.checked_mul(*s));
    let needed = count.and_then(|c| c.checked_mul(size)).ok_or_else(|| bad("its shape is too large"))?;
    Ok(Header { kind, size, big_endian: order == b'>', fortran, shape, needed })
}

/// What follows `'key':` in the header's dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))? + key.len() + 2;
    header.get(at..)?.trim_start().strip_prefix(':').map(str::trim_start)
}

impl Array<'_> {
    fn elements<T, const N: usize>(&self, decode: impl Fn([u8; N]) -> T) -> Vec<T> {
        let (items, _) = self.data.as_chunks::<N>();
        items
            .iter()
            .map(|item| {
                let mut item = *item;
                if self.header.big_endian {
                    item.reverse();
                }
                decode(item)
            })
            .collect()
    }

    /// The elements in file order: floats and integers of one byte in their own width, everything else in double
    /// precision.
    pub fn values(&self, budget: &Budget) -> Result<Values> {
        let Header { kind, size, .. } = self.header;
        let is_kept = matches!((kind, size), (b'f', 2 | 4) | (b'i' | b'u', 1));
        budget.spend_items(self.data.len() / size, if is_kept { size } else { 8 })?;
        match (kind, size) {
            (b'f', 2) => return Ok(Values::F16(self.elements(f16::from_le_bytes))),
            (b'f', 4) => return Ok(Values::F32(self.elements(f32::from_le_bytes))),
            (b'i', 1) => return Ok(Values::I8(self.elements(i8::from_le_bytes))),
            (b'u', 1) => return Ok(Values::U8(self.data.to_vec())),
            _ => {}
        }
        Ok(Values::F64(match (kind, size) {
            (b'f', 8) => self.elements(f64::from_le_bytes),
            (b'i', 2) => self.elements(|b| f64::from(i16::from_le_bytes(b))),
            (b'i', 4) => self.elements(|b| f64::from(i32::from_le_bytes(b))),
            (b'i', 8) => self.elements(|b| i64::from_le_bytes(b) as f64),
            (b'b', 1) => self.elements(|[b]| f64::from(b)),
            (b'u', 2) => self.elements(|b| f64::from(u16::from_le_bytes(b))),
            (b'u', 4) => self.elements(|b| f64::from(u32::from_le_bytes(b))),
            (b'u', 8) => self.elements(|b| u64::from_le_bytes(b) as f64),
            (kind, size) => {
                let problem = format!(
                    "elements of NumPy type {}{size} are not read; save them as float32 or float64",
                    char::from(kind)
                );
                return Err(format(self.source, problem));
            }
        }))
    }

    /// The elements as row or column numbers.
    pub fn indices(&self, budget: &Budget) -> Result<Vec<usize>> {
        let Header { kind, size, .. } = self.header;
        budget.spend_items(self.data.len() / size, 8)?;
        let wide: Vec<i64> = match (kind, size) {
            (b'i', 4) => self.elements(|b| i64::from(i32::from_le_bytes(b))),
            (b'i', 8) => self.elements(i64::from_le_bytes),
            (b'u', 4) => self.elements(|b| i64::from(u32::from_le_bytes(b))),
            _ => return Err(format(self.source, "the indices are not integers")),
        };
        wide.into_iter()
            .map(|i| usize::try_from(i).map_err(|_| format(self.source, format!("an index is {i}"))))
            .collect()
    }

    /// The printable ASCII characters of a text array.
    pub fn ascii(&self) -> String {
        self.data.iter().filter(|b| b.is_ascii_graphic()).map(|b| char::from(*b)).collect()
    }

    /// Rows, columns and elements. An array of one dimension is one column.
    pub fn matrix(&self, budget: &Budget) -> Result<(usize, usize, Values)> {
        let (n, d) = self.header.rows_and_columns(self.source)?;
        let values = self.values(budget)?;
        if !self.header.fortran {
            return Ok((n, d, values));
        }
        budget.spend_items(values.len(), values.width())?;
        Ok((n, d, map_vec!(values, v => transpose(&v, n, d))))
    }

    /// The array as a table.
    pub fn into_frame(self, budget: &Budget) -> Result<Frame> {
        let (_, d, values) = self.matrix(budget)?;
        Frame::from_values(self.source, None, values, d)
    }
}

/// An array in C order whose rows are read as they are asked for.
pub(crate) struct NpyStream {
    input: Input,
    header: Header,
    d: usize,
    /// Rows read, and rows that follow.
    done: usize,
    left: usize,
}

impl NpyStream {
    /// Parses the header. An array in Fortran order, whose rows are all over the file, is given back.
    pub fn new(mut input: Input, budget: &Budget) -> Result<std::result::Result<Self, Input>> {
        let mut bytes = Vec::new();
        input.read_some(&mut bytes, FIRST, budget)?;
        let offset = data_offset(&bytes, input.source())?;
        if input.read_some(&mut bytes, offset.saturating_sub(FIRST), budget)? < offset.saturating_sub(FIRST) {
            return Err(bad(input.source(), "the header is cut short"));
        }
        let header = Header::parse(&bytes, input.source())?;
        let (left, d) = header.rows_and_columns(input.source())?;
        if header.fortran {
            input.unread(bytes);
            return Ok(Err(input));
        }
        if let Some(length) = input.length() {
            let got = length.saturating_sub(offset as u64);
            if got < header.needed as u64 {
                return Err(header.cut_short(got, input.source()));
            }
        }
        Ok(Ok(NpyStream { input, header, d, done: 0, left }))
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.d
    }

    /// The next rows, at most `most`.
    pub fn next(&mut self, most: usize, budget: &Budget) -> Result<Option<Frame>> {
        let rows = most.min(self.left);
        if rows == 0 {
            return Ok(None);
        }
        budget.rewind(0);
        let (mut data, length) = (Vec::new(), rows * self.d * self.header.size);
        let got = self.input.read_some(&mut data, length, budget)?;
        if got < length {
            let got = (self.done * self.d * self.header.size + got) as u64;
            return Err(self.header.cut_short(got, self.input.source()));
        }
        let shape = match self.header.shape[..] {
            [_] => vec![rows],
            _ => vec![rows, self.d],
        };
        let header = Header { shape, needed: length, ..self.header.clone() };
        let frame = Array { header, data: &data, source: self.input.source() }.into_frame(budget)?;
        let frame = frame.after(self.done);
        self.done += rows;
        self.left -= rows;
        Ok(Some(frame))
    }
}

/// Fortran order → C order.
fn transpose<T: Copy>(columns: &[T], n: usize, d: usize) -> Vec<T> {
    (0..n).flat_map(|i| (0..d).map(move |j| columns[j * n + i])).collect()
}
