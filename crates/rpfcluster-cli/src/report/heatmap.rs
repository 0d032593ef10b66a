//! A similarity matrix as a picture: an SVG with the cells as one embedded PNG, a legend, and the names of the groups of
//! rows. The colours are those of viridis: they rise evenly in brightness, so they read the same in grey and to the
//! colour-blind.

use crate::exit::{Failure, Outcome};

/// Consecutive rows that belong together.
pub struct Group {
    /// What they are.
    pub name: String,
    /// How many.
    pub rows: usize,
}

/// Viridis at every eighth.
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
pub fn colour(value: f64) -> [u8; 3] {
    let at = value.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at as usize).min(SCALE.len() - 2);
    let share = at - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (f64::from(SCALE[below][channel]), f64::from(SCALE[below + 1][channel]));
        (a + (b - a) * share).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

const SIDE: f64 = 600.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = LEFT + SIDE + 110.0;
const HEIGHT: f64 = TOP + SIDE + 56.0;

/// The picture of an n x n matrix of values from 0 to 1, rows in the order of the groups.
pub fn svg(title: &str, values: &[f64], groups: &[Group]) -> Outcome<String> {
    let n: usize = groups.iter().map(|g| g.rows).sum();
    let failed = |problem: String| Failure::data(format!("the picture cannot be drawn: {problem}"));
    if n == 0 || values.len() != n * n {
        return Err(failed(format!("{} values do not make {n} rows and columns", values.len())));
    }
    // Whole pixels a cell: programs that smooth pictures when they enlarge them would blur the cells.
    let zoom = (SIDE as usize / n).max(1);
    let side = n * zoom;
    let enlarged = (0..side * side).map(|at| values[at / side / zoom * n + at % side / zoom]);
    let cells = png(side, side, enlarged).map_err(|e| failed(e.to_string()))?;
    let steps = 256;
    let bar = png(1, steps, (0..steps).map(|i| 1.0 - i as f64 / (steps - 1) as f64))
        .map_err(|e| failed(e.to_string()))?;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"14\" fill=\"#222\" role=\"img\">\n\
         <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"30\" font-size=\"18\">{title}</text>\n",
        title = escaped(title)
    );
    svg += &image(LEFT, TOP, SIDE, SIDE, &cells);
    svg += &names(groups, n);
    svg += &legend(&bar);
    svg += "</svg>\n";
    Ok(svg)
}

/// Names beside rows and below columns, and thin lines between groups.
fn names(groups: &[Group], n: usize) -> String {
    let mut svg = String::new();
    let mut from = 0;
    for group in groups {
        let unit = SIDE / n as f64;
        let middle = (from as f64 + group.rows as f64 / 2.0) * unit;
        let name = escaped(&group.name);
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{name}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>\n",
            LEFT - 10.0,
            TOP + middle,
            LEFT + middle,
            TOP + SIDE + 22.0
        );
        if from > 0 {
            let at = from as f64 * unit;
            svg += &format!(
                "<path d=\"M{:.1} {TOP}v{SIDE}M{LEFT} {:.1}h{SIDE}\" stroke=\"#fff\" stroke-width=\"1\" \
                 stroke-opacity=\"0.6\"/>\n",
                LEFT + at,
                TOP + at
            );
        }
        from += group.rows;
    }
    svg
}

/// The scale with its numbers.
fn legend(bar: &[u8]) -> String {
    let (x, height) = (LEFT + SIDE + 24.0, SIDE * 0.6);
    let mut svg = image(x, TOP, 18.0, height, bar);
    for quarter in 0..=4 {
        let value = f64::from(quarter) / 4.0;
        let y = TOP + height * (1.0 - value);
        svg += &format!(
            "<path d=\"M{:.1} {y:.1}h5\" stroke=\"#222\"/>\
             <text x=\"{:.1}\" y=\"{y:.1}\" dominant-baseline=\"middle\">{value}</text>\n",
            x + 18.0,
            x + 28.0
        );
    }
    let lines = ["share of", "trees with", "both rows", "in one leaf"];
    for (at, line) in lines.iter().enumerate() {
        svg += &format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"12\">{line}</text>\n",
            TOP + height + 28.0 + 16.0 * at as f64
        );
    }
    svg
}

fn image(x: f64, y: f64, width: f64, height: f64, png: &[u8]) -> String {
    format!(
        "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        base64(png)
    )
}

/// Values as the pixels of a PNG, row after row.
pub fn png(
    width: usize,
    height: usize,
    values: impl Iterator<Item = f64>,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&values.flat_map(colour).collect::<Vec<u8>>())?;
    writer.finish()?;
    Ok(bytes)
}

/// Base64 with padding.
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

/// Safe between tags and in quotes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_everyone_has_it() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn colours_rise_in_brightness() {
        let bright = |v: f64| {
            let [r, g, b] = colour(v).map(f64::from);
            0.299 * r + 0.587 * g + 0.114 * b
        };
        assert!((0..100).all(|i| bright(f64::from(i) / 100.0) < bright(f64::from(i + 1) / 100.0)));
    }

    #[test]
    fn wrong_sizes_are_refused_and_names_escaped() {
        assert!(svg("t", &[1.0], &[]).is_err());
        assert!(svg("t", &[1.0, 0.0], &[Group { name: "a".into(), rows: 2 }]).is_err());
        let drawn = svg("a < b", &[1.0], &[Group { name: "<x>".into(), rows: 1 }]).unwrap();
        assert!(drawn.contains("a &lt; b") && drawn.contains("&lt;x&gt;"));
    }
}
