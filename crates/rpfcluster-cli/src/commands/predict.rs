//! `rpf predict`: new rows through a saved clustering, prepared as its own rows were.

use rpfcluster::metrics::Scores;
use serde_json::json;

use crate::args::{DataArgs, PredictArgs};
use crate::exit::Outcome;
use crate::labels_file::LabelsFile;
use crate::session::Session;
use crate::{engine, model, resolve};

/// Loads, reads, predicts, writes.
pub fn run(args: &PredictArgs) -> Outcome {
    let session = Session::new(&args.run);
    if args.append {
        resolve::appendable(&args.data)?;
    }
    resolve::outputs(&args.data, &[("--output", args.output.as_deref())])?;
    session.on_threads(|| {
        let loaded = session.clock.time("model", || model::load(&args.model))?;
        let (fitted, meta) = loaded.into_clustering(&args.model, session.threads())?;
        let data = DataArgs {
            data: args.data.clone(),
            label: args.label.clone(),
            format: args.format,
            ..DataArgs::default()
        };
        let table = engine::load_like(&session, &data, &meta.preparation)?;
        let labels = engine::predict(&session, &fitted, &table)?;
        let append_to = args.append.then_some(args.data.as_path());
        let file = LabelsFile { append_to, ..LabelsFile::of_table(&table, &labels, args.output.as_deref()) };
        let to_file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
        if !args.json || to_file.is_some() {
            file.save()?;
        }
        let scores = table.labels.as_ref().map(|classes| Scores::new(&labels, &classes.codes)).transpose()?;
        if args.json {
            let mut object = session.head("predict", table.n, table.d(), fitted.forest().params());
            object.insert("k".into(), fitted.k().into());
            let mut sizes = vec![0usize; fitted.k()];
            labels.iter().for_each(|&label| sizes[label as usize] += 1);
            object.insert("cluster_sizes".into(), json!(sizes));
            if let Some(scores) = scores {
                object.insert("scores".into(), json!(scores));
            }
            return session.finish_json(object);
        }
        if let Some(s) = scores {
            session.note(&format!(
                "rho_c {:.2} %, rho_r {:.2} %, ari {:.4}, nmi {:.4} (one single cluster: rho_c {:.2} %)",
                s.rho_c, s.rho_r, s.ari, s.nmi, s.majority
            ));
        }
        if let Some(path) = to_file {
            session.note(&format!("wrote {}: labels of {} rows", path.display(), table.n));
        }
        Ok(())
    })
}
