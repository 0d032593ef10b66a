//! Shared by all pictures: cluster colours (after Okabe and Ito), the viridis colour scale, number formatting, XML
//! escaping, PNG encoding of heat maps, base64. `chart` draws the frame of a chart: axes, ticks and labels.

mod chart;

pub use chart::{Chart, Ink, room_left};

use rpfcluster::printable::is_hidden;

use crate::error::{Error, Result};

/// Cluster colours: distinguishable with colour blindness, readable on white and on black (after Okabe and Ito 2008).
const PALETTE: [&str; 10] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f", "#b5a000",
    "#00a6a6",
];

/// The colour of a cluster; beyond the palette, hues at the golden angle.
pub fn colour(cluster: usize) -> String {
    match PALETTE.get(cluster) {
        Some(colour) => (*colour).to_string(),
        None => {
            let hue = (cluster as f64 * 137.508) % 360.0 / 60.0;
            let part = |shift: f64| {
                let at = (hue + shift) % 6.0;
                let level = (if at < 3.0 { at } else { 6.0 - at } - 1.0).clamp(0.0, 1.0);
                (255.0 * (0.2 + 0.6 * level)).round() as u8
            };
            format!("#{:02x}{:02x}{:02x}", part(3.0), part(1.0), part(5.0))
        }
    }
}

/// Nine colours of viridis (van der Walt and Smith 2015), interpolated linearly. Brightness rises evenly, so the scale
/// is readable in grey and with colour blindness.
const SCALE: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour of a value from 0 to 1.
pub fn shade(value: f64) -> [u8; 3] {
    let at = value.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at as usize).min(SCALE.len() - 2);
    let share = at - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (f64::from(SCALE[below][channel]), f64::from(SCALE[below + 1][channel]));
        (a + (b - a) * share).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// The colour of a value from 0 to 1 as a CSS value.
pub fn shade_hex(value: f64) -> String {
    let [r, g, b] = shade(value);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Values from 0 to 1 as the pixels of a PNG, by rows.
pub fn png(width: usize, height: usize, values: impl Iterator<Item = f64>) -> Result<Vec<u8>> {
    let failed = |e: png::EncodingError| Error::Picture { what: "heat map", problem: e.to_string() };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&values.flat_map(shade).collect::<Vec<u8>>()).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Base64 with padding (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// Text escaped for XML text and attributes. Line breaks and tabs become blanks; other control and format characters,
/// some of which XML forbids, are shown as `\u{…}`.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            c if is_hidden(c) => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

/// A number rounded for reading, without trailing zeros; in scientific notation below 1e-3 and from 1e6.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// The gap between two eigenvalues: "gap 0.490", "gap 3.1e-5", or "no gap" where rounding errors are as large.
pub fn gap_in_words(gap: f64) -> String {
    const ROUNDING: f64 = 1e-9;
    if gap < ROUNDING {
        "no gap".into()
    } else if gap < 1e-3 {
        format!("gap {gap:.1e}")
    } else if gap < 1e-2 {
        format!("gap {gap:.4}")
    } else {
        format!("gap {gap:.3}")
    }
}

/// The value of the brightest colour of a heat map: the 95th percentile of all values or the 80th of the positive ones,
/// whichever is larger, so that weak similarities are visible beside a few strong ones; the largest value unless it is
/// more than twice as large. 1 when no value is positive.
pub fn brightest(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_unstable_by(f64::total_cmp);
    let positive = &all[all.partition_point(|v| *v <= 0.0)..];
    let Some(&largest) = positive.last() else { return 1.0 };
    let percentile = |sorted: &[f64], percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let bright = percentile(&all, 95).max(percentile(positive, 80));
    if 2.0 * bright < largest { bright } else { largest }
}

/// The labels of a colour scale that follows the square root from 0 to `bright`: text and share of its length. The last
/// one says that larger values have the same colour, where there are any.
pub fn root_marks(bright: f64, largest: f64) -> Vec<(String, f64)> {
    let value = |share: f64| bright * share * share;
    let mut marks: Vec<(String, f64)> =
        [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().map(|share| (number(value(share)), share)).collect();
    if largest > bright
        && let Some((words, _)) = marks.last_mut()
    {
        words.insert_str(0, "≥ ");
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gaps_keep_their_digits_and_rounding_errors_are_no_gap() {
        for (gap, words) in [
            (0.49, "gap 0.490"),
            (0.0016, "gap 0.0016"),
            (0.00042, "gap 4.2e-4"),
            (3e-16, "no gap"),
            (-1e-17, "no gap"),
        ] {
            assert_eq!(gap_in_words(gap), words);
        }
    }

    #[test]
    fn brightest_colour_follows_the_positive_values() {
        // One pair in a hundred is similar, and only a few of these strongly.
        let weak = (0..10_000).map(|i| {
            if i == 0 {
                1.0
            } else if i % 100 == 0 {
                0.004
            } else {
                0.0
            }
        });
        assert_eq!(brightest(weak), 0.004);
        assert_eq!(brightest([0.0, 0.5, 0.6, 0.9].into_iter()), 0.9);
        assert_eq!(brightest([0.0; 3].into_iter()), 1.0);
        // Where most pairs are similar, one cell in twenty has the brightest colour.
        assert_eq!(brightest((1..=100).map(|i| if i > 97 { 900.0 } else { f64::from(i) })), 95.0);
        let marks = root_marks(0.004, 1.0);
        assert_eq!(marks.first().map(|m| m.0.as_str()), Some("0"));
        assert_eq!(marks.last().map(|m| m.0.as_str()), Some("≥ 0.004"));
        assert_eq!(root_marks(1.0, 1.0).last().map(|m| m.0.as_str()), Some("1"));
    }

    #[test]
    fn numbers_are_rounded_to_four_digits() {
        let all =
            [(0.0, "0"), (1.5, "1.5"), (1.0, "1"), (-0.25, "-0.25"), (1234.5, "1234"), (2e-9, "2.00e-9")];
        for (value, text) in all {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn base64_matches_rfc_4648() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn brightness_rises_and_cluster_colours_differ() {
        let bright = |v: f64| {
            let [r, g, b] = shade(v).map(f64::from);
            0.299 * r + 0.587 * g + 0.114 * b
        };
        assert!((0..100).all(|i| bright(f64::from(i) / 100.0) < bright(f64::from(i + 1) / 100.0)));
        let mut all: Vec<String> = (0..100).map(colour).collect();
        assert!(all.iter().all(|c| c.len() == 7 && c.starts_with('#')));
        all.sort();
        all.dedup();
        assert!(all.len() > 95, "{}", all.len());
    }

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(escaped("<a href='x'>\u{0}\n"), "&lt;a href=&#39;x&#39;&gt;\\u{0} ");
    }
}
