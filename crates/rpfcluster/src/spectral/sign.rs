//! Eigenvectors have no sign of their own; a fixed rule makes runs comparable.

/// Turns each of the `m` columns of a row-major block so that its component of largest absolute value is positive;
/// among equals (to rounding, 1e-9 relative) the one of the lowest row decides.
pub fn fix_signs(vectors: &mut [f64], m: usize) {
    if m == 0 {
        return;
    }
    for j in 0..m {
        let column = || vectors.iter().skip(j).step_by(m);
        let largest = column().fold(0.0f64, |most, v| most.max(v.abs()));
        let negative = column().find(|v| v.abs() >= largest * (1.0 - 1e-9)).is_some_and(|v| *v < 0.0);
        if negative {
            for v in vectors.iter_mut().skip(j).step_by(m) {
                *v = -*v;
            }
        }
    }
}
