//! The columns of a Parquet file: what their values mean, and cells and lists of numbers as they are stored.

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, TypePtr};
use rpfcluster::f16;

use super::columnar::{Collector, NESTED, Ragged};
use super::parquet::BATCH;

/// What the values of a column mean.
#[derive(Debug, Clone, PartialEq)]
enum Meaning {
    /// A number as it is stored.
    Number,
    /// An integer whose bits are unsigned.
    Unsigned,
    /// An integer to be divided by ten to this power.
    Decimal(i32),
    /// Half precision.
    Half,
    /// UTF-8.
    Text,
    /// Neither a number nor text, such as a date.
    Other(&'static str),
}

/// One field of the schema: what it means, and the stored column it is read from. Nested fields have none, except lists
/// of numbers.
pub(crate) struct Field {
    meaning: Meaning,
    pub stored: Option<usize>,
    pub is_list: bool,
    /// Length of its lists.
    pub length: Option<usize>,
    /// Cells that may be decoded at once.
    pub at_once: usize,
}

impl Field {
    /// A field that holds neither numbers nor text.
    pub fn nested() -> Self {
        Field { meaning: Meaning::Other(NESTED), stored: None, is_list: false, length: None, at_once: BATCH }
    }
}

/// The fields of the schema's top level.
pub(crate) fn fields(schema: &SchemaDescriptor) -> Vec<Field> {
    let roots = schema.root_schema().get_fields();
    let mut stored = vec![Vec::new(); roots.len()];
    for column in 0..schema.num_columns() {
        stored[schema.get_column_root_idx(column)].push(column);
    }
    let field = |(root, stored): (&TypePtr, Vec<usize>)| {
        let &[column] = stored.as_slice() else { return Field::nested() };
        let description = schema.column(column);
        let meaning = meaning(&description);
        let info = root.get_basic_info();
        let list = info.logical_type_ref() == Some(&LogicalType::List)
            || info.converted_type() == ConvertedType::LIST;
        match (description.path().parts().len(), description.max_rep_level()) {
            (1, 0) => Field { meaning, stored: Some(column), is_list: false, length: None, at_once: BATCH },
            (2 | 3, 1)
                if list
                    && matches!(meaning, Meaning::Number | Meaning::Unsigned | Meaning::Half)
                    && description.physical_type() != PhysicalType::BOOLEAN =>
            {
                Field { meaning, stored: Some(column), is_list: true, length: None, at_once: BATCH }
            }
            _ => Field::nested(),
        }
    };
    roots.iter().zip(stored).map(field).collect()
}

/// The length of the first list of a column that is not missing, among the first rows of each row group.
pub(crate) fn first_length<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    field: &Field,
    schema: &SchemaDescriptor,
) -> Result<Option<usize>, ParquetError> {
    const LOOKED_AT: usize = 1000;
    let Some(stored) = field.stored else { return Ok(None) };
    for group in 0..file.num_row_groups() {
        let mut reader = file.get_row_group(group)?.get_column_reader(stored)?;
        for _ in 0..LOOKED_AT {
            let mut length = 0;
            let rows = each_list(&mut reader, &schema.column(stored), 1, |_, at, _| length = at + 1)?;
            if length > 0 {
                return Ok(Some(length));
            }
            if rows == 0 {
                break;
            }
        }
    }
    Ok(None)
}

/// Spreads up to `rows` lists over the columns from `first`. Returns how many there were, or nothing where a list of another
/// length stops the reading.
pub(crate) fn push_lists(
    collector: &mut Collector<'_>,
    first: usize,
    field: &Field,
    schema: &SchemaDescriptor,
    reader: &mut ColumnReader,
    rows: usize,
    ragged: Ragged,
) -> Result<Option<usize>, ParquetError> {
    let (Some(stored), Some(length)) = (field.stored, field.length) else { return Ok(None) };
    let column = schema.column(stored);
    let mut lengths = vec![0usize; rows];
    let mut put = |row: usize, at: usize, x: Option<f64>| {
        lengths[row] = at + 1;
        if let (Some(x), true) = (x, at < length) {
            collector.number(row, first + at, x);
        }
    };
    let found = each_list(reader, &column, rows, |row, at, x| {
        let x = x.map(|x| match (x, &field.meaning) {
            (Element::Integer(x), Meaning::Unsigned) if column.physical_type() == PhysicalType::INT32 => {
                f64::from(x as u32)
            }
            (Element::Integer(x), Meaning::Unsigned) => x as u64 as f64,
            (Element::Integer(x), _) => x as f64,
            (Element::Float(x), _) => x,
        });
        put(row, at, x);
    })?;
    // An empty list is a missing one.
    for (row, got) in lengths.into_iter().enumerate().filter(|(_, got)| *got > 0 && *got != length) {
        match ragged {
            Ragged::Stop => return Ok(None),
            Ragged::Mark => collector.list_of_other_length(row, first, got),
        }
    }
    Ok(Some(found))
}

