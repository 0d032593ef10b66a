//! Readers of the data sets that are not plain tables: multi-line records (Robot), labels in a separate file (Madelon),
//! labels derived from two columns (Naval), images in the idx format (MNIST).

use crate::error::{DataError, Place, Result, format};
use crate::frame::{Frame, numbered_names};
use crate::prepare::Prepare;
use crate::read::{Format, ReadOptions, read_frame_bytes, read_labels_bytes};
use crate::table::{Labels, Table, Values};

/// The next file of the set.
fn next_part(parts: &mut impl Iterator<Item = (String, Vec<u8>)>) -> Result<(String, Vec<u8>)> {
    parts.next().ok_or_else(|| format("data set", "a file is not listed"))
}

fn table(source: String, values: Values, d: usize, labels: Labels) -> Table {
    let n = labels.codes.len();
    Table {
        source,
        columns: numbered_names(d),
        keys: Vec::new(),
        has_header: false,
        before: 0,
        n,
        values,
        means: None,
        labels: Some(labels),
        rows: None,
        dialect: None,
    }
}

/// Robot execution failures: a label line, then 15 lines of 6 forces and torques, blank lines between records.
pub(super) fn robot(parts: Vec<(String, Vec<u8>)>) -> Result<Table> {
    let (source, bytes) = next_part(&mut parts.into_iter())?;
    let text = String::from_utf8_lossy(&bytes);
    let mut names = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    let bad = |line: usize, problem: &str| DataError::Row {
        path: source.clone(),
        row: Place { row: line + 1, line: line + 1 },
        problem: problem.to_string(),
    };
    for (at, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        if line.starts_with(char::is_whitespace) {
            let before = values.len();
            for cell in line.split_whitespace() {
                values.push(cell.parse().map_err(|_| bad(at, "expected 6 numbers"))?);
            }
            if values.len() != before + 6 {
                return Err(bad(at, "expected 6 numbers"));
            }
        } else {
            if values.len() != 90 * names.len() {
                return Err(bad(at, "the record above does not have 15 lines"));
            }
            names.push(line.trim().to_string());
        }
    }
    if names.is_empty() || values.len() != 90 * names.len() {
        return Err(format(&source, "the last record does not have 15 lines"));
    }
    Ok(table(source, Values::F64(values), 90, Labels::from_names(&names)))
}

/// Madelon: features in one file, labels in another, same order.
pub(super) fn madelon(parts: Vec<(String, Vec<u8>)>) -> Result<Table> {
    let mut parts = parts.into_iter();
    let (source, bytes) = next_part(&mut parts)?;
    let options = ReadOptions { format: Some(Format::Text), header: Some(false), ..Default::default() };
    let mut table = Prepare::default().fit(read_frame_bytes(bytes, &source, &options)?)?.0;
    let (source, bytes) = next_part(&mut parts)?;
    let labels = read_labels_bytes(bytes, &source, None, &ReadOptions { header: None, ..options })?.labels;
    if labels.codes.len() != table.n {
        return Err(format(&source, format!("{} labels for {} rows", labels.codes.len(), table.n)));
    }
    table.labels = Some(labels);
    Ok(table)
}

/// Naval plants: 1 (requires maintenance) where both decay coefficients lie strictly above their medians, else 0.
pub(super) fn naval(frame: Frame) -> Result<Table> {
    if frame.width() != 18 {
        return Err(format(&frame.source, format!("{} columns, 18 expected", frame.width())));
    }
    let column = |c: usize| -> Vec<f64> { (0..frame.n()).map(|row| frame.number(row, c)).collect() };
    let (compressor, turbine) = (column(16), column(17));
    let (a, b) = (median(&compressor), median(&turbine));
    let labels = Labels::from_names(
        compressor.iter().zip(&turbine).map(|(x, y)| if *x > a && *y > b { "1" } else { "0" }),
    );
    let mut table = Prepare { columns: vec!["1-16".into()], ..Prepare::default() }.fit(frame)?.0;
    table.labels = Some(labels);
    Ok(table)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match (sorted.get(half.wrapping_sub(1)), sorted.get(half)) {
        (Some(a), Some(b)) if sorted.len().is_multiple_of(2) => (a + b) / 2.0,
        (_, Some(b)) => *b,
        _ => f64::NAN,
    }
}

/// MNIST: training images, training labels, test images, test labels. Grey levels are bytes, so single precision
/// holds them exactly at half the memory.
pub(super) fn mnist(parts: &[(String, Vec<u8>)]) -> Result<Table> {
    let mut values = Vec::new();
    let mut names = Vec::new();
    let (pairs, _) = parts.as_chunks::<2>();
    for [(images_source, images), (labels_source, labels)] in pairs {
        let images = idx(images_source, images, 2051, 3)?;
        let labels = idx(labels_source, labels, 2049, 1)?;
        if images.len() != labels.len() * 784 {
            return Err(format(labels_source, "the number of labels does not match the number of images"));
        }
        values.extend(images.iter().map(|b| f32::from(*b)));
        names.extend(labels.iter().map(u8::to_string));
    }
    let source = parts.first().map(|p| p.0.clone()).unwrap_or_default();
    Ok(table(source, Values::F32(values), 784, Labels::from_names(&names)))
}

/// The bytes of an idx file after its header, which is a magic number and one size per dimension, big-endian.
fn idx<'a>(source: &str, bytes: &'a [u8], magic: u32, dimensions: usize) -> Result<&'a [u8]> {
    let (words, _) = bytes.as_chunks::<4>();
    let mut words = words.iter().map(|w| u32::from_be_bytes(*w));
    if words.next() != Some(magic) {
        return Err(format(source, format!("is not an idx file with magic number {magic}")));
    }
    let sizes: Vec<usize> = words.take(dimensions).map(|s| s as usize).collect();
    let count = sizes.iter().try_fold(1usize, |product, s| product.checked_mul(*s));
    let data = bytes.get(4 * (dimensions + 1)..).unwrap_or_default();
    if sizes.len() != dimensions || count != Some(data.len()) {
        return Err(format(source, "the sizes in the header do not match the contents"));
    }
    Ok(data)
}
