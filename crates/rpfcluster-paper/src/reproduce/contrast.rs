//! The contrast of a similarity matrix with known classes, as numbers: the paper's figure of the two kernels of Iris shows
//! it as heat maps.

use serde::Serialize;

/// Mean similarities of pairs of different rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// Of the same class.
    pub within: f64,
    /// Of different classes.
    pub between: f64,
    /// Of each pair of classes, by rows of the upper triangle with its diagonal: (0, 0), (0, 1), …, (1, 1), ….
    pub blocks: Vec<f64>,
}

impl Contrast {
    /// Means over the pairs of an n x n matrix.
    pub fn new(matrix: &[f64], classes: &[u32]) -> Self {
        let n = classes.len();
        let k = classes.iter().max().map_or(0, |most| *most as usize + 1);
        let mut sums = vec![(0.0, 0.0); k * k];
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (classes[i].min(classes[j]) as usize, classes[i].max(classes[j]) as usize);
                let cell = &mut sums[a * k + b];
                *cell = (cell.0 + matrix[i * n + j], cell.1 + 1.0);
            }
        }
        let mean = |of: &dyn Fn(usize, usize) -> bool| {
            let cells = sums.iter().enumerate().filter(|(at, _)| of(at / k, at % k));
            let (sum, pairs) =
                cells.fold((0.0, 0.0), |total, (_, cell)| (total.0 + cell.0, total.1 + cell.1));
            if pairs > 0.0 { sum / pairs } else { 0.0 }
        };
        Contrast {
            within: mean(&|a, b| a == b),
            between: mean(&|a, b| a != b),
            blocks: (0..k)
                .flat_map(|a| (a..k).map(move |b| (a, b)))
                .map(|cell| mean(&|a, b| (a, b) == cell))
                .collect(),
        }
    }

    /// How many times the similarity within classes exceeds that between classes.
    pub fn ratio(&self) -> f64 {
        self.within / self.between
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_leave_out_the_diagonal_and_average_each_block() {
        #[rustfmt::skip]
        let matrix = [
            9.0, 0.8, 0.1, 0.3,
            0.8, 9.0, 0.2, 0.2,
            0.1, 0.2, 9.0, 0.6,
            0.3, 0.2, 0.6, 9.0,
        ];
        let contrast = Contrast::new(&matrix, &[0, 0, 1, 1]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(contrast.within, 0.7);
        close(contrast.between, 0.2);
        close(contrast.ratio(), 3.5);
        [0.8, 0.2, 0.6].iter().zip(&contrast.blocks).for_each(|(a, b)| close(*a, *b));
    }
}
