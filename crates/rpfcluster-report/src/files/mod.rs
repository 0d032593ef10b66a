//! Figures as files: SVG, PNG of any width, PDF. Text becomes outlines, so that a figure looks the same wherever it is
//! opened.
//!
//! resvg parses the SVG, shapes the text and renders the PNG. `pdf` writes the PDF from the paths of resvg with
//! pdf-writer, since the existing converter (svg2pdf) requires an older resvg.

mod pdf;

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, WriteOptions, fontdb};

use crate::error::{Error, Result};

/// DejaVu Sans: Latin, Greek, Cyrillic, punctuation and mathematics. fonts/README.md says how it was cut out.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// The widest picture; a mistyped width must not ask for gigabytes.
pub const WIDEST: u32 = 20_000;

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable, for pages and programs that draw.
    Svg,
    /// Pixels.
    Png,
    /// For LaTeX.
    Pdf,
}

impl Format {
    /// By the ending of a file's name.
    pub fn of_ending(ending: &str) -> Option<Format> {
        match ending.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            "pdf" => Some(Format::Pdf),
            _ => None,
        }
    }
}

/// The bytes of a figure; `width` are the pixels of a PNG.
pub fn file(svg: &str, format: Format, width: u32) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    match format {
        Format::Svg => Ok(outlined(svg, &tree).into_bytes()),
        Format::Png => png(&tree, width),
        Format::Pdf => pdf::pdf(&tree),
    }
}

fn failed(problem: impl ToString) -> Error {
    Error::Picture { what: "figure", problem: problem.to_string() }
}

fn tree(svg: &str) -> Result<Tree> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    // Names in scripts that our font lacks: whatever the machine has.
    if svg.chars().any(|c| c > '\u{52f}' && !('\u{2010}'..'\u{2600}').contains(&c)) {
        fonts.load_system_fonts();
    }
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(failed)
}

/// The figure with its letters as paths; what it shows stays readable to those who do not see it.
fn outlined(svg: &str, tree: &Tree) -> String {
    let options =
        WriteOptions { coordinates_precision: 3, transforms_precision: 5, ..WriteOptions::default() };
    let drawn = tree.to_string(&options);
    let between = |from: &str, to: &str| Some(svg.split_once(from)?.1.split_once(to)?.0);
    match (between("aria-label=\"", "\""), drawn.split_once("<svg ")) {
        (Some(words), Some((head, rest))) => match rest.split_once('>') {
            Some((attributes, body)) => format!(
                "{head}<svg role=\"img\" aria-label=\"{words}\" {attributes}>\n<title>{words}</title>{body}"
            ),
            None => drawn,
        },
        _ => drawn,
    }
}

fn png(tree: &Tree, width: u32) -> Result<Vec<u8>> {
    if width == 0 || width > WIDEST {
        return Err(failed(format!("{width} pixels are no width from 1 to {WIDEST}")));
    }
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil().max(1.0) as u32;
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| failed("it is too large"))?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Ink;
    use crate::figures::{Group, Panel, eigen, heat};
    use crate::model::Spectrum;

    fn figure() -> String {
        eigen(&Spectrum { values: vec![1.0, 0.9, 0.2], k: 2 }, Ink::PAPER, Some("α, β and ≤ <b>"))
    }

    #[test]
    fn letters_become_outlines() {
        let svg = String::from_utf8(file(&figure(), Format::Svg, 0).unwrap()).unwrap();
        assert!(!svg.contains("<text") && !svg.contains("font-family"), "text is left");
        assert!(svg.contains("<title>") && svg.contains("aria-label="));
        assert!(svg.matches("<path").count() > 10);
        Tree::from_str(&svg, &Options::default()).unwrap();
    }

    #[test]
    fn a_png_has_the_width_asked_for() {
        let png = file(&figure(), Format::Png, 900).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert_eq!(u32::from_be_bytes([png[16], png[17], png[18], png[19]]), 900);
        assert!(file(&figure(), Format::Png, 0).is_err());
        // A heat map's cells are there too.
        let groups = [Group { name: "a".into(), rows: 2 }];
        let panel = Panel { title: "t", values: &[1.0, 0.2, 0.2, 1.0], groups: &groups };
        let drawn = file(&heat(&[panel], &["share"], false).unwrap(), Format::Png, 700).unwrap();
        let pixels = Pixmap::decode_png(&drawn).unwrap();
        let bright = pixels.pixel(200, 150).unwrap();
        assert_eq!((bright.red(), bright.green(), bright.blue()), (253, 231, 37));
        assert!(file(&figure(), Format::Png, WIDEST + 1).is_err());
    }

    #[test]
    fn a_pdf_has_paths_and_pictures_and_no_font() {
        let groups = [Group { name: "a".into(), rows: 2 }];
        let panel = Panel { title: "t", values: &[1.0, 0.2, 0.2, 1.0], groups: &groups };
        let pdf = file(&heat(&[panel], &["share"], true).unwrap(), Format::Pdf, 0).unwrap();
        let has = |part: &[u8]| pdf.windows(part.len()).any(|w| w == part);
        assert!(pdf.starts_with(b"%PDF-") && has(b"%%EOF"));
        assert!(has(b"/Image") && !has(b"/Font"));
    }
}
