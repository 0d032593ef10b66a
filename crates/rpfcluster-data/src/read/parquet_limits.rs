//! Checks the schema and the lengths that the page headers of a Parquet file claim before the parquet crate trusts them.
//!
//! Both are structs in Thrift's compact protocol. The crate builds the tree of a schema by recursion, so its depth is found
//! here from the flat list of its elements. The first three fields of a page header are the type of the page and its
//! uncompressed and compressed length; the number of its values and their encoding are in a struct of a later field. The crate
//! does not show headers before it has decompressed the page, so they are read here; the rest of a header is skipped. What
//! cannot be read here is an error, since the crate might read it in another way.

use std::collections::VecDeque;
use std::io::Read;

use parquet::basic::{Compression, Type as PhysicalType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::compression::Codec;
use crate::error::{DataError, Result, format};
use crate::memory::Budget;

/// The deepest schema that is read: the crate needs stack for every level.
const MOST_LEVELS: usize = 64;

/// Checks the schema in the footer, which the crate has not read yet; spends the memory of its tree and of the names of its
/// columns, each of which holds those of all levels. Leaves a file without a footer to the crate.
pub(crate) fn check_schema(bytes: &impl ChunkReader, source: &str, budget: &Budget) -> Result<()> {
    let footer = || {
        let end = bytes.len().checked_sub(8)?;
        let tail = bytes.get_bytes(end, 8).ok()?;
        let (length, magic) = tail.split_first_chunk::<4>()?;
        let length = u64::from(u32::from_le_bytes(*length));
        (magic == b"PAR1").then_some((end.checked_sub(length)?, length as usize))
    };
    let Some((start, length)) = footer() else { return Ok(()) };
    budget.probe(length)?;
    let Ok(footer) = bytes.get_bytes(start, length) else { return Ok(()) };
    let damaged = || format(source, "is not a Parquet file: its footer cannot be read; the file is damaged");
    let (elements, deepest, taken) = schema(&mut &footer[..]).ok_or_else(damaged)?;
    if deepest > MOST_LEVELS {
        let problem = format!("its schema is nested {deepest} levels deep; at most {MOST_LEVELS} are read");
        return Err(format(source, problem));
    }
    budget.spend(taken)?;
    budget.spend_items(elements, ELEMENT)
}

/// Bytes of an element of a schema besides its names.
const ELEMENT: usize = 400;

/// The number of elements of the schema in a footer, its depth, and the bytes of the full names of its columns.
fn schema(bytes: &mut &[u8]) -> Option<(usize, usize, usize)> {
    let mut found = None;
    each_field(bytes, &FOOTER, |bytes, id, kind| {
        if id != 2 || found.is_some() {
            return if found.is_some() { Some(()) } else { skip(bytes, kind, SKIP_DEPTH) };
        }
        let (count, kind) = list(bytes)?;
        // An element takes a byte at least.
        if count > bytes.len() as u64 || (kind != STRUCT && count > 0) {
            return None;
        }
        // For every level the elements that are to come, and the bytes of the names down to it.
        let mut levels: Vec<(u64, usize)> = Vec::new();
        let (mut deepest, mut taken) = (0, 0usize);
        for at in 0..count {
            let (children, name) = element(bytes)?;
            // The crate allocates as much as they claim.
            if children > count - at - 1 {
                return None;
            }
            let path = levels.last().map_or(0, |(_, path)| *path).saturating_add(name + NAME);
            if let Some((left, _)) = levels.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                levels.push((children, path));
                deepest = deepest.max(levels.len());
            } else {
                taken = taken.saturating_add(path);
            }
            while levels.last().is_some_and(|(left, _)| *left == 0) {
                levels.pop();
            }
        }
        found = Some((usize::try_from(count).ok()?, deepest, taken));
        // The rest does not matter here.
        *bytes = &[];
        Some(())
    });
    found
}

/// Bytes of a name besides its text.
const NAME: usize = 40;

/// The number of children of an element of a schema, and the length of its name. Leaves `bytes` after it.
fn element(bytes: &mut &[u8]) -> Option<(u64, usize)> {
    let (mut children, mut name) = (0, 0);
    each_field(bytes, &ELEMENT_FIELDS, |bytes, id, kind| {
        let before = bytes.len();
        match id {
            5 => children = u64::try_from(zigzag(varint(bytes)?) as i32).ok()?,
            _ => skip(bytes, kind, SKIP_DEPTH)?,
        }
        if id == 4 {
            name = before - bytes.len();
        }
        Some(())
    })?;
    Some((children, name))
}

