//! The most that compressed data can expand to, by codec. Lengths that a file claims are checked against it before the
//! crates that decompress allocate them.

/// A codec of Parquet pages or Arrow buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    /// A copy of 64 bytes takes three.
    #[cfg(feature = "parquet")]
    Snappy,
    /// A match of 258 bytes takes two bits.
    #[cfg(feature = "parquet")]
    Gzip,
    /// A byte of the length of a match stands for 255 bytes.
    Lz4,
    /// A block of four bytes (RFC 8878: a header of three and one to repeat) stands for 128 KiB.
    Zstd,
    /// As it is, or not known here.
    #[cfg(feature = "parquet")]
    None,
}

impl Codec {
    /// The largest length that `compressed` bytes can have, with room for headers.
    pub fn most(self, compressed: usize) -> usize {
        let (factor, block) = match self {
            #[cfg(feature = "parquet")]
            Codec::Snappy => (64, 1 << 10),
            #[cfg(feature = "parquet")]
            Codec::Gzip => (1032, 1 << 10),
            Codec::Lz4 => (256, 1 << 10),
            Codec::Zstd => (1 << 15, 1 << 17),
            #[cfg(feature = "parquet")]
            Codec::None => (1, 0),
        };
        compressed.saturating_mul(factor).saturating_add(block)
    }
}
