//! Checks the lengths that an Arrow file claims before arrow-ipc allocates them: the footer, the blocks, the
//! uncompressed length of every buffer, and the rows of every batch.
//!
//! arrow-ipc trusts these numbers, and an allocation that fails ends the process. Every message is visited once; no
//! data are decompressed.

use arrow_ipc::{Block, CompressionType, MessageHeader, RecordBatch, root_as_footer, root_as_message};

use super::compression::Codec;
use crate::error::{Result, format};
use crate::memory::Budget;

/// Marks the begin of a message, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes before a compressed buffer: its uncompressed length.
const PREFIX: usize = 8;

/// Checks a file, which lists its messages in a footer, or a stream of messages. Spends what decoding takes besides the
/// table: the dictionaries, and the largest batch.
pub(crate) fn check(bytes: &[u8], is_file: bool, source: &str, budget: &Budget) -> Result<()> {
    let mut sizes = Sizes { source, dictionaries: 0, largest: 0 };
    if is_file {
        sizes.file(bytes)?
    } else {
        sizes.stream(bytes)?
    }
    budget.spend(sizes.dictionaries.saturating_add(sizes.largest))
}

struct Sizes<'a> {
    source: &'a str,
    /// Bytes of all dictionaries.
    dictionaries: usize,
    /// Bytes of the largest batch.
    largest: usize,
}

impl Sizes<'_> {
    fn damaged(&self, problem: &str) -> crate::error::DataError {
        format(self.source, format!("is not an Arrow file: {problem}"))
    }

    /// Visits the blocks of the footer. Those outside of the file are errors, since arrow-ipc allocates before it reads.
    fn file(&mut self, bytes: &[u8]) -> Result<()> {
        let cut = || self.damaged("it does not end with a footer; it is cut short");
        let (body, end) = bytes.split_last_chunk::<10>().ok_or_else(cut)?;
        let [a, b, c, d, magic @ ..] = *end;
        let length = usize::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| cut())?;
        if magic != *b"ARROW1" || length > body.len() {
            return Err(cut());
        }
        let footer = root_as_footer(&body[body.len() - length..])
            .map_err(|_| self.damaged("its footer cannot be read"))?;
        let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
        for block in blocks {
            self.block(bytes, block)?;
        }
        Ok(())
    }

    fn block(&mut self, bytes: &[u8], block: &Block) -> Result<()> {
        let part = || {
            let offset = usize::try_from(block.offset()).ok()?;
            let (meta, body) =
                bytes.get(offset..)?.split_at_checked(block.metaDataLength().try_into().ok()?)?;
            Some((meta, body.get(..usize::try_from(block.bodyLength()).ok()?)?))
        };
        let (meta, body) = part().ok_or_else(|| self.damaged("a part of it lies outside of the file"))?;
        let meta = match meta.strip_prefix(&CONTINUATION) {
            Some(rest) => rest.get(4..),
            None => meta.get(4..),
        };
        self.message(meta.ok_or_else(|| self.damaged("a message is cut short"))?, body).map(|_| ())
    }

    /// Visits messages one after another. A message that is cut short ends the walk: the stream reader allocates no more
    /// than there is and reports it.
    fn stream(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let length = i32::from_le_bytes(*length);
            let Some((meta, tail)) = usize::try_from(length).ok().and_then(|l| tail.split_at_checked(l))
            else {
                break;
            };
            if meta.is_empty() {
                break;
            }
            let used = self.message(meta, tail)?;
            let Some(next) = tail.get(used..) else { break };
            rest = next.strip_prefix(&CONTINUATION).unwrap_or(next);
        }
        Ok(())
    }

    /// Checks one message; returns the length of its body, which is at the front of `body`.
    fn message(&mut self, meta: &[u8], body: &[u8]) -> Result<usize> {
        let message = root_as_message(meta).map_err(|_| self.damaged("a message cannot be read"))?;
        let length =
            usize::try_from(message.bodyLength()).map_err(|_| self.damaged("a length is negative"))?;
        match message.header_type() {
            MessageHeader::RecordBatch => {
                if let Some(batch) = message.header_as_record_batch() {
                    self.largest = self.largest.max(self.batch(&batch, body)?);
                }
            }
            MessageHeader::DictionaryBatch => {
                if let Some(batch) = message.header_as_dictionary_batch().and_then(|d| d.data()) {
                    self.dictionaries = self.dictionaries.saturating_add(self.batch(&batch, body)?);
                }
            }
            _ => {}
        }
        Ok(length)
    }

    /// Checks a batch; returns its length in memory, the compressed bytes included.
    fn batch(&self, batch: &RecordBatch<'_>, body: &[u8]) -> Result<usize> {
        let codec = batch.compression().map(|compression| match compression.codec() {
            CompressionType::LZ4_FRAME => Codec::Lz4,
            _ => Codec::Zstd,
        });
        let mut total = 0usize;
        for buffer in batch.buffers().into_iter().flatten() {
            let range = || {
                let (offset, length) = (buffer.offset().try_into().ok()?, buffer.length().try_into().ok()?);
                body.get(offset..)?.get(..length)
            };
            // Buffers of length 0 may lie anywhere.
            let stored: &[u8] = match range() {
                Some(stored) => stored,
                None if buffer.length() == 0 => &[],
                None => return Err(self.damaged("a buffer lies outside of its batch")),
            };
            total = total.saturating_add(stored.len());
            let (Some(codec), Some((claim, data))) = (codec, stored.split_first_chunk::<PREFIX>()) else {
                continue;
            };
            // -1 means that the buffer is not compressed.
            let claim = usize::try_from(i64::from_le_bytes(*claim)).unwrap_or(0);
            if claim > codec.most(data.len()) {
                let problem =
                    format!("{} compressed bytes claim to be {claim}; the file is damaged", data.len());
                return Err(self.damaged(&problem));
            }
            total = total.saturating_add(claim);
        }
        // The smallest cells are bits.
        if batch.length() > 0 && batch.length() as u64 > (total as u64).saturating_mul(8).saturating_add(64) {
            let problem = format!("it claims {} rows in {total} bytes; the file is damaged", batch.length());
            return Err(self.damaged(&problem));
        }
        Ok(total)
    }
}
