//! Eigenvectors have no sign of their own; a fixed rule makes runs comparable.

/// Turns each of the `m` columns of a row-major block so that its component of largest absolute value is positive;
/// among equals (to rounding, 1e-9 relative) the one of the lowest row decides.
pub fn fix_signs(vectors: &mut [f64], m: usize) {
    if m == 0 {
        return;
    }
    // Row by row: a column alone would pass over the whole memory, and there may be hundreds of them.
    let mut largest = vec![0.0f64; m];
    for row in vectors.chunks_exact(m) {
        largest.iter_mut().zip(row).for_each(|(most, v)| *most = most.max(v.abs()));
    }
    let mut negative: Vec<Option<bool>> = vec![None; m];
    let mut open = m;
    for row in vectors.chunks_exact(m) {
        if open == 0 {
            break;
        }
        for ((decided, v), most) in negative.iter_mut().zip(row).zip(&largest) {
            if decided.is_none() && v.abs() >= most * (1.0 - 1e-9) {
                *decided = Some(*v < 0.0);
                open -= 1;
            }
        }
    }
    let signs: Vec<f64> = negative.iter().map(|n| if *n == Some(true) { -1.0 } else { 1.0 }).collect();
    for row in vectors.chunks_exact_mut(m) {
        row.iter_mut().zip(&signs).for_each(|(v, sign)| *v *= sign);
    }
}