/// Values that the reader takes from a column at a time, at most.
const BATCH: usize = super::parquet::BATCH;

/// Bytes of byte arrays that are decoded at a time where their prefixes are left out, if one is not longer.
const DECODED: usize = 4 << 20;

/// Checks every page; spends the memory of the largest one of every column, which are held at once, for the stored
/// columns in `lists` that of their values, and of the pages whose values one batch of the longest column holds. Returns for
/// every stored column how many values may be decoded at once.
pub(crate) fn check(
    bytes: &impl ChunkReader,
    file: &ParquetMetaData,
    lists: &[usize],
    source: &str,
    budget: &Budget,
) -> Result<Vec<usize>> {
    let mut at_once = vec![BATCH; file.file_metadata().schema_descr().num_columns()];
    let mut most = 0;
    for group in file.row_groups() {
        let (mut held, mut batch) = (0usize, 0usize);
        for (at, column) in group.columns().iter().enumerate() {
            let codec = match column.compression() {
                Compression::UNCOMPRESSED => Codec::None,
                Compression::SNAPPY => Codec::Snappy,
                Compression::GZIP(_) => Codec::Gzip,
                Compression::LZ4 | Compression::LZ4_RAW => Codec::Lz4,
                Compression::ZSTD(_) => Codec::Zstd,
                Compression::BROTLI(_) => return Err(unread("brotli", source)),
                Compression::LZO => return Err(unread("lzo", source)),
            };
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let range = || {
                let start = u64::try_from(start).ok()?;
                let end = start.checked_add(u64::try_from(column.compressed_size()).ok()?)?;
                (end <= bytes.len()).then_some((start, end))
            };
            let Some((start, end)) = range() else {
                return Err(format(
                    source,
                    "is not a Parquet file: a column lies outside of it; it is damaged",
                ));
            };
            let found = largest(Pages { bytes, at: start, end }, codec, source, budget)?;
            // A decoded byte array points into its page; other values are copied.
            let is_bytes =
                matches!(column.column_type(), PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY);
            held = held.saturating_add(found.page).saturating_add(found.dictionary);
            let mut decoded = if is_bytes { found.window - found.page } else { 0 };
            if is_bytes && found.leaves_prefixes {
                // Every value may be as long as the page: it repeats the one before it. That is kept as well.
                let rows = (DECODED / found.page.max(1)).clamp(1, BATCH);
                let rows = if lists.contains(&at) { found.values } else { rows.min(found.values) };
                at_once[at] = at_once[at].min(rows.max(1));
                decoded = found.page.saturating_mul(rows.saturating_add(1));
            }
            batch = batch.max(decoded);
            if lists.contains(&at) {
                // One list may hold all values of the column: two levels of two bytes and a number for each.
                held = held.saturating_add(found.values.saturating_mul(LIST_VALUE));
            }
        }
        most = most.max(held.saturating_add(batch));
    }
    budget.spend(most)?;
    Ok(at_once)
}

fn unread(codec: &str, source: &str) -> DataError {
    let problem =
        format!("is compressed with {codec}, which is not read; write it with snappy, gzip, lz4 or zstd");
    format(source, problem)
}

/// Bytes of a value of a list while it is decoded.
const LIST_VALUE: usize = 12;

/// Bytes of a decoded value of a dictionary, besides its text.
const DECODED_VALUE: usize = 32;

/// What the pages of a column take.
struct Largest {
    /// Bytes of the largest page.
    page: usize,
    /// Bytes of the dictionary and its values.
    dictionary: usize,
    /// Bytes of the pages that a batch of values touches.
    window: usize,
    /// Number of values.
    values: usize,
    /// Whether a page leaves out what its byte arrays begin with.
    leaves_prefixes: bool,
}

