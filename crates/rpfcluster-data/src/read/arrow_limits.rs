//! Checks the lengths that an Arrow file claims before arrow-ipc allocates them: the footer, the blocks, the
//! uncompressed length of every buffer, and the rows of every batch.
//!
//! arrow-ipc trusts these numbers, and an allocation that fails ends the process. Every message is visited once: those of a
//! file before it is read, those of a stream as they come. No data are decompressed.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::{Block, CompressionType, MessageHeader, RecordBatch, root_as_footer, root_as_message};

use super::compression::Codec;
use super::input::of_io;
use crate::error::{DataError, Result, format};
use crate::memory::Budget;

/// Marks the begin of a message, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes at the end of a file: the length of the footer and a magic number.
const END: u64 = 10;

/// Bytes before a compressed buffer: its uncompressed length.
const PREFIX: usize = 8;

/// The lengths of messages.
pub(crate) struct Sizes {
    source: String,
    budget: Budget,
    /// Bytes of the largest batch.
    largest: usize,
}

/// Checks a file, which lists its messages in a footer, without reading its data. Spends what decoding takes besides the table:
/// the dictionaries, and the largest batch.
pub(crate) fn check_file(reader: &mut (impl Read + Seek), source: &str, budget: &Budget) -> Result<()> {
    let mut sizes = Sizes::new(source, budget);
    sizes.file(reader)?;
    sizes.budget.spend(sizes.largest)
}

/// A stream of messages that checks each one before it hands out its bytes, as errors that hold ours. Spends the bytes of a
/// message and what decoding it takes.
pub(crate) struct CheckedStream<R> {
    reader: R,
    sizes: Sizes,
    /// The message at hand, and how much of it is handed out.
    message: Vec<u8>,
    given: usize,
}

impl<R: Read> CheckedStream<R> {
    /// Of a stream of this name.
    pub fn new(reader: R, source: &str, budget: &Budget) -> Self {
        CheckedStream { reader, sizes: Sizes::new(source, budget), message: Vec::new(), given: 0 }
    }

    /// Reads the next message. One that is cut short is handed out as it is, and the stream reader reports it.
    fn next(&mut self) -> Result<()> {
        self.message.clear();
        self.given = 0;
        let mut meta = 0;
        if self.read(4)? == 4 && self.message == CONTINUATION {
            meta = 4;
            self.read(4)?;
        }
        let Some(length) = self.message.get(meta..).and_then(|rest| rest.first_chunk::<4>()) else {
            return Ok(());
        };
        let length = usize::try_from(i32::from_le_bytes(*length)).unwrap_or(0);
        if length == 0 || self.read(length)? < length {
            return Ok(());
        }
        let meta = meta + 4;
        let body = self.sizes.body_length(&self.message[meta..])?;
        self.read(body)?;
        let (meta, body) = self.message[meta..].split_at(length);
        let bytes = |at: usize| body.get(at..)?.first_chunk::<PREFIX>().copied();
        let before = self.sizes.largest;
        self.sizes.message(meta, body.len(), bytes)?;
        self.sizes.budget.spend(self.sizes.largest - before)
    }

    fn read(&mut self, most: usize) -> Result<usize> {
        let read = self.sizes.budget.read_some(&mut self.reader, &mut self.message, most)?;
        read.map_err(|e| of_io(&self.sizes.source, &e))
    }
}

impl<R: Read> Read for CheckedStream<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.given == self.message.len() {
            self.next().map_err(std::io::Error::other)?;
        }
        let many = out.len().min(self.message.len() - self.given);
        out[..many].copy_from_slice(&self.message[self.given..][..many]);
        self.given += many;
        Ok(many)
    }
}

impl Sizes {
    fn new(source: &str, budget: &Budget) -> Self {
        Sizes { source: source.to_string(), budget: budget.clone(), largest: 0 }
    }

    fn damaged(&self, problem: &str) -> DataError {
        format(&self.source, format!("is not an Arrow file: {problem}"))
    }

