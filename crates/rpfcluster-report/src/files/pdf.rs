//! A figure as a PDF of one page: the paths and images of an SVG tree, written in order.
//!
//! The figures use plain colours, dashes, opacity and PNG images of eight bits per channel. Gradients, clips and
//! filters, which they do not use, are errors rather than drawn wrongly.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle, Predictor};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
use resvg::tiny_skia::PathSegment;
use resvg::usvg::{FillRule, Group, ImageKind, LineCap, LineJoin, Node, Paint, Path, Transform, Tree};

use super::failed;
use crate::error::Result;

/// Points per pixel: an inch is 96 pixels of an SVG and 72 points of a PDF.
const POINT: f32 = 0.75;
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
/// The number of the first image; the opacity states follow the images.
const FIRST_FREE: i32 = 5;

/// The content of the page and the resources it refers to.
struct Drawing {
    content: Content,
    /// Opacity of fills and strokes, in thousandths, by the number of its state.
    opacities: BTreeMap<(u16, u16), usize>,
    /// The bytes of each picture.
    pictures: Vec<Vec<u8>>,
}

/// The file's bytes.
pub fn pdf(tree: &Tree) -> Result<Vec<u8>> {
    let (width, height) = (tree.size().width() * POINT, tree.size().height() * POINT);
    let mut drawing = Drawing { content: Content::new(), opacities: BTreeMap::new(), pictures: Vec::new() };
    drawing.content.transform([POINT, 0.0, 0.0, -POINT, 0.0, height]);
    drawing.group(tree.root(), 1.0)?;
    let Drawing { content, opacities, pictures } = drawing;
    let picture = |at: usize| Ref::new(FIRST_FREE + at as i32);
    let opacity = |at: usize| Ref::new(FIRST_FREE + (pictures.len() + at) as i32);

    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(0.0, 0.0, width, height)).parent(PAGES).contents(CONTENT);
    let mut resources = page.resources();
    let mut objects = resources.x_objects();
    for at in 0..pictures.len() {
        objects.pair(Name(format!("I{at}").as_bytes()), picture(at));
    }
    objects.finish();
    let mut states = resources.ext_g_states();
    for &at in opacities.values() {
        states.pair(Name(format!("G{at}").as_bytes()), opacity(at));
    }
    states.finish();
    resources.finish();
    page.finish();
    let packed = packed(&content.finish())?;
    pdf.stream(CONTENT, &packed).filter(Filter::FlateDecode);
    for (at, png) in pictures.iter().enumerate() {
        add_picture(&mut pdf, picture(at), png)?;
    }
    for (&(fill, stroke), &at) in &opacities {
        let mut state = pdf.ext_graphics(opacity(at));
        state.non_stroking_alpha(f32::from(fill) / 1000.0).stroking_alpha(f32::from(stroke) / 1000.0);
    }
    Ok(pdf.finish())
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Adds a PNG without decompressing it: its IDAT chunks are what a PDF calls Flate with PNG predictors.
fn add_picture(pdf: &mut Pdf, id: Ref, png: &[u8]) -> Result<()> {
    let number = |at: usize| -> Option<usize> {
        Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    let cut_short = || failed("a picture in it is cut short");
    let (width, height) =
        (number(16).ok_or_else(cut_short)? as i32, number(20).ok_or_else(cut_short)? as i32);
    // Eight bits, red, green and blue, not interlaced: as `draw::png` writes them.
    if png.get(24..26) != Some(&[8, 2]) || png.get(28) != Some(&0) {
        return Err(failed("a picture in it is not of eight bits a colour"));
    }
    let mut data = Vec::new();
    let mut at = 8;
    while let Some(length) = number(at) {
        let kind = png.get(at + 4..at + 8).ok_or_else(cut_short)?;
        if kind == b"IDAT" {
            data.extend_from_slice(png.get(at + 8..at + 8 + length).ok_or_else(cut_short)?);
        }
        at += 12 + length;
    }
    let mut image = pdf.image_xobject(id, &data);
    image.filter(Filter::FlateDecode);
    image.width(width).height(height).bits_per_component(8);
    image.color_space().device_rgb();
    image.decode_parms().predictor(Predictor::PngOptimum).colors(3).bits_per_component(8).columns(width);
    Ok(())
}

impl Drawing {
    fn group(&mut self, group: &Group, opacity: f32) -> Result<()> {
        if group.clip_path().is_some() || group.mask().is_some() || !group.filters().is_empty() {
            return Err(failed("a PDF cannot hold a clip, mask or filter here"));
        }
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, opacity)?,
                Node::Path(path) => self.path(path, opacity)?,
                Node::Text(text) => self.group(text.flattened(), opacity)?,
                Node::Image(image) => {
                    let ImageKind::PNG(png) = image.kind() else {
                        return Err(failed("a picture in it is no PNG"));
                    };
                    let name = format!("I{}", self.pictures.len());
                    self.pictures.push(png.as_ref().clone());
                    self.content.save_state();
                    self.content.transform(matrix(image.abs_transform()));
                    // A picture fills the unit square, its first row on top.
                    let (width, height) = (image.size().width(), image.size().height());
                    self.content.transform([width, 0.0, 0.0, -height, 0.0, height]);
                    self.content.x_object(Name(name.as_bytes()));
                    self.content.restore_state();
                }
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Path, opacity: f32) -> Result<()> {
        if !path.is_visible() {
            return Ok(());
        }
        let thousandths = |share: f32| (share * opacity * 1000.0).round() as u16;
        let fill = path.fill().map(|f| (f.paint(), thousandths(f.opacity().get()), f.rule()));
        let stroke = path.stroke().map(|s| (s.paint(), thousandths(s.opacity().get()), s));
        let seen = (fill.as_ref().map_or(1000, |f| f.1), stroke.as_ref().map_or(1000, |s| s.1));
        let next = self.opacities.len();
        let state = *self.opacities.entry(seen).or_insert(next);
        self.content.save_state();
        self.content.set_parameters(Name(format!("G{state}").as_bytes()));
        self.content.transform(matrix(path.abs_transform()));
        if let Some((paint, ..)) = fill {
            let [r, g, b] = plain(paint)?;
            self.content.set_fill_rgb(r, g, b);
        }
        if let Some((paint, _, stroke)) = stroke {
            let [r, g, b] = plain(paint)?;
            self.content.set_stroke_rgb(r, g, b);
            self.content.set_line_width(stroke.width().get());
            self.content.set_line_cap(match stroke.linecap() {
                LineCap::Butt => LineCapStyle::ButtCap,
                LineCap::Round => LineCapStyle::RoundCap,
                LineCap::Square => LineCapStyle::ProjectingSquareCap,
            });
            self.content.set_line_join(match stroke.linejoin() {
                LineJoin::Round => LineJoinStyle::RoundJoin,
                LineJoin::Bevel => LineJoinStyle::BevelJoin,
                LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            });
            if let Some(dashes) = stroke.dasharray() {
                self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
            }
        }
        self.outline(path);
        match (fill.map(|f| f.2), stroke.is_some()) {
            (Some(FillRule::NonZero), true) => self.content.fill_nonzero_and_stroke(),
            (Some(FillRule::EvenOdd), true) => self.content.fill_even_odd_and_stroke(),
            (Some(FillRule::NonZero), false) => self.content.fill_nonzero(),
            (Some(FillRule::EvenOdd), false) => self.content.fill_even_odd(),
            (None, true) => self.content.stroke(),
            (None, false) => self.content.end_path(),
        };
        self.content.restore_state();
        Ok(())
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    self.content.move_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    self.content.line_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::QuadTo(c, p) => {
                    // A PDF has cubic curves only; degree elevation gives the same curve.
                    let third = |a: f32, b: f32| a + (b - a) * 2.0 / 3.0;
                    let (x1, y1) = (third(last.0, c.x), third(last.1, c.y));
                    self.content.cubic_to(x1, y1, third(p.x, c.x), third(p.y, c.y), p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }
}

fn matrix(t: Transform) -> [f32; 6] {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]
}

fn plain(paint: &Paint) -> Result<[f32; 3]> {
    match paint {
        Paint::Color(c) => Ok([c.red, c.green, c.blue].map(|part| f32::from(part) / 255.0)),
        _ => Err(failed("a PDF cannot hold a gradient here")),
    }
}
