//! Apache Parquet, through record batches.

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columnar::{Collector, guarded};
use crate::error::{DataError, Result, format};
use crate::frame::Frame;

/// Rows a batch: large enough to forget the overhead, small enough to stay in cache.
const BATCH: usize = 8192;

/// Reads a whole Parquet file.
pub(crate) fn read(bytes: Vec<u8>, source: &str) -> Result<Frame> {
    guarded(source, "Parquet", || {
        let bad =
            |e: &dyn std::fmt::Display| -> DataError { format(source, format!("is no Parquet file: {e}")) };
        if !bytes.starts_with(b"PAR1") {
            return Err(bad(&"it does not begin with PAR1"));
        }
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|e| bad(&e))?;
        let rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mut collector = Collector::new(source, builder.schema(), rows)?;
        for batch in builder.with_batch_size(BATCH).build().map_err(|e| bad(&e))? {
            collector.push(&batch.map_err(|e| bad(&e))?)?;
        }
        collector.finish()
    })
}
