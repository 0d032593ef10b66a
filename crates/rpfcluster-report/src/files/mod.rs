//! Figures as files: SVG, PNG of any width, PDF. Text becomes outlines, so that a figure looks the same wherever it is
//! opened.
//!
//! resvg parses the SVG, shapes the text and renders the PNG. `pdf` writes the PDF from the paths of resvg with
//! pdf-writer, since the existing converter (svg2pdf) requires an older resvg. Text is drawn in an embedded font; the
//! fonts of the machine are loaded only for scripts that it lacks.

mod pdf;

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, WriteOptions, fontdb};

use crate::error::{Error, Result};

/// DejaVu Sans: Latin, Greek, Cyrillic, punctuation and mathematics. fonts/README.md says how the subset was made.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// Largest width of a PNG in pixels; a mistyped width must not allocate gigabytes.
pub const WIDEST: u32 = 20_000;

/// The file format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureFormat {
    /// Scalable, for web pages and drawing programs.
    Svg,
    /// Pixels.
    Png,
    /// For LaTeX.
    Pdf,
}

impl FigureFormat {
    /// The format of a file extension.
    pub fn of_ending(ending: &str) -> Option<FigureFormat> {
        match ending.to_ascii_lowercase().as_str() {
            "svg" => Some(FigureFormat::Svg),
            "png" => Some(FigureFormat::Png),
            "pdf" => Some(FigureFormat::Pdf),
            _ => None,
        }
    }
}

/// The bytes of a figure; `width` is that of a PNG in pixels.
pub fn file(svg: &str, format: FigureFormat, width: u32) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    match format {
        FigureFormat::Svg => Ok(outlined(svg, &tree).into_bytes()),
        FigureFormat::Png => png(&tree, width),
        FigureFormat::Pdf => pdf::pdf(&tree),
    }
}

fn failed(problem: impl ToString) -> Error {
    Error::Picture { what: "figure", problem: problem.to_string() }
}

fn tree(svg: &str) -> Result<Tree> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    // Scripts that the embedded font lacks are drawn in the fonts of the machine.
    if svg.chars().any(|c| c > '\u{52f}' && !('\u{2010}'..'\u{2600}').contains(&c)) {
        fonts.load_system_fonts();
    }
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(failed)
}

/// The figure with its text as paths. The text alternative is kept for screen readers.
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
        eigen(&Spectrum { values: vec![1.0, 0.9, 0.2], k: 2, used: true }, Ink::PAPER, Some("α, β and ≤ <b>"))
    }

    #[test]
    fn letters_become_outlines() {
        let svg = String::from_utf8(file(&figure(), FigureFormat::Svg, 0).unwrap()).unwrap();
        assert!(!svg.contains("<text") && !svg.contains("font-family"), "text is left");
        assert!(svg.contains("<title>") && svg.contains("aria-label="));
        assert!(svg.matches("<path").count() > 10);
        Tree::from_str(&svg, &Options::default()).unwrap();
    }

    #[test]
    fn a_png_has_the_width_asked_for() {
        let png = file(&figure(), FigureFormat::Png, 900).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert_eq!(u32::from_be_bytes([png[16], png[17], png[18], png[19]]), 900);
        assert!(file(&figure(), FigureFormat::Png, 0).is_err());
        // A heat map's cells are there too.
        let groups = [Group { name: "a".into(), rows: 2 }];
        let panel = Panel { title: "t", values: &[1.0, 0.2, 0.2, 1.0], groups: &groups };
        let drawn = file(&heat(&[panel], &["share"], false).unwrap(), FigureFormat::Png, 700).unwrap();
        let pixels = Pixmap::decode_png(&drawn).unwrap();
        let bright = pixels.pixel(200, 150).unwrap();
        assert_eq!((bright.red(), bright.green(), bright.blue()), (253, 231, 37));
        assert!(file(&figure(), FigureFormat::Png, WIDEST + 1).is_err());
    }

    #[test]
    fn a_pdf_has_pictures_and_no_font() {
        let groups = [Group { name: "a".into(), rows: 2 }];
        let panel = Panel { title: "t", values: &[1.0, 0.2, 0.2, 1.0], groups: &groups };
        let pdf = file(&heat(&[panel], &["share"], true).unwrap(), FigureFormat::Pdf, 0).unwrap();
        let has = |part: &[u8]| pdf.windows(part.len()).any(|w| w == part);
        assert!(pdf.starts_with(b"%PDF-") && has(b"%%EOF"));
        assert!(has(b"/Image") && !has(b"/Font"));
    }
}