/// Checks the pages of a column.
fn largest<R: ChunkReader>(
    mut pages: Pages<'_, R>,
    codec: Codec,
    source: &str,
    budget: &Budget,
) -> Result<Largest> {
    let mut found = Largest { page: 0, dictionary: 0, window: 0, values: 0, leaves_prefixes: false };
    // Pages in a row, with the sums of their bytes and of their values.
    let (mut row, mut bytes, mut count) = (VecDeque::new(), 0usize, 0usize);
    while pages.at < pages.end {
        let Some(header) = pages.header() else {
            return Err(format(
                source,
                "is not a Parquet file: a page header cannot be read; the file is damaged",
            ));
        };
        // The crate allocates as much as the header claims.
        if header.compressed as u64 > pages.end - pages.at {
            return Err(format(source, "is not a Parquet file: a page is cut short; the file is damaged"));
        }
        if header.uncompressed > codec.most(header.compressed) {
            let problem = format!(
                "is not a Parquet file: a page of {} bytes claims to be {}; the file is damaged",
                header.compressed, header.uncompressed
            );
            return Err(format(source, problem));
        }
        let mut length = header.uncompressed;
        // The crate decompresses gzip to its end, whatever the header claims.
        if codec == Codec::Gzip && budget.probe(codec.most(header.compressed)).is_err() {
            let data = pages.bytes.get_read(pages.at).map(|data| data.take(header.compressed as u64));
            let unpacked = data.map_or(0, |data| {
                let mut decoder = flate2::read::MultiGzDecoder::new(data);
                std::io::copy(&mut decoder, &mut std::io::sink()).unwrap_or(0)
            });
            length = length.max(usize::try_from(unpacked).unwrap_or(usize::MAX));
        }
        pages.at += header.compressed as u64;
        if header.kind == DICTIONARY_PAGE {
            // The crate allocates as many values as the header claims.
            let decoded = header.values.saturating_mul(DECODED_VALUE);
            found.dictionary = found.dictionary.max(length.saturating_add(decoded));
            continue;
        }
        found.page = found.page.max(length);
        found.values = found.values.saturating_add(header.values);
        found.leaves_prefixes |= header.encoding == DELTA_BYTE_ARRAY;
        row.push_back((length, header.values));
        (bytes, count) = (bytes.saturating_add(length), count.saturating_add(header.values));
        // A batch may begin with the last value of the first page and end with the first one of the last.
        while let Some(&(length, values)) = row.front()
            && row.len() > 2
            && count - values - header.values > BATCH
        {
            row.pop_front();
            (bytes, count) = (bytes - length, count - values);
        }
        found.window = found.window.max(bytes);
    }
    Ok(found)
}

/// The pages of a column, from `at` to `end`.
struct Pages<'a, R> {
    bytes: &'a R,
    at: u64,
    end: u64,
}

impl<R: ChunkReader> Pages<'_, R> {
    /// Reads the next header; `None` for one that cannot be read.
    fn header(&mut self) -> Option<PageHeader> {
        /// Bytes of most headers. Longer ones hold the smallest and the largest text of their page.
        const SHORT: u64 = 1 << 8;
        /// The crate reads no longer ones.
        const LONG: u64 = 1 << 24;
        let mut length = SHORT;
        loop {
            let left = self.end - self.at;
            let window = self.bytes.get_bytes(self.at, length.min(left) as usize).ok()?;
            let mut rest = &window[..];
            if let Some(header) = PageHeader::read(&mut rest) {
                self.at += (window.len() - rest.len()) as u64;
                return Some(header);
            }
            if length >= left.min(LONG) {
                return None;
            }
            length *= 16;
        }
    }
}

/// The type of a dictionary page.
const DICTIONARY_PAGE: i32 = 2;

/// The encoding of byte arrays as the length of what they share with the one before, and the rest.
const DELTA_BYTE_ARRAY: i32 = 7;

/// What matters of a page header.
#[derive(Default)]
struct PageHeader {
    kind: i32,
    uncompressed: usize,
    compressed: usize,
    /// Of a data page or a dictionary.
    values: usize,
    /// Of a data page.
    encoding: i32,
}

impl PageHeader {
    /// Reads a header and leaves `bytes` after it.
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut lengths = [None; 3];
        let mut header = PageHeader::default();
        each_field(bytes, &PAGE, |bytes, id, kind| {
            let (fields, encoding): (&[u8], i16) = match id {
                1..=3 => {
                    lengths[id as usize - 1] = Some(zigzag(varint(bytes)?) as i32);
                    return Some(());
                }
                5 => (&DATA_PAGE, 2),
                7 => (&DICTIONARY, 0),
                8 => (&DATA_PAGE_2, 4),
                _ => return skip(bytes, kind, SKIP_DEPTH),
            };
            each_field(bytes, fields, |bytes, field, kind| {
                if field == 1 {
                    header.values = usize::try_from(zigzag(varint(bytes)?) as i32).ok()?;
                } else if field == encoding {
                    header.encoding = zigzag(varint(bytes)?) as i32;
                } else if kind == STRUCT {
                    each_field(bytes, &STATISTICS, |bytes, _, kind| skip(bytes, kind, SKIP_DEPTH))?;
                } else {
                    skip(bytes, kind, SKIP_DEPTH)?;
                }
                Some(())
            })
        })?;
        let [kind, uncompressed, compressed] = lengths;
        header.kind = kind?;
        header.uncompressed = uncompressed?.try_into().ok()?;
        header.compressed = compressed?.try_into().ok()?;
        Some(header)
    }
}