    /// Visits the blocks of the footer. Those outside of the file are errors, since arrow-ipc allocates before it reads.
    fn file(&mut self, reader: &mut (impl Read + Seek)) -> Result<()> {
        let cut = || self.damaged("it does not end with a footer; it is cut short");
        let end = reader.seek(SeekFrom::End(0)).map_err(|e| of_io(&self.source, &e))?;
        let body = end.checked_sub(END).ok_or_else(cut)?;
        let [a, b, c, d, magic @ ..] = array_at::<{ END as usize }>(reader, body).ok_or_else(cut)?;
        let length = u64::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| cut())?;
        if magic != *b"ARROW1" || length > body {
            return Err(cut());
        }
        let footer = self.bytes_at(reader, body - length, length as usize)?.ok_or_else(cut)?;
        let footer = root_as_footer(&footer).map_err(|_| self.damaged("its footer cannot be read"))?;
        for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
            self.block(reader, end, block)?;
        }
        Ok(())
    }

    fn block(&mut self, reader: &mut (impl Read + Seek), end: u64, block: &Block) -> Result<()> {
        let part = || {
            let (offset, meta) =
                (u64::try_from(block.offset()).ok()?, u64::try_from(block.metaDataLength()).ok()?);
            let (body, length) = (offset.checked_add(meta)?, u64::try_from(block.bodyLength()).ok()?);
            (body.checked_add(length)? <= end).then_some((offset, meta as usize, body, length))
        };
        let outside = || self.damaged("a part of it lies outside of the file");
        let (offset, meta, body, length) = part().ok_or_else(outside)?;
        let meta = self.bytes_at(reader, offset, meta)?.ok_or_else(outside)?;
        let message = meta.get(if meta.starts_with(&CONTINUATION) { 8 } else { 4 }..);
        let message = message.ok_or_else(|| self.damaged("a message is cut short"))?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.message(message, length, |at| array_at(reader, body + at as u64))
    }

    fn bytes_at(&self, reader: &mut (impl Read + Seek), at: u64, length: usize) -> Result<Option<Vec<u8>>> {
        self.budget.probe(length)?;
        let mut bytes = Vec::new();
        let read = reader
            .seek(SeekFrom::Start(at))
            .and_then(|_| reader.take(length as u64).read_to_end(&mut bytes))
            .map_err(|e| of_io(&self.source, &e))?;
        Ok((read == length).then_some(bytes))
    }

    /// The length of the body that follows a message.
    fn body_length(&self, meta: &[u8]) -> Result<usize> {
        let message = root_as_message(meta).map_err(|_| self.damaged("a message cannot be read"))?;
        usize::try_from(message.bodyLength()).map_err(|_| self.damaged("a length is negative"))
    }

    /// Checks one message with a body of this length, of which `prefix` reads the first bytes of a buffer. Spends the length of
    /// a dictionary, which is kept.
    fn message(
        &mut self,
        meta: &[u8],
        body: usize,
        prefix: impl FnMut(usize) -> Option<[u8; PREFIX]>,
    ) -> Result<()> {
        let message = root_as_message(meta).map_err(|_| self.damaged("a message cannot be read"))?;
        match message.header_type() {
            MessageHeader::RecordBatch => {
                if let Some(batch) = message.header_as_record_batch() {
                    self.largest = self.largest.max(self.batch(&batch, body, prefix)?);
                }
            }
            MessageHeader::DictionaryBatch => {
                let Some(dictionary) = message.header_as_dictionary_batch() else { return Ok(()) };
                if let Some(batch) = dictionary.data() {
                    let length = self.batch(&batch, body, prefix)?;
                    // What continues a dictionary is copied together with what there was.
                    self.budget.spend_items(length, if dictionary.isDelta() { 2 } else { 1 })?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a batch; returns its length in memory, the compressed bytes included.
    fn batch(
        &self,
        batch: &RecordBatch<'_>,
        body: usize,
        mut prefix: impl FnMut(usize) -> Option<[u8; PREFIX]>,
    ) -> Result<usize> {
        let codec = batch.compression().map(|compression| match compression.codec() {
            CompressionType::LZ4_FRAME => Codec::Lz4,
            _ => Codec::Zstd,
        });
        let mut total = 0usize;
        for buffer in batch.buffers().into_iter().flatten() {
            let range = || {
                let offset = usize::try_from(buffer.offset()).ok()?;
                let length = usize::try_from(buffer.length()).ok()?;
                (offset.checked_add(length)? <= body).then_some((offset, length))
            };
            // Buffers of length 0 may lie anywhere.
            let (offset, stored) = match range() {
                Some(range) => range,
                None if buffer.length() == 0 => (0, 0),
                None => return Err(self.damaged("a buffer lies outside of its batch")),
            };
            total = total.saturating_add(stored);
            let (Some(codec), Some(data)) = (codec, stored.checked_sub(PREFIX)) else { continue };
            let Some(claim) = prefix(offset) else { continue };
            // -1 means that the buffer is not compressed.
            let claim = usize::try_from(i64::from_le_bytes(claim)).unwrap_or(0);
            if claim > codec.most(data) {
                let problem = format!("{data} compressed bytes claim to be {claim}; the file is damaged");
                return Err(self.damaged(&problem));
            }
            total = total.saturating_add(claim);
        }
        // The smallest cells are bits, but those of the type null take nothing.
        let rows = u64::try_from(batch.length()).unwrap_or(0);
        if rows > (total as u64).saturating_mul(8).saturating_add(64) {
            let mut nodes = batch.nodes().into_iter().flatten();
            if nodes.any(|node| node.length() == batch.length() && node.null_count() == batch.length()) {
                self.budget
                    .probe(usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(size_of::<f32>()))?;
                return Ok(total);
            }
            let problem = format!("it claims {} rows in {total} bytes; the file is damaged", batch.length());
            return Err(self.damaged(&problem));
        }
        Ok(total)
    }
}

/// Some bytes of a file; `None` where it is shorter.
fn array_at<const N: usize>(reader: &mut (impl Read + Seek), at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    reader.seek(SeekFrom::Start(at)).and_then(|_| reader.read_exact(&mut bytes)).ok()?;
    Some(bytes)
}
