//! Text of a file as Unicode: UTF-8, or Windows-1252 where the bytes are not valid UTF-8 (WHATWG Encoding Standard, index
//! windows-1252, of which Latin-1 is a part). Spreadsheets of Western Europe save CSV in it.
//!
//! Each name and cell is decoded on its own: letters with accents are practically never valid UTF-8 by chance. Separators and
//! numbers are ASCII in both. Every byte has a character, so distinct cells of one encoding stay distinct; a file that mixes
//! encodings may spell one text in two ways, which then become one.

use std::borrow::Cow;

/// The characters of the bytes 0x80 to 0x9f; the other bytes are the code points of their characters.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The text of a name or cell.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH_CONTROLS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf8_are_windows_1252() {
        assert_eq!(decoded("Größe".as_bytes()), "Größe");
        assert_eq!(decoded(b"Gr\xf6\xdfe in \x80"), "Größe in €");
        assert_eq!(decoded(b"\x93caf\xe9\x94 \x96 \x9e\xff"), "“café” – žÿ");
        let all: std::collections::HashSet<char> = (0..=255).map(windows_1252).collect();
        assert_eq!(all.len(), 256, "no two bytes share a character");
    }
}
