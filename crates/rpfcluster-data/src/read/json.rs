//! JSON: one object per line (JSON Lines, also called NDJSON), or one array of objects. A key is a column.
//!
//! Columns are in order of first appearance; a key that a row lacks is a missing cell, as are `null` and `NaN`.
//! Booleans are 0 and 1.
//! Lists of numbers that have one length in all rows, such as embeddings, become one column for each element, `name[1]`,
//! `name[2]`, … Objects and other lists become text that names their type. The text is parsed twice, first for
//! the columns, so that the numbers are held once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::MAX_WIDTH;
use super::columnar::{Collector, element_name};
use crate::error::{DataError, Place, Result, excerpt, format, shortened};
use crate::frame::Frame;
use crate::memory::Budget;

/// Bytes of a column besides its name: the name twice, its entry in the hash table and what the frame keeps for it.
const COLUMN: usize = 200;

/// A value of a row.
enum Found {
    Missing,
    Number(f64),
    Text(String),
    List(Vec<f64>),
    Other(&'static str),
}

/// A key, and the columns of its values.
struct Key {
    name: String,
    first: usize,
    /// Length of its lists of numbers.
    length: Option<usize>,
    /// Whether it holds single values.
    is_single: bool,
    /// Whether its lists have different lengths.
    is_ragged: bool,
    /// The last row that has it, counted from 1.
    row: usize,
}

/// The keys of all rows, by first appearance.
#[derive(Default)]
struct Keys {
    keys: Vec<Key>,
    index: HashMap<String, usize>,
}

impl Keys {
    /// The place of a key; `guess` is tried first, since rows mostly have their keys in the same order.
    fn find(&self, name: &str, guess: usize) -> Option<usize> {
        match self.keys.get(guess) {
            Some(key) if key.name == name => Some(guess),
            _ => self.index.get(name).copied(),
        }
    }
}

/// Reads a whole JSON file, in which the numbers that JSON does not have are respelled.
pub(crate) fn read(bytes: &mut [u8], source: &str, budget: &Budget) -> Result<Frame> {
    let infinite = respell(bytes);
    let bytes = &*bytes;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut keys = Keys::default();
    let rows = scan(bytes, source, budget, infinite, &mut |row, guess, name, found| {
        let at = match keys.find(name, guess) {
            Some(at) => at,
            None => {
                budget.spend(COLUMN + 2 * name.len()).map_err(|e| e.to_string())?;
                keys.index.insert(name.to_string(), keys.keys.len());
                let name = name.to_string();
                keys.keys.push(Key {
                    name,
                    first: 0,
                    length: None,
                    is_single: false,
                    is_ragged: false,
                    row: 0,
                });
                keys.keys.len() - 1
            }
        };
        let key = &mut keys.keys[at];
        if key.row == row {
            return Err("occurs twice in the row".into());
        }
        key.row = row;
        match (found, key.length) {
            (Found::Missing, _) => {}
            (Found::List(list), None) => key.length = Some(list.len()),
            (Found::List(list), Some(length)) => key.is_ragged |= list.len() != length,
            _ => key.is_single = true,
        }
        Ok(at)
    })?;
    if rows == 0 {
        return Err(format(source, "the file is empty"));
    }
    let mut names = Vec::new();
    for key in &mut keys.keys {
        key.first = names.len();
        key.length = key.length.filter(|_| !key.is_single && !key.is_ragged);
        budget.spend(key.length.unwrap_or(0).saturating_mul(COLUMN + key.name.len()))?;
        match key.length {
            Some(length) => names.extend((1..=length).map(|element| element_name(&key.name, element))),
            None => names.push(key.name.clone()),
        }
    }
    if names.len() > MAX_WIDTH {
        let problem = format!("{} columns are more than the limit of {MAX_WIDTH}", names.len());
        return Err(format(source, problem));
    }
    let mut collector = Collector::new(source, names, false, budget)?;
    collector.begin(rows)?;
    scan(bytes, source, budget, infinite, &mut |row, guess, name, found| {
        let Some(at) = keys.find(name, guess) else { return Ok(guess) };
        let (column, row) = (keys.keys[at].first, row - 1);
        match found {
            Found::Missing => {}
            Found::Number(x) => collector.number(row, column, *x),
            Found::Text(text) => collector.text(row, column, text),
            Found::Other(kind) => collector.other(row, column, kind),
            Found::List(_) if keys.keys[at].length.is_none() => collector.other(row, column, "list"),
            Found::List(list) => {
                list.iter().enumerate().for_each(|(j, x)| collector.number(row, column + j, *x));
            }
        }
        Ok(at)
    })?;
    collector.end(rows)?;
    collector.finish()
}

/// Respells the numbers that JSON does not have and Python's `json.dumps` writes, in place, so that a parser of JSON takes them
/// and every character keeps its place: `NaN` becomes an empty list, which is a missing value, and an infinite number a
/// text of one character that no table holds. Returns whether there are infinite numbers.
fn respell(bytes: &mut [u8]) -> bool {
    const SPELLINGS: [(&[u8], &[u8]); 3] =
        [(b"NaN", b"[ ]"), (b"Infinity", br#""\u0000""#), (b"-Infinity", br#""\u0000-""#)];
    if memmem::find(bytes, b"NaN").is_none() && memmem::find(bytes, b"Infinity").is_none() {
        return false;
    }
    let (mut at, mut quoted, mut infinite) = (0, false, false);
    while let Some(&byte) = bytes.get(at) {
        let mut used = 1;
        match byte {
            // No string of JSON contains a line end.
            b'\n' => quoted = false,
            b'"' => quoted = !quoted,
            b'\\' if quoted => used = 2,
            b'N' | b'I' | b'-' if !quoted => {
                let rest = &bytes[at..];
                let is_here = |name: &[u8]| {
                    rest.starts_with(name) && !rest.get(name.len()).is_some_and(u8::is_ascii_alphanumeric)
                };
                if let Some((name, spelled)) = SPELLINGS.iter().find(|(name, _)| is_here(name)) {
                    bytes[at..at + name.len()].copy_from_slice(spelled);
                    infinite |= name.len() > 3;
                    used = name.len();
                }
            }
            _ => {}
        }
        at += used;
    }
    infinite
}

/// What is done with each value: the row from 1, a guess of the key's place, the key and the value. Returns the place.
type Put<'a> = &'a mut dyn FnMut(usize, usize, &str, &Found) -> std::result::Result<usize, String>;

/// Calls `put` with every value; returns the number of rows.
fn scan(bytes: &[u8], source: &str, budget: &Budget, infinite: bool, put: Put<'_>) -> Result<usize> {
    let row_error = |row: usize, line: usize, problem: String| DataError::Row {
        path: source.to_string(),
        row: Place { row, line },
        problem,
    };
    let rows = RefCell::new(0);
    let mut visit = Objects { rows: &rows, value: Value { budget, infinite }, put, put_error: None };
    if bytes.trim_ascii_start().starts_with(b"[") {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let done = visit.array(&mut json).and_then(|()| json.end());
        return match (done, visit.put_error) {
            (Ok(()), _) => Ok(*rows.borrow()),
            (Err(_), Some(problem)) => Err(row_error(*rows.borrow(), *rows.borrow(), problem)),
            (Err(e), None) => {
                Err(format(source, format!("is not an array of JSON objects: {}", shortened(&e))))
            }
        };
    }
    for (at, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        if let Err(e) = (&mut visit).deserialize(&mut json).and_then(|()| json.end()) {
            let problem = visit.put_error.take().unwrap_or_else(|| {
                // The line is that of the file, not of the text that is parsed.
                let text = e.to_string();
                let (what, _) = text.rsplit_once(" at line").unwrap_or((&text, ""));
                format!("is not a JSON object ({}, character {})", shortened(&what), e.column())
            });
            return Err(row_error((*rows.borrow()).max(1), at + 1, problem));
        }
    }
    Ok(*rows.borrow())
}

/// Reads objects one after another.
struct Objects<'a> {
    rows: &'a RefCell<usize>,
    value: Value<'a>,
    put: Put<'a>,
    put_error: Option<String>,
}

impl Objects<'_> {
    fn array<'de, D: Deserializer<'de>>(&mut self, json: D) -> std::result::Result<(), D::Error> {
        struct Array<'a, 'b>(&'a mut Objects<'b>);
        impl<'de> Visitor<'de> for Array<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
                while seq.next_element_seed(&mut *self.0)?.is_some() {}
                Ok(())
            }
        }
        json.deserialize_seq(Array(self))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Objects<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        *self.rows.borrow_mut() += 1;
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Objects<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let row = *self.rows.borrow();
        let mut guess = 0;
        while let Some(name) = map.next_key::<String>()? {
            let found = map.next_value_seed(self.value)?;
            let done = (self.put)(row, guess, &name, &found);
            if let Found::List(list) = found {
                self.value.budget.release(list.capacity() * size_of::<f64>());
            }
            match done {
                Ok(at) => guess = at + 1,
                Err(problem) => {
                    self.put_error = Some(match problem.contains("reading needs") {
                        true => problem,
                        false => format!("\"{}\" {problem}", excerpt(&name)),
                    });
                    return Err(A::Error::custom("a row is refused"));
                }
            }
        }
        Ok(())
    }
}