/// Types of the compact protocol.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// The types of the fields of the structs that are visited, from field 1.
const FOOTER: [u8; 7] = [I32, LIST, I64, LIST, LIST, BINARY, LIST];
const ELEMENT_FIELDS: [u8; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, STRUCT];
const PAGE: [u8; 8] = [I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT];
const DATA_PAGE: [u8; 5] = [I32, I32, I32, I32, STRUCT];
const DATA_PAGE_2: [u8; 8] = [I32, I32, I32, I32, I32, I32, FALSE, STRUCT];
const DICTIONARY: [u8; 3] = [I32, I32, FALSE];
const STATISTICS: [u8; 8] = [BINARY, BINARY, I64, I64, BINARY, BINARY, FALSE, FALSE];

/// The deepest nesting of a field that is skipped.
const SKIP_DEPTH: usize = 64;

/// Visits the fields of a struct and leaves `bytes` after it. The crate reads a known field as the type it should have,
/// whatever type it claims, so that another type in `kinds` ends the visit.
fn each_field<'a>(
    bytes: &mut &'a [u8],
    kinds: &[u8],
    mut visit: impl FnMut(&mut &'a [u8], i16, u8) -> Option<()>,
) -> Option<()> {
    let mut id = 0;
    loop {
        let (next, kind) = field(bytes, id)?;
        if kind == STOP {
            return Some(());
        }
        id = next;
        let known = usize::try_from(id).ok().and_then(|id| kinds.get(id.wrapping_sub(1)));
        // Booleans are in the type of their field.
        let claimed = if kind == TRUE { FALSE } else { kind };
        if known.is_some_and(|known| *known != claimed) {
            return None;
        }
        visit(bytes, id, kind)?;
    }
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0u64, 0u32);
    loop {
        let next = byte(bytes)?;
        value |= u64::from(next & 0x7f).wrapping_shl(shift);
        if next & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Number and type of the next field of a struct.
fn field(bytes: &mut &[u8], last: i16) -> Option<(i16, u8)> {
    let head = byte(bytes)?;
    let (delta, kind) = (head >> 4, head & 0x0f);
    if kind == STOP {
        return Some((last, STOP));
    }
    let id = if delta == 0 { zigzag(varint(bytes)?) as i16 } else { last.checked_add(i16::from(delta))? };
    Some((id, kind))
}

/// Number and type of the elements of a list.
fn list(bytes: &mut &[u8]) -> Option<(u64, u8)> {
    let head = byte(bytes)?;
    let count = if head >> 4 == 15 { varint(bytes)? } else { u64::from(head >> 4) };
    Some((count, head & 0x0f))
}

/// Skips a value of a field.
fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let drop_front = |bytes: &mut &[u8], count: usize| {
        *bytes = bytes.get(count..)?;
        Some(())
    };
    // Every element takes a byte at least; booleans, which the crate skips in another way, do not occur in elements.
    let skip_elements = |bytes: &mut &[u8], count: u64, kinds: &[u8]| {
        if count > 0 && kinds.iter().any(|kind| matches!(*kind, STOP | TRUE | FALSE)) {
            return None;
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| skip(bytes, *kind, depth)))
    };
    match kind {
        TRUE | FALSE => Some(()),
        BYTE => drop_front(bytes, 1),
        I16 | I32 | I64 => varint(bytes).map(|_| ()),
        DOUBLE => drop_front(bytes, 8),
        UUID => drop_front(bytes, 16),
        BINARY => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            drop_front(bytes, length)
        }
        LIST | SET => {
            let (count, kind) = list(bytes)?;
            skip_elements(bytes, count, &[kind])
        }
        MAP => {
            let count = varint(bytes)?;
            let kinds = if count > 0 { byte(bytes)? } else { 0 };
            skip_elements(bytes, count, &[kinds >> 4, kinds & 0x0f])
        }
        STRUCT => each_field(bytes, &[], |bytes, _, kind| skip(bytes, kind, depth)),
        _ => None,
    }
}
