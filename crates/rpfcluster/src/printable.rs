//! Text from outside (names of columns, classes and files, cells, model files) made safe to print.
//!
//! A terminal obeys control characters, and bidirectional controls reorder what a reader sees (Boucher and Anderson,
//! "Trojan Source", USENIX Security 2023). [`escaped`] shows both as `\u{…}`; every message, table and page of the
//! project passes through it. Text without such characters is borrowed. One pass.

use std::borrow::Cow;

/// Whether a character has no glyph of its own: control characters (C0, DEL, C1), line and paragraph separators, and
/// the format characters of Unicode (category Cf), which include the bidirectional controls. The joiners U+200C and
/// U+200D are kept: Persian, Indic scripts and emoji are spelled with them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text with hidden characters as `\n`, `\t`, `\r` or `\u{…}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but(text, |_| false)
}

/// [`escaped`] for text of several lines, which keeps the line feeds.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escaped_but(text, |c| c == '\n')
}

fn escaped_but(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shown = |c: char| kept(c) || !is_hidden(c);
    if text.chars().all(&shown) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if shown(c) { safe.push(c) } else { safe.extend(c.escape_default()) }
    }
    safe.into()
}

/// At most `limit` characters of an escaped text: of a longer one the beginning and the last quarter, with `…` between.
pub fn excerpt(text: &str, limit: usize) -> String {
    let text = escaped(text);
    let count = text.chars().count();
    if count <= limit {
        return text.into_owned();
    }
    let tail = limit / 4;
    let head = limit.saturating_sub(tail + 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_others_are_kept() {
        assert_eq!(escaped("a\u{1b}[31m\u{7}"), "a\\u{1b}[31m\\u{7}");
        assert_eq!(escaped("\u{202e}gpj\u{2066}\u{9b}\u{7f}"), "\\u{202e}gpj\\u{2066}\\u{9b}\\u{7f}");
        assert_eq!(escaped("a\nb\tc\r\u{2028}"), "a\\nb\\tc\\r\\u{2028}");
        assert_eq!(escaped_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
        for kept in ["Größe 単位 é e\u{301} می\u{200c}خواهم 👩\u{200d}🔬 ✈\u{fe0f} \"x\" C:\\x", ""]
        {
            assert!(matches!(escaped(kept), Cow::Borrowed(same) if same == kept), "{kept}");
        }
    }

    #[test]
    fn every_control_character_is_hidden() {
        let controls = (0..0x20).chain(0x7f..0xa0).chain([0x61c, 0x200e, 0x200f]);
        let bidi = (0x202a..=0x202e).chain(0x2066..=0x2069);
        for code in controls.chain(bidi) {
            let c = char::from_u32(code).unwrap();
            let safe = escaped(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(safe.is_ascii() && safe.starts_with('\\') && !safe.contains(c), "{code:x}");
        }
        assert!(!(0x20..0x7f).map(char::from).any(is_hidden));
    }

    #[test]
    fn excerpts_keep_both_ends_and_their_limit() {
        assert_eq!(excerpt("abcdefgh", 8), "abcdefgh");
        assert_eq!(excerpt("abcdefghi", 8), "abcde…hi");
        let long = excerpt(&"é\u{1b}".repeat(2000), 80);
        assert!(long.chars().count() == 80 && long.starts_with("é\\u{1b}é") && long.contains('…'));
        assert_eq!(excerpt("abc", 1), "…");
    }
}
