//! The sign convention of eigenvectors: the entry of largest absolute value is positive, so that runs are comparable.
//!
//! Entries within 1e-9 of the largest, relative, count as equal; the one in the lowest row decides.

/// Makes the entry of largest absolute value positive in each of the `m` columns of a row-major block. Among equals (up
/// to 1e-9 relative) the lowest row decides.
pub fn fix_signs(vectors: &mut [f64], m: usize) {
    if m == 0 {
        return;
    }
    // Row by row: one pass over memory for all columns.
    let mut largest = vec![0.0f64; m];
    for row in vectors.chunks_exact(m) {
        largest.iter_mut().zip(row).for_each(|(most, v)| *most = most.max(v.abs()));
    }
    let mut negative: Vec<Option<bool>> = vec![None; m];
    let mut undecided = m;
    for row in vectors.chunks_exact(m) {
        if undecided == 0 {
            break;
        }
        for ((decided, v), most) in negative.iter_mut().zip(row).zip(&largest) {
            if decided.is_none() && v.abs() >= most * (1.0 - 1e-9) {
                *decided = Some(*v < 0.0);
                undecided -= 1;
            }
        }
    }
    let signs: Vec<f64> = negative.iter().map(|n| if *n == Some(true) { -1.0 } else { 1.0 }).collect();
    for row in vectors.chunks_exact_mut(m) {
        row.iter_mut().zip(&signs).for_each(|(v, sign)| *v *= sign);
    }
}
