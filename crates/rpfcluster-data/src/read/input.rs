//! The bytes of a file or of standard input, decompressed as they are read.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{DataError, Result, file, format};
use crate::memory::Budget;

/// Bytes by which formats are told apart.
const HEAD: usize = 1 << 16;

/// An opened file or standard input.
pub(crate) struct Input {
    source: String,
    /// The first bytes, as far as they are not read yet.
    head: Vec<u8>,
    rest: Box<dyn Read + Send>,
    is_gzip: bool,
    /// The file, where it can be read at any place and is not compressed.
    pub plain: Option<File>,
    /// Where that file is.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "SQLite opens the file itself"))]
    pub path: Option<PathBuf>,
}

impl Input {
    /// Opens a file; the path `-` is standard input.
    pub fn open(path: &Path) -> Result<Self> {
        let source = super::name(path);
        if path.as_os_str() == "-" {
            return Input::new(source, Box::new(std::io::stdin()), None);
        }
        if path.is_dir() {
            return Err(DataError::File { path: source, problem: "is a folder, not a file".into() });
        }
        let opened = File::open(path).map_err(|e| file(path, &e))?;
        let is_regular = opened.metadata().is_ok_and(|found| found.is_file());
        // A handle with a position of its own.
        let plain = if is_regular { Some(File::open(path).map_err(|e| file(path, &e))?) } else { None };
        let input = Input::new(source, Box::new(opened), plain)?;
        let path = input.plain.is_some().then(|| path.to_path_buf());
        Ok(Input { path, ..input })
    }

    /// Bytes of this name, not gzipped.
    pub fn of_bytes(bytes: Arc<[u8]>, source: &str) -> Self {
        let head = bytes[..bytes.len().min(HEAD)].to_vec();
        let mut rest = std::io::Cursor::new(bytes);
        rest.set_position(head.len() as u64);
        Input {
            source: source.to_string(),
            head,
            rest: Box::new(rest),
            is_gzip: false,
            plain: None,
            path: None,
        }
    }

    /// Text of this name, which is in memory.
    pub fn of_text(text: Vec<u8>, source: String) -> Self {
        let rest = Box::new(std::io::Cursor::new(text));
        Input { source, head: Vec::new(), rest, is_gzip: false, plain: None, path: None }
    }

    fn new(source: String, mut rest: Box<dyn Read + Send>, plain: Option<File>) -> Result<Self> {
        let mut head = Vec::new();
        (&mut rest).take(HEAD as u64).read_to_end(&mut head).map_err(|e| file(&source, &e))?;
        // No other format begins with these two bytes.
        if !head.starts_with(&[0x1f, 0x8b]) {
            return Ok(Input { source, head, rest, is_gzip: false, plain, path: None });
        }
        let unpacked = Gzip::new(Box::new(std::io::Cursor::new(head).chain(rest)), &source);
        let mut input = Input {
            source,
            head: Vec::new(),
            rest: Box::new(unpacked),
            is_gzip: true,
            plain: None,
            path: None,
        };
        let mut head = Vec::new();
        (&mut input.rest).take(HEAD as u64).read_to_end(&mut head).map_err(|e| input.failed(&e))?;
        input.head = head;
        Ok(input)
    }

    /// The name of the input in messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The first bytes; all of a short input.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The length of a plain file.
    pub fn length(&self) -> Option<u64> {
        self.plain.as_ref().and_then(|plain| plain.metadata().ok()).map(|found| found.len())
    }

    /// Appends `most` bytes, or fewer at the end; returns how many.
    pub fn read_some(&mut self, to: &mut Vec<u8>, most: usize, budget: &Budget) -> Result<usize> {
        let read = budget.read_some(self, to, most)?;
        read.map_err(|e| of_io(&self.source, &e))
    }

    /// Puts bytes back in front.
    pub fn unread(&mut self, mut bytes: Vec<u8>) {
        bytes.append(&mut self.head);
        self.head = bytes;
    }

    /// All bytes that are left.
    pub fn read_all(mut self, budget: &Budget) -> Result<Vec<u8>> {
        let expected = self.length().map_or(self.head.len(), |l| usize::try_from(l).unwrap_or(usize::MAX));
        let read = budget.read_to_end(&mut self, expected)?;
        read.map_err(|e| of_io(&self.source, &e))
    }

    fn failed(&self, error: &std::io::Error) -> DataError {
        if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<DataError>()) {
            return ours.clone();
        }
        match error.kind() {
            _ if !self.is_gzip => file(&self.source, error),
            ErrorKind::UnexpectedEof => {
                format(&self.source, "the gzip data ends early; the file is cut short")
            }
            _ => format(&self.source, format!("the gzip data is damaged ({error})")),
        }
    }
}

impl Read for Input {
    /// An error holds a [`DataError`] that names the input.
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if !self.head.is_empty() {
            let many = out.len().min(self.head.len());
            out[..many].copy_from_slice(&self.head[..many]);
            self.head.drain(..many);
            return Ok(many);
        }
        self.rest.read(out).map_err(|e| match e.kind() {
            ErrorKind::Interrupted => e,
            _ => std::io::Error::other(self.failed(&e)),
        })
    }
}

/// The members of a gzip file, one after another, and zeros after them, with which tapes are filled up.
struct Gzip {
    source: String,
    /// The member at hand; none after the last.
    member: Option<Member>,
}

type Member = flate2::bufread::GzDecoder<BufReader<Box<dyn Read + Send>>>;

impl Gzip {
    fn new(packed: Box<dyn Read + Send>, source: &str) -> Self {
        let member = Member::new(BufReader::new(packed));
        Gzip { source: source.to_string(), member: Some(member) }
    }

    /// An error if what follows the last member are not zeros.
    fn end(&self, mut packed: BufReader<Box<dyn Read + Send>>) -> std::io::Result<()> {
        /// Input may have no end.
        const COUNTED: u64 = 1 << 24;
        let (mut count, mut is_zero) = (0, true);
        loop {
            let part = packed.fill_buf()?;
            if part.is_empty() && is_zero {
                return Ok(());
            }
            if part.is_empty() || count > COUNTED {
                let over = if part.is_empty() { "" } else { "over " };
                let problem = format!("has {over}{count} bytes after the end of the gzip data; remove them");
                return Err(std::io::Error::other(format(&self.source, problem)));
            }
            is_zero &= part.iter().all(|byte| *byte == 0);
            let length = part.len();
            count += length as u64;
            packed.consume(length);
        }
    }
}

impl Read for Gzip {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while let Some(member) = &mut self.member
            && !out.is_empty()
        {
            let many = member.read(out)?;
            if many > 0 {
                return Ok(many);
            }
            let Some(member) = self.member.take() else { break };
            let mut packed = member.into_inner();
            // The first byte of a member.
            if packed.fill_buf()?.first() == Some(&0x1f) {
                self.member = Some(Member::new(packed));
            } else {
                self.end(packed)?;
            }
        }
        Ok(0)
    }
}

/// The error of a reader, which may hold one of ours.
pub(crate) fn of_io(source: &str, error: &std::io::Error) -> DataError {
    let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<DataError>());
    ours.cloned().unwrap_or_else(|| file(source, error))
}
