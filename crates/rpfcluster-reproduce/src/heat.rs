//! A similarity matrix as a heat map: one pixel a pair, as an image inside an SVG with axes and a scale.

use std::fmt::Write;

use crate::svg::escape;
use crate::{Error, Result};

/// Dark violet to yellow through evenly growing lightness (points of the viridis map): readable in grey and by any
/// colour vision.
const STOPS: [[f64; 3]; 6] = [
    [68.0, 1.0, 84.0],
    [65.0, 68.0, 135.0],
    [42.0, 120.0, 142.0],
    [34.0, 168.0, 132.0],
    [122.0, 209.0, 81.0],
    [253.0, 231.0, 37.0],
];

fn colour(value: f64) -> [u8; 3] {
    let at = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let low = (at as usize).min(STOPS.len() - 2);
    let part = at - low as f64;
    [0, 1, 2].map(|c| (STOPS[low][c] * (1.0 - part) + STOPS[low + 1][c] * part).round() as u8)
}

/// An n x n matrix of values from 0 to 1 as a PNG.
pub(crate) fn png(matrix: &[f64], n: usize, name: &'static str) -> Result<Vec<u8>> {
    let failed = |e: png::EncodingError| Error::Figure { name, problem: e.to_string() };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, n as u32, n as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    let pixels: Vec<u8> = matrix.iter().flat_map(|v| colour(*v)).collect();
    writer.write_image_data(&pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Bytes as base64, for a picture inside a page.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            if digit <= group.len() {
                out.push(char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// One panel: a title, a matrix with rows in class order, and the classes' names and sizes along both sides.
pub(crate) struct Panel<'a> {
    pub title: &'a str,
    pub matrix: &'a [f64],
}

/// Panels side by side over the same rows.
pub(crate) fn figure(
    name: &'static str,
    panels: &[Panel<'_>],
    n: usize,
    classes: &[(&str, usize)],
) -> Result<String> {
    const SIDE: f64 = 330.0;
    const LEFT: f64 = 70.0;
    const TOP: f64 = 40.0;
    let step = SIDE + LEFT + 20.0;
    let width = step * panels.len() as f64 + 70.0;
    let mut out = String::new();
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} 420" role="img" aria-label="similarity heat maps" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>"##
    );
    for (number, panel) in panels.iter().enumerate() {
        let x = LEFT + step * number as f64;
        let picture = base64(&png(panel.matrix, n, name)?);
        let _ = write!(
            out,
            r#"<text x="{:.1}" y="24" text-anchor="middle" font-size="14" font-weight="bold">{}</text><image x="{x:.1}" y="{TOP}" width="{SIDE}" height="{SIDE}" style="image-rendering:pixelated" href="data:image/png;base64,{picture}"/>"#,
            x + SIDE / 2.0,
            escape(panel.title)
        );
        let mut before = 0.0;
        for (class, rows) in classes {
            let share = SIDE * *rows as f64 / n.max(1) as f64;
            let middle = before + share / 2.0;
            let _ = write!(
                out,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{}</text><text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                x - 6.0,
                TOP + middle + 4.0,
                escape(class),
                x + middle,
                TOP + SIDE + 16.0,
                escape(class)
            );
            before += share;
        }
    }
    let x = step * panels.len() as f64 + 10.0;
    for part in 0..60u32 {
        let value = 1.0 - f64::from(part) / 59.0;
        let [r, g, b] = colour(value);
        let _ = write!(
            out,
            r#"<rect x="{x:.1}" y="{:.1}" width="14" height="5.7" fill="rgb({r},{g},{b})"/>"#,
            TOP + SIDE * f64::from(part) / 60.0
        );
    }
    let _ = write!(
        out,
        r#"<text x="{:.1}" y="{:.1}">1</text><text x="{:.1}" y="{:.1}">0</text><text x="{LEFT}" y="410">similarity, from 0 to 1; rows and columns in the order of the species</text></svg>"#,
        x + 20.0,
        TOP + 10.0,
        x + 20.0,
        TOP + SIDE
    );
    Ok(out)
}
