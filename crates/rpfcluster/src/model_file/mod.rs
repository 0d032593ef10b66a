//! The model file: a container of named sections with checksums. Each owner encodes its own sections.
//!
//! Layout (little-endian, docs/reference/model-format.md): a 64-byte header, a table of sections, then the sections,
//! each beginning at a multiple of 64 bytes so that arrays can be mapped into memory as they are. A CRC-32 (IEEE 802.3)
//! covers header and table, and another one each section. A file that is cut short, altered or of a newer version is
//! rejected with one sentence. Writing reads the data twice, first for the checksums, and copies them block by block.

use std::io::{Read, Write};
use std::path::Path;

use crate::atomic_file;
use crate::error::{Error, Result, damaged};
use crate::observe::{Observer, check};

/// First bytes of every model file.
pub const MAGIC: [u8; 8] = *b"RPFMODEL";
/// The newest version this library writes and reads. A file has the oldest version that describes it.
pub const VERSION: u32 = 2;
/// Alignment of the sections in bytes: a cache line, which suits every element type.
const ALIGN: usize = 64;
/// Bytes of the header; 28 are used, the rest are zeros.
const HEADER: usize = 64;
/// Bytes of an entry of the table: name, offset, length, checksum and four zeros.
const ENTRY: usize = 32;
/// Bytes read, or passed to a checksum, between two checks for cancellation: milliseconds even on a slow disk.
const CHUNK: usize = 1 << 20;

/// A part of a section, borrowed from where it lives.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// As they are.
    Bytes(&'a [u8]),
    /// Little-endian.
    U32(&'a [u32]),
    /// Little-endian.
    F32(&'a [f32]),
    /// Little-endian.
    F64(&'a [f64]),
}

impl Piece<'_> {
    fn bytes(&self) -> usize {
        match self {
            Piece::Bytes(b) => b.len(),
            Piece::U32(v) => v.len() * 4,
            Piece::F32(v) => v.len() * 4,
            Piece::F64(v) => v.len() * 8,
        }
    }

    /// Passes the little-endian bytes to `sink` in blocks, without a second copy of a large array.
    fn each(&self, sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        fn numbers<T: Copy, const W: usize>(
            values: &[T],
            bytes: impl Fn(T) -> [u8; W],
            sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
        ) -> std::io::Result<()> {
            let mut buffer = Vec::with_capacity(4096 * W);
            for chunk in values.chunks(4096) {
                buffer.clear();
                chunk.iter().for_each(|&v| buffer.extend_from_slice(&bytes(v)));
                sink(&buffer)?;
            }
            Ok(())
        }
        match self {
            Piece::Bytes(b) => b.chunks(CHUNK).try_for_each(sink),
            Piece::U32(v) => numbers(v, u32::to_le_bytes, sink),
            Piece::F32(v) => numbers(v, f32::to_le_bytes, sink),
            Piece::F64(v) => numbers(v, f64::to_le_bytes, sink),
        }
    }
}

/// Sections to be written, in order.
#[derive(Debug)]
pub struct Sections<'a> {
    list: Vec<([u8; 8], Vec<Piece<'a>>)>,
    version: u32,
}

impl Default for Sections<'_> {
    fn default() -> Self {
        Sections { list: Vec::new(), version: 1 }
    }
}

impl<'a> Sections<'a> {
    /// Adds a section; a name has at most eight bytes.
    pub fn add(&mut self, name: &str, pieces: Vec<Piece<'a>>) {
        self.list.push((tag(name), pieces));
    }

    /// States that readers of versions below `version` would misunderstand the file.
    pub fn require(&mut self, version: u32) {
        self.version = self.version.max(version);
    }

    /// Whether a section of this name was added.
    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|(n, _)| *n == tag(name))
    }

    /// Writes the whole file.
    pub fn write(&self, out: &mut dyn Write, observer: &dyn Observer) -> Result<()> {
        let written = self.write_checked(out, observer);
        check(observer)?;
        written.map_err(|e| Error::System { what: "writing the model".into(), problem: e.to_string() })
    }

    fn write_checked(&self, out: &mut dyn Write, observer: &dyn Observer) -> std::io::Result<()> {
        let go_on = || check(observer).map_err(std::io::Error::other);
        let mut offset = (HEADER + ENTRY * self.list.len()).next_multiple_of(ALIGN);
        let mut table = Vec::with_capacity(ENTRY * self.list.len());
        for (name, pieces) in &self.list {
            let mut crc = crc32fast::Hasher::new();
            for piece in pieces {
                piece.each(&mut |bytes| {
                    crc.update(bytes);
                    go_on()
                })?;
            }
            let length: usize = pieces.iter().map(Piece::bytes).sum();
            table.extend_from_slice(name);
            table.extend_from_slice(&(offset as u64).to_le_bytes());
            table.extend_from_slice(&(length as u64).to_le_bytes());
            table.extend_from_slice(&crc.finalize().to_le_bytes());
            table.extend_from_slice(&[0; 4]);
            offset = (offset + length).next_multiple_of(ALIGN);
        }
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&self.version.to_le_bytes());
        header.extend_from_slice(&(self.list.len() as u32).to_le_bytes());
        header.extend_from_slice(&(offset as u64).to_le_bytes());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        crc.update(&table);
        header.extend_from_slice(&crc.finalize().to_le_bytes());
        header.resize(HEADER, 0);
        out.write_all(&header)?;
        out.write_all(&table)?;
        let mut at = HEADER + table.len();
        let pad = |out: &mut dyn Write, at: &mut usize| {
            let zeros = at.next_multiple_of(ALIGN) - *at;
            *at += zeros;
            out.write_all(&[0; ALIGN][..zeros])
        };
        pad(out, &mut at)?;
        for (_, pieces) in &self.list {
            for piece in pieces {
                piece.each(&mut |bytes| {
                    go_on()?;
                    out.write_all(bytes)
                })?;
                at += piece.bytes();
            }
            pad(out, &mut at)?;
        }
        Ok(())
    }

    /// Writes the file atomically. A cancelled or failed write leaves the old file in place; a device or a pipe is
    /// written directly.
    pub fn save(&self, path: &Path, observer: &dyn Observer) -> Result<()> {
        let failed = |e: std::io::Error| Error::System {
            what: format!("writing {}", path.display()),
            problem: e.to_string(),
        };
        let written = atomic_file::replace(path, |out| self.write_checked(out, observer));
        if written.is_err() {
            check(observer)?;
        }
        written.map_err(failed)
    }
}