/// An element of a list as it is stored.
enum Element {
    Integer(i64),
    Float(f64),
}

/// Calls `put` with the row, the place and the value of every element of up to `rows` lists; a null element has no value.
/// Returns the number of rows.
fn each_list(
    reader: &mut ColumnReader,
    column: &ColumnDescriptor,
    rows: usize,
    put: impl FnMut(usize, usize, Option<Element>),
) -> Result<usize, ParquetError> {
    fn read<T: DataType>(
        reader: &mut ColumnReaderImpl<T>,
        column: &ColumnDescriptor,
        rows: usize,
        mut put: impl FnMut(usize, usize, Option<Element>),
        element: impl Fn(&T::T) -> Element,
    ) -> Result<usize, ParquetError> {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = 0;
        while found < rows {
            let wanted = rows - found;
            let (records, ..) =
                reader.read_records(wanted, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
            if records == 0 {
                break;
            }
            found += records;
        }
        let present = column.max_def_level();
        // The level of an element that exists and may be null.
        let exists = present - i16::from(column.self_type().is_optional());
        let (mut row, mut at, mut next) = (0usize, 0, values.iter());
        for (level, (definition, repetition)) in definitions.iter().zip(&repetitions).enumerate() {
            if *repetition == 0 {
                row += usize::from(level > 0);
                at = 0;
            }
            if *definition >= exists && row < rows {
                let value = if *definition == present { next.next().map(&element) } else { None };
                put(row, at, value);
                at += 1;
            }
        }
        Ok(found)
    }
    match reader {
        ColumnReader::FloatColumnReader(r) => read(r, column, rows, put, |x| Element::Float(f64::from(*x))),
        ColumnReader::DoubleColumnReader(r) => read(r, column, rows, put, |x| Element::Float(*x)),
        ColumnReader::Int32ColumnReader(r) => read(r, column, rows, put, |x| Element::Integer(i64::from(*x))),
        ColumnReader::Int64ColumnReader(r) => read(r, column, rows, put, |x| Element::Integer(*x)),
        ColumnReader::FixedLenByteArrayColumnReader(r) => {
            read(r, column, rows, put, |x| Element::Float(half(x.data())))
        }
        _ => Ok(0),
    }
}

/// A number in half precision.
fn half(bytes: &[u8]) -> f64 {
    match bytes {
        [low, high] => f64::from(f16::from_le_bytes([*low, *high])),
        _ => f64::NAN,
    }
}

/// Whether there are numbers, and none has more than single precision.
pub(crate) fn is_single(fields: &[Field], schema: &SchemaDescriptor) -> bool {
    let physical = |field: &Field| field.stored.map(|column| schema.column(column).physical_type());
    let mut numeric = fields
        .iter()
        .filter(|f| !matches!(f.meaning, Meaning::Text | Meaning::Other(_)))
        .filter(|f| physical(f) != Some(PhysicalType::BOOLEAN))
        .peekable();
    numeric.peek().is_some()
        && numeric.all(|f| {
            f.meaning == Meaning::Half
                || physical(f) == Some(PhysicalType::FLOAT)
                || (f.is_list && is_byte(f, schema))
        })
}

/// Whether the numbers are integers of one byte.
fn is_byte(field: &Field, schema: &SchemaDescriptor) -> bool {
    let logical = field.stored.and_then(|column| schema.column(column).logical_type_ref().cloned());
    matches!(logical, Some(LogicalType::Integer(integer)) if integer.bit_width == 8)
}

/// What a column means: by its logical type, or by the converted type that older writers give.
fn meaning(column: &ColumnDescriptor) -> Meaning {
    use Meaning::{Decimal, Half, Number, Other, Text, Unsigned};
    let decimal = || match column.physical_type() {
        PhysicalType::FIXED_LEN_BYTE_ARRAY if column.type_length() > 16 => Other("Decimal of over 38 digits"),
        _ => Decimal(column.type_scale()),
    };
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (_, Some(LogicalType::Decimal(_)), _) | (_, None, ConvertedType::DECIMAL) => decimal(),
        (PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE, ..) => Number,
        (PhysicalType::INT96, ..) => Other("Timestamp"),
        (PhysicalType::INT32 | PhysicalType::INT64, logical, converted) => match (logical, converted) {
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Unsigned,
            (Some(LogicalType::Integer(_) | LogicalType::Unknown), _) => Number,
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Unsigned,
            (
                None,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Number,
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Other("Date"),
            (Some(LogicalType::Timestamp(_)), _)
            | (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => Other("Timestamp"),
            _ => Other("Time"),
        },
        (PhysicalType::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) => Half,
        (
            PhysicalType::BYTE_ARRAY,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json | LogicalType::Unknown),
            _,
        )
        | (PhysicalType::BYTE_ARRAY, None, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => {
            Text
        }
        _ => Other("Binary"),
    }
}

/// Reads up to `rows` rows of a column; returns how many there were.
pub(crate) fn push(
    collector: &mut Collector<'_>,
    column: usize,
    field: &Field,
    schema: &SchemaDescriptor,
    reader: &mut ColumnReader,
    rows: usize,
) -> Result<usize, ParquetError> {
    let present = field.stored.map_or(0, |stored| schema.column(stored).max_def_level());
    // The match of meaning and type stays outside of the loop over the rows.
    macro_rules! each {
        ($reader:expr, |$row:ident, $x:ident| $put:expr) => {
            each($reader, rows, field.at_once, present, |$row, $x| $put)
        };
    }
    macro_rules! number {
        ($reader:expr, |$x:ident| $value:expr) => {
            each!($reader, |row, $x| collector.number(row, column, $value))
        };
    }
    if let Meaning::Other(kind) = field.meaning {
        macro_rules! other {
            ($reader:expr) => {
                each!($reader, |row, _x| collector.other(row, column, kind))
            };
        }
        return match reader {
            ColumnReader::BoolColumnReader(r) => other!(r),
            ColumnReader::Int32ColumnReader(r) => other!(r),
            ColumnReader::Int64ColumnReader(r) => other!(r),
            ColumnReader::Int96ColumnReader(r) => other!(r),
            ColumnReader::FloatColumnReader(r) => other!(r),
            ColumnReader::DoubleColumnReader(r) => other!(r),
            ColumnReader::ByteArrayColumnReader(r) => other!(r),
            ColumnReader::FixedLenByteArrayColumnReader(r) => other!(r),
        };
    }
    let unit = match field.meaning {
        Meaning::Decimal(scale) => 10f64.powi(scale),
        _ => 1.0,
    };
    match (reader, &field.meaning) {
        (ColumnReader::BoolColumnReader(r), _) => number!(r, |x| f64::from(u8::from(*x))),
        (ColumnReader::FloatColumnReader(r), _) => number!(r, |x| f64::from(*x)),
        (ColumnReader::DoubleColumnReader(r), _) => number!(r, |x| *x),
        (ColumnReader::Int32ColumnReader(r), Meaning::Unsigned) => number!(r, |x| f64::from(*x as u32)),
        (ColumnReader::Int32ColumnReader(r), _) => number!(r, |x| f64::from(*x) / unit),
        (ColumnReader::Int64ColumnReader(r), Meaning::Unsigned) => number!(r, |x| *x as u64 as f64),
        (ColumnReader::Int64ColumnReader(r), _) => number!(r, |x| *x as f64 / unit),
        (ColumnReader::Int96ColumnReader(r), _) => each!(r, |_row, _x| ()),
        (ColumnReader::ByteArrayColumnReader(r), Meaning::Decimal(_)) => {
            number!(r, |x| big_endian(x.data()) as f64 / unit)
        }
        (ColumnReader::ByteArrayColumnReader(r), _) => {
            each!(r, |row, x| collector.text(row, column, &String::from_utf8_lossy(x.data())))
        }
        (ColumnReader::FixedLenByteArrayColumnReader(r), Meaning::Half) => number!(r, |x| half(x.data())),
        (ColumnReader::FixedLenByteArrayColumnReader(r), _) => {
            number!(r, |x| big_endian(x.data()) as f64 / unit)
        }
    }
}

/// Calls `put` with the row and value of every cell that is not missing, for up to `rows` rows; returns how many there
/// were. At most `at_once` rows are held. A cell has a value where its definition level is `present`.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    at_once: usize,
    present: i16,
    mut put: impl FnMut(usize, &T::T),
) -> Result<usize, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut found = 0;
    loop {
        let (first, end) = (found, rows.min(found + at_once));
        values.clear();
        levels.clear();
        while found < end {
            let (records, ..) = reader.read_records(end - found, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                break;
            }
            found += records;
        }
        if present == 0 {
            values.iter().enumerate().for_each(|(row, x)| put(first + row, x));
        } else {
            let rows = levels.iter().enumerate().filter(|(_, level)| **level == present);
            rows.zip(&values).for_each(|((row, _), x)| put(first + row, x));
        }
        if found < end || found == rows {
            return Ok(found);
        }
    }
}

/// A signed integer of up to 16 bytes, the most significant first.
fn big_endian(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|b| *b >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |x, b| (x << 8) | i128::from(*b))
}
