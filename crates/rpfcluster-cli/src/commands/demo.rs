//! `rpf demo`: all that can be shown without a file of one's own.
//!
//! The embedded Iris data goes the whole way the program can go; the species are looked at only afterwards, to see
//! whether rows of one species came out similar.

use std::path::{Path, PathBuf};

use rpfcluster::Forest;
use rpfcluster_data::{Labels, iris};

use crate::args::DemoArgs;
use crate::exit::{Failure, Outcome};
use crate::report::heatmap::{self, Group};
use crate::session::Session;
use crate::{engine, output, resolve};

/// The picture's name.
const PICTURE: &str = "iris-kernel.svg";

/// Grows, counts, draws, and says what to do next.
pub fn run(args: &DemoArgs) -> Outcome {
    let session = Session::new(&args.run);
    let params = resolve::forest(&args.forest)?;
    let folder = folder(args.out.as_deref())?;
    let picture = folder.join(PICTURE);
    resolve::outputs(Path::new("-"), &[("--out", Some(&picture))])?;
    session.on_threads(|| {
        let table = iris()?;
        let species = table.labels.as_ref().ok_or_else(|| Failure::data("iris: the species are missing"))?;
        let forest = engine::grow(&session, &table, &params)?;
        let kernel = session.clock.time("kernel", || forest.leaves().dense());
        let similarity = Similarity::new(&kernel, species);
        let groups: Vec<Group> = species
            .names
            .iter()
            .zip(species.counts())
            .map(|(name, rows)| Group { name: name.clone(), rows })
            .collect();
        let title = format!("rpf-kernel of Iris: {} trees, seed {}", params.trees, params.seed);
        let drawn = heatmap::svg(&title, &kernel, &groups)?;
        output::to_file(&picture, |out| std::io::Write::write_all(out, drawn.as_bytes()))?;
        let grown = session.clock.seconds_of("grow");
        output::print(&text(&table, &forest, &similarity, grown, &picture))
    })
}

/// The folder for the picture, made if need be.
fn folder(out: Option<&Path>) -> Outcome<PathBuf> {
    let Some(folder) = out else { return Ok(PathBuf::new()) };
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure::data(format!("{}: the folder cannot be made: {}", folder.display(), e.kind()))
    })?;
    Ok(folder.to_path_buf())
}

/// Mean similarity of the rows of two species; of a species with itself, a row and itself left out.
struct Similarity {
    names: Vec<String>,
    mean: Vec<Vec<f64>>,
    within: f64,
    between: f64,
}

impl Similarity {
    fn new(kernel: &[f64], species: &Labels) -> Self {
        let (n, k) = (species.codes.len(), species.names.len());
        let mut sums = vec![vec![(0.0, 0u32); k]; k];
        let (mut within, mut between) = ((0.0, 0u32), (0.0, 0u32));
        let add = |cell: &mut (f64, u32), s: f64| *cell = (cell.0 + s, cell.1 + 1);
        for (i, row) in kernel.chunks_exact(n.max(1)).enumerate() {
            for (j, &s) in row.iter().enumerate().filter(|(j, _)| *j != i) {
                let (a, b) = (species.codes[i] as usize, species.codes[j] as usize);
                add(&mut sums[a][b], s);
                add(if a == b { &mut within } else { &mut between }, s);
            }
        }
        let mean = |(sum, count): (f64, u32)| sum / f64::from(count.max(1));
        Similarity {
            names: species.names.clone(),
            mean: sums.into_iter().map(|row| row.into_iter().map(mean).collect()).collect(),
            within: mean(within),
            between: mean(between),
        }
    }

    fn table(&self) -> String {
        let head = std::iter::once("mean similarity".to_string()).chain(self.names.iter().cloned());
        let mut rows = vec![head.collect::<Vec<String>>()];
        for (name, means) in self.names.iter().zip(&self.mean) {
            let cells = means.iter().map(|mean| format!("{mean:.3}"));
            rows.push(std::iter::once(name.clone()).chain(cells).collect());
        }
        output::columns(&rows)
    }
}

fn text(
    table: &rpfcluster_data::Table,
    forest: &Forest,
    similarity: &Similarity,
    grown: f64,
    picture: &Path,
) -> String {
    let times = similarity.within / similarity.between.max(f64::MIN_POSITIVE);
    format!(
        "Iris: {} flowers, {} measurements, {} species; the forest does not see the species.\n\
         Forest: {} trees, {} leaves, grown in {grown:.2} s.\n\n\
         {}\n\
         Two flowers of one species share a leaf in {:.1} % of the trees, two of different species in {:.1} %: \
         {times:.0} times as often.\n\
         Picture: {}\n\n\
         Next, with data of your own (--label COLUMN leaves a column of known classes out):\n  \
         rpf kernel data.csv -o kernel.npz --model forest.rpf    every pair's similarity, for SciPy; the forest\n  \
         rpf neighbors data.csv -n 10                            the ten nearest rows of every row\n  \
         rpf kernel --help                                       all options, with examples\n",
        table.n,
        table.d(),
        similarity.names.len(),
        forest.trees(),
        forest.leaves().columns(),
        similarity.table(),
        100.0 * similarity.within,
        100.0 * similarity.between,
        picture.display(),
    )
}
