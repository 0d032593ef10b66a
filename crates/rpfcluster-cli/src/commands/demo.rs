//! `rpf demo`: all that can be shown without a file of one's own.
//!
//! The embedded Iris data goes the whole walk; the species are looked at only afterwards, to see how well the clusters
//! agree with them.

use std::io::Write;
use std::path::{Path, PathBuf};

use rpfcluster_data::{Labels, Missing, Preparation, Table, iris};
use rpfcluster_report::figures::{Group, Panel, heat};

use crate::args::{DemoArgs, SpectralArgs};
use crate::clustered::{Basis, Clustered};
use crate::exit::{Failure, Outcome};
use crate::resolve::Clusters;
use crate::session::Session;
use crate::{output, report, resolve, summary};

/// The picture's name.
const PICTURE: &str = "iris-kernel.svg";
/// The page's name.
const PAGE: &str = "report.html";

/// Clusters, scores, draws, and says what to do next.
pub fn run(args: &DemoArgs) -> Outcome {
    let session = Session::new(&args.run);
    let params = resolve::walk(&args.forest, &SpectralArgs::default(), &Clusters::Fixed(3))?;
    let folder = folder(args.out.as_deref())?;
    let (picture, page) = (folder.join(PICTURE), folder.join(PAGE));
    resolve::outputs(Path::new("-"), &[("--out", Some(&picture)), ("--out", Some(&page))])?;
    session.on_threads(|| {
        let table = iris()?;
        let species = table.labels.clone().ok_or_else(|| Failure::data("iris: the species are missing"))?;
        let preparation = as_it_is(&table);
        let clustered = Clustered::rows(&session, table, preparation, &params)?;
        let drawn = picture_of(&clustered, &species)?;
        output::to_file(&picture, |out| out.write_all(drawn.as_bytes()))?;
        report::save(&session, &clustered, None, &page)?;
        output::print(&text(&session, &clustered, &species, &page, &picture)?)
    })
}

/// The folder for page and picture, made if need be.
fn folder(out: Option<&Path>) -> Outcome<PathBuf> {
    let Some(folder) = out else { return Ok(PathBuf::new()) };
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure::data(format!("{}: the folder cannot be made: {}", folder.display(), e.kind()))
    })?;
    Ok(folder.to_path_buf())
}

/// The preparation of a table that needed none.
fn as_it_is(table: &Table) -> Preparation {
    let d = table.d();
    Preparation {
        columns: table.columns.clone(),
        positions: (0..d).collect(),
        named: true,
        missing: Missing::Error,
        fill: Vec::new(),
        center: vec![0.0; d],
        scale: vec![1.0; d],
    }
}

/// The kernel as a heat map, flowers in the order of their species.
fn picture_of(clustered: &Clustered, species: &Labels) -> Outcome<String> {
    let Basis::Rows { fitted, .. } = &clustered.basis else { return Ok(String::new()) };
    let groups: Vec<Group> = species
        .names
        .iter()
        .zip(species.counts())
        .map(|(name, rows)| Group { name: name.clone(), rows })
        .collect();
    let params = fitted.params();
    let title = format!("rpf-kernel of Iris: {} trees, seed {}", params.trees, params.seed);
    let panel = Panel { title: &title, values: &fitted.leaves().dense(), groups: &groups };
    Ok(heat(&[panel], &["share of trees", "with both rows", "in one leaf"], false)?)
}

/// Rows of each cluster by species.
fn table(clustered: &Clustered, species: &Labels) -> String {
    let mut counts = vec![vec![0usize; species.names.len()]; clustered.k()];
    for (&cluster, &class) in clustered.labels().iter().zip(&species.codes) {
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
    clustered: &Clustered,
    species: &Labels,
    page: &Path,
    picture: &Path,
) -> Outcome<String> {
    Ok(format!(
        "150 iris flowers, 4 measurements each; the clustering does not see the three species.\n\n{}\n{}\n\
         page         {}\npicture      {}\n\n\
         Next, with data of your own (--label COLUMN leaves a column of known classes out and scores against it):\n  \
         rpf cluster data.csv -k 3 --report page.html -o labels.csv    labels, and a page that shows them\n  \
         rpf cluster data.csv -k 3 --model model.rpf -o labels.csv     a model, for rpf predict model.rpf new.csv\n  \
         rpf cluster --help                                            all options, with examples\n",
        summary::text(clustered, session.clock.total())?,
        table(clustered, species),
        page.display(),
        picture.display(),
    ))
}