/// Reads one value; the memory of lists comes from the budget.
#[derive(Clone, Copy)]
struct Value<'a> {
    budget: &'a Budget,
    /// Whether the file has infinite numbers, which are respelled as texts.
    infinite: bool,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Found, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, x: bool) -> std::result::Result<Found, E> {
        Ok(Found::Number(f64::from(u8::from(x))))
    }

    fn visit_i64<E>(self, x: i64) -> std::result::Result<Found, E> {
        Ok(Found::Number(x as f64))
    }

    fn visit_u64<E>(self, x: u64) -> std::result::Result<Found, E> {
        Ok(Found::Number(x as f64))
    }

    fn visit_f64<E>(self, x: f64) -> std::result::Result<Found, E> {
        Ok(Found::Number(x))
    }

    fn visit_unit<E>(self) -> std::result::Result<Found, E> {
        Ok(Found::Missing)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Found, E> {
        if let (true, Some(sign)) = (self.infinite, text.strip_prefix('\0')) {
            match sign {
                "" => return Ok(Found::Number(f64::INFINITY)),
                "-" => return Ok(Found::Number(f64::NEG_INFINITY)),
                _ => {}
            }
        }
        self.budget.probe(text.len()).map_err(E::custom)?;
        Ok(Found::Text(text.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Found, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Other("object"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Found, A::Error> {
        let mut list = Vec::new();
        let mut numbers = true;
        while let Some(item) = seq.next_element_seed(self)? {
            let x = match item {
                Found::Number(x) => x,
                Found::Missing => f64::NAN,
                Found::List(inner) => {
                    self.budget.release(inner.capacity() * size_of::<f64>());
                    numbers = false;
                    continue;
                }
                Found::Text(_) | Found::Other(_) => {
                    numbers = false;
                    continue;
                }
            };
            if list.len() == list.capacity() {
                let more = 16.max(list.len() / 2);
                self.budget.reserve(&mut list, more).map_err(A::Error::custom)?;
            }
            list.push(x);
        }
        if numbers && !list.is_empty() {
            return Ok(Found::List(list));
        }
        self.budget.release(list.capacity() * size_of::<f64>());
        Ok(if numbers { Found::Missing } else { Found::Other("list") })
    }
}
