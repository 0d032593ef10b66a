//! Checks the lengths that the page headers of a Parquet file claim before the parquet crate allocates them.
//!
//! A page header is a struct in Thrift's compact protocol: its first three fields are the type of the page and its
//! uncompressed and compressed length; the number of its values is in a struct of a later field. The crate does not show
//! headers before it has decompressed the page, so they are read here; the rest of a header is skipped. A header that cannot
//! be read ends the walk: the crate reports it.

use std::io::Read;

use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::compression::Codec;
use crate::error::{Result, format};
use crate::memory::Budget;

/// Checks every page; spends the memory of the largest one of every column, which are held at once, and for the stored
/// columns in `lists` that of their values.
pub(crate) fn check(
    bytes: &impl ChunkReader,
    file: &ParquetMetaData,
    lists: &[usize],
    source: &str,
    budget: &Budget,
) -> Result<()> {
    let mut most = 0;
    for group in file.row_groups() {
        let mut held = 0usize;
        for (at, column) in group.columns().iter().enumerate() {
            let codec = match column.compression() {
                Compression::SNAPPY => Codec::Snappy,
                Compression::GZIP(_) => Codec::Gzip,
                Compression::LZ4 | Compression::LZ4_RAW => Codec::Lz4,
                Compression::ZSTD(_) => Codec::Zstd,
                _ => Codec::None,
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
            let (page, values) = largest(Pages { bytes, at: start, end }, codec, source, budget)?;
            held = held.saturating_add(page);
            if lists.contains(&at) {
                // One list may hold all values of the column: two levels of two bytes and a number for each.
                held = held.saturating_add(values.saturating_mul(LIST_VALUE));
            }
        }
        most = most.max(held);
    }
    budget.spend(most)
}

/// Bytes of a value of a list while it is decoded.
const LIST_VALUE: usize = 12;

/// The memory of the dictionary and of the largest page of a column, and the number of its values.
fn largest<R: ChunkReader>(
    mut pages: Pages<'_, R>,
    codec: Codec,
    source: &str,
    budget: &Budget,
) -> Result<(usize, usize)> {
    let (mut largest, mut dictionary, mut values) = (0, 0, 0usize);
    while let Some(header) = pages.header() {
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
            // A value of the decoded dictionary takes up to four times as much as its bytes.
            dictionary = length.saturating_mul(5);
        } else {
            largest = largest.max(length);
            values = values.saturating_add(header.values);
        }
    }
    Ok((largest.saturating_add(dictionary), values))
}

/// The pages of a column, from `at` to `end`.
struct Pages<'a, R> {
    bytes: &'a R,
    at: u64,
    end: u64,
}

impl<R: ChunkReader> Pages<'_, R> {
    /// Reads the next header; `None` at the end, and for one that cannot be read.
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

/// The first fields of a page header.
struct PageHeader {
    kind: i32,
    uncompressed: usize,
    compressed: usize,
    /// Of a data page.
    values: usize,
}

impl PageHeader {
    /// Reads a header and leaves `bytes` after it.
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut fields = [None; 3];
        let (mut id, mut values) = (0, 0);
        loop {
            let (next, kind) = field(bytes, id)?;
            if kind == STOP {
                break;
            }
            id = next;
            match usize::try_from(id).ok().and_then(|id| fields.get_mut(id.wrapping_sub(1))) {
                Some(value) => *value = Some(zigzag(varint(bytes)?) as i32),
                None => {
                    if DATA_PAGES.contains(&id) && kind == STRUCT {
                        // Field 1 of both versions of the struct.
                        let mut inside = *bytes;
                        if let (1, I32) = field(&mut inside, 0)? {
                            values = usize::try_from(zigzag(varint(&mut inside)?)).ok()?;
                        }
                    }
                    skip(bytes, kind, SKIP_DEPTH)?;
                }
            }
        }
        let [kind, uncompressed, compressed] = fields;
        Some(PageHeader {
            kind: kind?,
            uncompressed: uncompressed?.try_into().ok()?,
            compressed: compressed?.try_into().ok()?,
            values,
        })
    }
}

/// The fields that describe a data page of version 1 and of version 2.
const DATA_PAGES: [i16; 2] = [5, 8];

/// Types of the compact protocol.
const STOP: u8 = 0;
const I32: u8 = 5;
const STRUCT: u8 = 12;

/// The deepest nesting of a field that is skipped.
const SKIP_DEPTH: usize = 64;

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
    let id = if delta == 0 { zigzag(varint(bytes)?) as i16 } else { last.wrapping_add(i16::from(delta)) };
    Some((id, kind))
}

/// Skips a value of a field.
fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut drop_front = |count: usize| {
        *bytes = bytes.get(count..)?;
        Some(())
    };
    match kind {
        // Booleans are in the type of their field.
        1 | 2 => Some(()),
        3 => drop_front(1),
        4..=6 => varint(bytes).map(|_| ()),
        7 => drop_front(8),
        8 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            *bytes = bytes.get(length..)?;
            Some(())
        }
        9 | 10 => {
            let head = byte(bytes)?;
            let count = if head >> 4 == 15 { varint(bytes)? } else { u64::from(head >> 4) };
            let kind = head & 0x0f;
            // In a list a boolean takes a byte.
            (0..count).try_for_each(|_| skip(bytes, if kind <= 2 { 3 } else { kind }, depth))
        }
        12 => loop {
            let (_, kind) = field(bytes, 0)?;
            if kind == STOP {
                return Some(());
            }
            skip(bytes, kind, depth)?;
        },
        _ => None,
    }
}
