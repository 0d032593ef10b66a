//! The only file that prints. Results go to standard output or to the file of `-o`; notes, hints and errors go to
//! standard error, one line each. A closed pipe is not an error.
//!
//! What people read passes through [`rpfcluster::printable`] here, so that no name, cell or file can send a control
//! sequence to the terminal. Tables of numbers are written as they are.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the only file that prints")]

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rpfcluster::printable::{escaped_lines, excerpt, is_hidden};

use crate::exit::{Failure, Result};

/// Longest word and longest sentence of a message, in characters. Paths fit; a cell or a name of kilobytes does not.
const WORD: usize = 160;
const SENTENCE: usize = 1000;
/// Longest cell of a printed table.
const CELL: usize = 80;

/// One sentence on standard error: an error, or a note or hint, for which the caller checks `--quiet`.
pub fn message(sentence: &str) {
    // A closed standard error leaves no way to report anything.
    let _ = writeln!(io::stderr().lock(), "rpf: {}", in_locale(shown(sentence)));
}

/// The message of Ctrl-C, once: two threads may end the program.
pub fn interrupted() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::SeqCst) {
        message("interrupted; no partial file is left");
    }
}

/// Says that memory ran out, with none of it.
pub fn out_of_memory(bytes: usize) {
    let mut text = [0; 200];
    let mut rest = &mut text[..];
    let megabytes = bytes.div_ceil(1_000_000);
    let _ = writeln!(
        rest,
        "rpf: memory ran out where {megabytes} MB more were needed; use fewer rows, fewer --trees, or a higher limit"
    );
    let left = rest.len();
    let _ = io::stderr().lock().write_all(&text[..text.len() - left]);
}

/// Text of several lines on standard error.
pub fn summary(text: &str) {
    let _ = io::stderr().lock().write_all(in_locale(escaped_lines(text)).as_bytes());
}

/// Our own characters beyond ASCII respelled where the locale is not UTF-8: the blocks of a bar and the ellipsis. Names
/// and cells of the user are left as they are.
fn in_locale<'a>(text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    static UTF8: LazyLock<bool> = LazyLock::new(|| is_utf8(|name| std::env::var(name).ok()));
    let text = text.into();
    if *UTF8 { text } else { text.replace('▇', "#").replace('…', "...").into() }
}

/// Whether the locale is UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set decides (POSIX). Windows has none of
/// them; its consoles take Unicode.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    match locale.map(|value| value.to_ascii_lowercase()) {
        Some(value) => value.contains("utf-8") || value.contains("utf8"),
        None => cfg!(windows),
    }
}

/// A sentence as it is printed: in one line, without control characters, long strings shortened.
pub fn shown(sentence: &str) -> String {
    let words: Vec<String> = sentence.split_whitespace().map(|word| excerpt(word, WORD)).collect();
    excerpt(&words.join(" "), SENTENCE)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prints help and version as clap formats them, and its errors as one sentence.
pub fn clap(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe is not an error.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            message(&sentence(error));
            ExitCode::from(2)
        }
    }
}

/// The paragraphs of a clap error in one sentence.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let mut lines = paragraphs.next().unwrap_or_default().lines().map(str::trim);
    let head = lines.next().unwrap_or_default();
    let first = one_line(&format!("{head} {}", lines.collect::<Vec<_>>().join(", ")));
    let mut sentence = first.strip_prefix("error: ").unwrap_or(&first).trim_end_matches('.').to_string();
    for paragraph in paragraphs {
        let line = one_line(paragraph);
        if let Some(tip) = line.strip_prefix("tip: ") {
            sentence.push_str("; ");
            sentence.push_str(tip);
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            let verb: Vec<&str> = usage.split(' ').take_while(|w| !w.starts_with(['[', '<', '-'])).collect();
            sentence.push_str(&format!("; see {} --help", verb.join(" ")));
        }
    }
    sentence
}

/// Text of several lines on standard output.
pub fn print(text: &str) -> Result {
    to_stdout(|out| out.write_all(in_locale(escaped_lines(text)).as_bytes()))
}

/// One JSON object on standard output.
pub fn print_json(object: &serde_json::Value) -> Result {
    let text = json_escaped(&format!("{object:#}\n"));
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// JSON with hidden characters, which occur in strings only, as `\uXXXX`: a parser reads the same strings.
fn json_escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            text.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        }
    }
    text
}

/// Writes to standard output. A reader that closes the pipe ends the writing; that is not an error.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::data(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether an output path means standard output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-" || path.as_os_str() == "/dev/stdout"
}

/// Aligned columns of text: the first to the left, the others to the right. Long cells are shortened, line breaks
/// within a cell escaped.
pub fn columns(rows: &[Vec<String>]) -> String {
    let shown = |cell: &String| excerpt(cell, CELL);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                line.push_str(&format!("{cell:<width$}"));
            } else {
                line.push_str(&format!("  {cell:>width$}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = vec![vec!["a".to_string(), "long".into()], vec!["bcd".into(), "1".into()]];
        assert_eq!(columns(&rows), "a    long\nbcd     1\n");
    }

    #[test]
    fn the_first_variable_that_is_set_decides_the_locale() {
        let locale = |set: &[(&str, &str)]| {
            is_utf8(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
        };
        assert!(locale(&[("LANG", "en_GB.UTF-8")]) && locale(&[("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!locale(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(locale(&[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]));
        assert_eq!(locale(&[]), cfg!(windows));
    }

    #[test]
    fn cells_with_line_breaks_stay_in_their_line() {
        let rows = vec![vec!["a\nb".to_string(), "x".repeat(3000)], vec!["\u{1b}[2J".into(), "1".into()]];
        let text = columns(&rows);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with("a\\nb") && text.contains("\n\\u{1b}[2J ") && text.len() < 250, "{text}");
    }

    #[test]
    fn messages_are_one_short_line_without_control_characters() {
        let path = format!("{}.csv", "d/".repeat(1500));
        let message = shown(&format!("{path}: column \"a\u{1b}]0;x\u{7}\u{202e}\" is\nwrong; use --drop"));
        assert!(message.chars().count() < 260 && !message.contains('\n'), "{message}");
        assert!(
            message.contains(".csv: column \"a\\u{1b}]0;x\\u{7}\\u{202e}\" is wrong; use --drop"),
            "{message}"
        );
        let path = format!("/home/somebody/{}/table.csv: no such file", "x".repeat(100));
        assert_eq!(shown(&path), path, "a path of usual length is kept");
        let long = shown(&"many words ".repeat(1000));
        assert!(long.chars().count() == SENTENCE && long.contains('…'));
    }

    #[test]
    fn escaped_json_is_the_same_string_to_a_parser() {
        let object =
            serde_json::json!({"a\u{1b}\u{7f}": "x\u{202e}\u{9b}\u{e0041}\n\u{feff}", "b": [1, "ü"]});
        let text = json_escaped(&format!("{object:#}\n"));
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), object);
    }
}
