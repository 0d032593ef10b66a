//! `rpf demo`: clusters the embedded Iris data, scores the clusters against the species, and writes a page and a
//! picture.

use std::io::Write;
use std::path::{Path, PathBuf};

use rpfcluster_data::{Labels, iris};
use rpfcluster_report::figures::{Group, Panel, heat};

use crate::args::{DemoArgs, SpectralArgs};
use crate::exit::{Failure, Result};
use crate::files::report;
use crate::outcome::Outcome;
use crate::resolve::Clusters;
use crate::session::Session;
use crate::transaction::Transaction;
use crate::{output, output_paths, resolve, summary};

/// File name of the picture.
const PICTURE: &str = "iris-kernel.svg";
/// File name of the page.
const PAGE: &str = "report.html";

/// Clusters, scores, draws, and prints what to do next.
pub fn run(args: &DemoArgs) -> Result {
    let session = Session::new(&args.run);
    let params = resolve::pipeline(&args.forest, &SpectralArgs::default(), &Clusters::Fixed(3))?;
    let folder = folder(args.out.as_deref())?;
    let (picture, page) = (folder.join(PICTURE), folder.join(PAGE));
    output_paths::check(
        &[("--config", args.run.config.as_deref())],
        &[("--out", Some(&picture)), ("--out", Some(&page))],
    )?;
    session.on_threads(|| {
        let (table, preparation) = iris()?;
        let species = table.labels.clone().ok_or_else(|| Failure::data("iris: the species are missing"))?;
        let outcome = Outcome::of_rows(&session, table, preparation, &params)?;
        let drawn = picture_of(&outcome, &species)?;
        let warnings = summary::warnings(&outcome, summary::Reader::Page);
        let mut transaction = Transaction::default();
        transaction.file(&picture, |out| out.write_all(drawn.as_bytes()))?;
        report::save(&mut transaction, &session, &outcome, warnings, None, &page)?;
        transaction.print(text(&session, &outcome, &species, &page, &picture)?);
        transaction.commit()
    })
}

/// The output folder, created if it does not exist.
fn folder(out: Option<&Path>) -> Result<PathBuf> {
    let Some(folder) = out else { return Ok(PathBuf::new()) };
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure::data(format!("{}: the folder cannot be created: {}", folder.display(), e.kind()))
    })?;
    Ok(folder.to_path_buf())
}

/// The kernel as a heat map, rows ordered by species.
fn picture_of(outcome: &Outcome, species: &Labels) -> Result<String> {
    let Some(fitted) = outcome.clustering.fitted() else { return Ok(String::new()) };
    let groups: Vec<Group> = species
        .names
        .iter()
        .zip(species.counts())
        .map(|(name, rows)| Group { name: name.clone(), rows })
        .collect();
    let (trees, seed) = (fitted.forest().trees(), fitted.params().seed);
    let title = format!("rpf-kernel of Iris: {trees} trees, seed {seed}");
    let panel = Panel { title: &title, values: &fitted.leaves().dense(), groups: &groups };
    Ok(heat(&[panel], &["share of trees", "with both rows", "in one leaf"], true)?)
}

/// Number of rows by cluster and species.
fn table(outcome: &Outcome, species: &Labels) -> String {
    let mut counts = vec![vec![0usize; species.names.len()]; outcome.clustering.k()];
    for (&cluster, &class) in outcome.clustering.labels().iter().zip(&species.codes) {
        counts[cluster as usize][class as usize] += 1;
    }
    let head = std::iter::once(String::new()).chain(species.names.iter().cloned());
    let mut rows = vec![head.collect::<Vec<String>>()];
    for (cluster, counts) in counts.iter().enumerate() {
        let cells = counts.iter().map(usize::to_string);
        rows.push(std::iter::once(format!("cluster {cluster}")).chain(cells).collect());
    }
    output::columns(&rows)
}

fn text(
    session: &Session,
    outcome: &Outcome,
    species: &Labels,
    page: &Path,
    picture: &Path,
) -> Result<String> {
    Ok(format!(
        "150 iris flowers with 4 measurements each; the clustering does not use the three species.\n\n{}\n{}\n\
         page         {}\npicture      {}\n\n\
         Next, with your own data (--label COLUMN excludes a column of known classes and scores against it):\n  \
         rpf cluster data.csv -k 3 --report page.html -o labels.csv    labels and a report page\n  \
         rpf cluster data.csv -k 3 --model model.rpf -o labels.csv     a model, for rpf predict model.rpf new.csv\n  \
         rpf cluster --help                                            all options, with examples\n",
        summary::text(session, outcome)?,
        table(outcome, species),
        page.display(),
        picture.display(),
    ))
}
