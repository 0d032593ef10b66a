//! Parses one cell of text: a number, a missing value or text. This dominates the time to read a large text file.
//!
//! Short decimals take a fast path: a mantissa up to 2^53 and a power of ten up to 10^22 are both exact in double
//! precision, so a single division gives the correctly rounded result (Clinger, PLDI 1990). `short_decimal` is that
//! path on its own; it returns where the number ends, so the text parser need not search for the delimiter. Everything
//! else goes to fast-float2 (Lemire, Softw. Pract. Exp. 51(8), 2021). Its results are bit-identical to those of the
//! standard library, and it is 1.3 to 1.6 times as fast; on short decimals the fast path is another 1.2 to 1.5 times as
//! fast.

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// A number, perhaps infinite, never NaN.
    Number(f64),
    /// Empty, `?`, or, ignoring case, `NA`, `N/A`, `NaN` or `null`.
    Missing,
    /// Anything else, trimmed.
    Text(&'a [u8]),
}

/// The powers of ten that double precision represents exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The plain decimal at the start of `bytes` and its length, when the fast path parses it exactly.
#[inline]
pub(crate) fn short_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let mut i = 0;
    let negative = match bytes.first() {
        Some(b'-') => {
            i = 1;
            true
        }
        Some(b'+') => {
            i = 1;
            false
        }
        _ => false,
    };
    let start = i;
    let mut mantissa: u64 = 0;
    while let Some(digit) = bytes.get(i).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        i += 1;
    }
    let mut digits = i - start;
    let mut fraction = 0;
    if bytes.get(i) == Some(&b'.') {
        i += 1;
        let point = i;
        while let Some(digit) = bytes.get(i).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            i += 1;
        }
        fraction = i - point;
        digits += fraction;
    }
    // Up to 19 digits cannot have overflowed.
    if digits == 0 || digits > 19 || mantissa > 1 << 53 {
        return None;
    }
    let x = mantissa as f64 / POWERS.get(fraction)?;
    Some((if negative { -x } else { x }, i))
}

/// Parses a whole cell.
pub(crate) fn cell(bytes: &[u8]) -> Cell<'_> {
    let trimmed = bytes.trim_ascii();
    if is_missing(trimmed) {
        return Cell::Missing;
    }
    if let Some((x, used)) = short_decimal(trimmed)
        && used == trimmed.len()
    {
        return Cell::Number(x);
    }
    match fast_float2::parse::<f64, _>(trimmed) {
        Ok(x) if x.is_nan() => Cell::Missing,
        Ok(x) => Cell::Number(x),
        Err(_) => Cell::Text(trimmed),
    }
}

fn is_missing(cell: &[u8]) -> bool {
    match cell.len() {
        0 => true,
        1 => cell == b"?",
        2 => cell.eq_ignore_ascii_case(b"na"),
        3 => cell.eq_ignore_ascii_case(b"nan") || cell.eq_ignore_ascii_case(b"n/a"),
        4 => cell.eq_ignore_ascii_case(b"null"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_missing_or_text() {
        for (text, x) in
            [(".28", 0.28), ("1.", 1.0), ("+3", 3.0), (" 47 ", 47.0), ("-0.631", -0.631), ("1e3", 1e3)]
        {
            assert_eq!(cell(text.as_bytes()), Cell::Number(x), "{text}");
        }
        for text in ["", "  ", "NA", "nan", "NaN", "?", "null", "-nan"] {
            assert_eq!(cell(text.as_bytes()), Cell::Missing, "{text}");
        }
        for text in [".", "-", "1,5", "setosa", "1e", "--1", "1.2.3"] {
            assert!(matches!(cell(text.as_bytes()), Cell::Text(_)), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn short_decimals_have_the_bits_of_the_standard_parser(m in 0u64..u64::MAX, places in 0usize..25, negative: bool) {
            let mut digits = format!("{m:0>width$}", width = places + 1);
            digits.insert(digits.len() - places, '.');
            let text = format!("{}{digits}", if negative { "-" } else { "" });
            let Cell::Number(x) = cell(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(x.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }

        #[test]
        fn every_spelling_of_a_double_reads_back_to_its_bits(x in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            for text in [format!("{x}"), format!("{x:e}"), format!("{x:.25e}"), format!("{x:E}")] {
                let Cell::Number(read) = cell(text.as_bytes()) else { panic!("{text}") };
                assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
    }
}