fn tag(name: &str) -> [u8; 8] {
    let mut tag = [0; 8];
    let length = name.len().min(8);
    tag[..length].copy_from_slice(&name.as_bytes()[..length]);
    tag
}

fn unreadable(problem: impl Into<String>) -> Error {
    Error::Model { problem: problem.into() }
}

/// The checked bytes of a model file.
#[derive(Debug)]
pub struct Container<'a> {
    /// Version of the format of the file.
    pub version: u32,
    bytes: &'a [u8],
    table: Vec<([u8; 8], usize, usize)>,
}

impl<'a> Container<'a> {
    /// Checks the header, the table and every checksum.
    pub fn parse(bytes: &'a [u8], observer: &dyn Observer) -> Result<Self> {
        let whole = |from: usize, length: usize| bytes.get(from..from.checked_add(length)?);
        if bytes.len() < 8 || bytes[..8] != MAGIC {
            return Err(unreadable("is not an rpf model file"));
        }
        let cut = || unreadable(format!("is cut short: only {} bytes are there", bytes.len()));
        let header = whole(0, HEADER).ok_or_else(cut)?;
        let version = number(header, 8, 4);
        if version > u64::from(VERSION) || version == 0 {
            return Err(unreadable(format!(
                "has format version {version}, but this program reads versions 1 to {VERSION}; use a newer rpf"
            )));
        }
        let sections = number(header, 12, 4) as usize;
        let length = number(header, 16, 8);
        if (bytes.len() as u64) < length {
            return Err(unreadable(format!("is cut short: {} of {length} bytes are there", bytes.len())));
        }
        if bytes.len() as u64 > length {
            return Err(unreadable("was altered: bytes follow its end"));
        }
        let entries = sections.checked_mul(ENTRY).and_then(|l| whole(HEADER, l)).ok_or_else(cut)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header[..24]);
        crc.update(entries);
        if u64::from(crc.finalize()) != number(header, 24, 4) {
            return Err(unreadable("was altered: the checksum of its header does not fit"));
        }
        let mut table = Vec::with_capacity(sections);
        for entry in entries.chunks_exact(ENTRY) {
            let mut name = [0; 8];
            name.copy_from_slice(&entry[..8]);
            let (from, length) = (number(entry, 8, 8) as usize, number(entry, 16, 8) as usize);
            let content = whole(from, length).ok_or_else(cut)?;
            let mut crc = crc32fast::Hasher::new();
            for chunk in content.chunks(CHUNK) {
                check(observer)?;
                crc.update(chunk);
            }
            if u64::from(crc.finalize()) != number(entry, 24, 4) {
                return Err(unreadable(format!(
                    "was altered: the checksum of section {} does not fit",
                    shown(&name)
                )));
            }
            table.push((name, from, length));
        }
        Ok(Container { version: version as u32, bytes, table })
    }

    /// Whether the section is there.
    pub fn has(&self, name: &str) -> bool {
        self.table.iter().any(|(n, ..)| *n == tag(name))
    }

    /// Names and lengths of the sections.
    pub fn sections(&self) -> Vec<(String, usize)> {
        self.table.iter().map(|(name, _, length)| (shown(name), *length)).collect()
    }

    /// A section's bytes.
    pub fn section(&self, name: &str) -> Result<&'a [u8]> {
        let found = self.table.iter().find(|(n, ..)| *n == tag(name));
        let &(_, from, length) = found.ok_or_else(|| unreadable(format!("has no section {name}")))?;
        Ok(&self.bytes[from..from + length])
    }

    /// A section of numbers.
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        self.numbers(name, u32::from_le_bytes)
    }

    /// A section of numbers.
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>> {
        self.numbers(name, f32::from_le_bytes)
    }

    /// A section of numbers.
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>> {
        self.numbers(name, f64::from_le_bytes)
    }

    fn numbers<T, const W: usize>(&self, name: &str, decode: impl Fn([u8; W]) -> T) -> Result<Vec<T>> {
        let (numbers, rest) = self.section(name)?.as_chunks::<W>();
        if !rest.is_empty() {
            return Err(damaged(format!("section {name} ends within a number")));
        }
        Ok(numbers.iter().map(|&bytes| decode(bytes)).collect())
    }
}

fn number(bytes: &[u8], from: usize, width: usize) -> u64 {
    bytes[from..from + width].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn shown(name: &[u8; 8]) -> String {
    String::from_utf8_lossy(name).trim_end_matches('\0').to_string()
}

/// Reads a file in full, or as much as shows that it is no model: an endless device is not read to its end.
pub fn read(path: &Path, observer: &dyn Observer) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::System {
        what: format!("reading {}", path.display()),
        problem: e.to_string(),
    };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_or(0, |m| m.len() as usize);
    let mut bytes = Vec::new();
    // The first bytes tell whether more are worth their memory.
    (&mut file).take(HEADER as u64).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() < HEADER || !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    let claimed = number(&bytes, 16, 8);
    let no_room =
        |_| Error::System { what: format!("reading {}", path.display()), problem: "no memory for it".into() };
    bytes.try_reserve_exact(size.saturating_sub(HEADER)).map_err(no_room)?;
    // A longer file differs from its header after one byte more.
    while bytes.len() as u64 <= claimed {
        check(observer)?;
        if (&mut file).take(CHUNK as u64).read_to_end(&mut bytes).map_err(failed)? == 0 {
            break;
        }
    }
    Ok(bytes)
}
