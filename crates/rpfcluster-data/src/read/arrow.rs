//! Arrow IPC: the file form (Feather version 2 is the same) and the stream form.

use std::io::Cursor;

use arrow_ipc::reader::{FileReader, StreamReader};

use super::columnar::{Collector, guarded};
use crate::error::{DataError, Result, format};
use crate::frame::Frame;

/// Reads a whole Arrow file or stream.
pub(crate) fn read(bytes: Vec<u8>, source: &str) -> Result<Frame> {
    guarded(source, "Arrow", || {
        let bad =
            |e: &dyn std::fmt::Display| -> DataError { format(source, format!("is no Arrow file: {e}")) };
        if bytes.starts_with(b"FEA1") {
            return Err(format(source, "is Feather version 1; write it anew as version 2"));
        }
        let is_file = bytes.starts_with(b"ARROW1");
        let bytes = Cursor::new(bytes);
        if is_file {
            let reader = FileReader::try_new(bytes, None).map_err(|e| bad(&e))?;
            let mut collector = Collector::new(source, &reader.schema(), 0)?;
            for batch in reader {
                collector.push(&batch.map_err(|e| bad(&e))?)?;
            }
            collector.finish()
        } else {
            let reader = StreamReader::try_new(bytes, None).map_err(|e| bad(&e))?;
            let mut collector = Collector::new(source, &reader.schema(), 0)?;
            for batch in reader {
                collector.push(&batch.map_err(|e| bad(&e))?)?;
            }
            collector.finish()
        }
    })
}
