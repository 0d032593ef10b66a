//! Figures as SVG for the page, for `rpf plot` and for the paper's experiments. Each file draws one kind of figure from
//! plain numbers.

mod bars;
mod eigen;
mod embedding;
mod heat;
mod sweep;

pub use bars::{Bar, BarChart, BarGroup, bars};
pub use eigen::eigen;
pub use embedding::{Cloud, embedding};
pub use heat::{Group, Panel, heat};
pub use sweep::sweep;
