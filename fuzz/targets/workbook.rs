//! Workbooks of Excel: an archive of XML, in which hardly a change would survive the checksums. The bytes are therefore the parts,
//! one after another with a zero byte between, and the archive is made here.

use rpfcluster_data::{Format, read_frame_bytes};

use super::archive::archive;
use super::readers;

/// A workbook of parts that are separated by zero bytes.
pub fn workbook(bytes: &[u8]) {
    readers::check_frame(read_frame_bytes(archive(bytes), "x", &readers::options(Some(Format::Excel))));
}
