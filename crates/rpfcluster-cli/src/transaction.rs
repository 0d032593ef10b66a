//! The outputs of one run, which appear together or not at all.
//!
//! Files are staged under temporary names, then devices, pipes and standard output are written, which cannot be taken
//! back, and at last all files are renamed. A failure before that, Ctrl-C included, leaves every old file as it was. The
//! names of the temporary files are kept in a list of the process, which Ctrl-C removes (`session::progress`); the list
//! is locked while a file is created and while files are renamed.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rpfcluster::atomic_file::{self, Output, Staged, Target};

use crate::exit::{Failure, Result};
use crate::output;
use crate::session::progress;

/// The temporary files of the process.
struct Temporaries {
    paths: Vec<PathBuf>,
    /// Whether the files of the run have their final names.
    complete: bool,
}

static TEMPORARIES: Mutex<Temporaries> = Mutex::new(Temporaries { paths: Vec::new(), complete: false });

fn temporaries() -> MutexGuard<'static, Temporaries> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files and ends the process by `exit`, during which no file can be created or renamed. Returns
/// when the outputs of the run are complete.
pub fn abandon(exit: impl FnOnce()) {
    let temporaries = temporaries();
    if temporaries.complete {
        return;
    }
    for path in &temporaries.paths {
        let _ = std::fs::remove_file(path);
    }
    exit();
}

/// Removes the temporary files of a process that ends, unless they are being renamed.
pub fn remove_temporaries() {
    if let Ok(temporaries) = TEMPORARIES.try_lock() {
        for path in temporaries.paths.iter().filter(|_| !temporaries.complete) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What a writer writes to.
pub enum Sink<'a> {
    /// A file, a device or a pipe with a name.
    File(&'a mut (dyn SeekWrite + 'a)),
    /// Standard output.
    Stream(&'a mut dyn Write),
}

/// An output with places to return to; a pipe has an error for each.
pub trait SeekWrite: Write + io::Seek + Send {}
impl<T: Write + io::Seek + Send> SeekWrite for T {}

impl<'a> Sink<'a> {
    /// The output as a writer.
    pub fn into_write(self) -> Box<dyn Write + 'a> {
        match self {
            Sink::File(out) => Box::new(out),
            Sink::Stream(out) => Box::new(out),
        }
    }
}

/// The outputs of a run. Without [`Transaction::commit`] nothing is changed.
#[derive(Default)]
pub struct Transaction<'a> {
    staged: Vec<(PathBuf, Staged)>,
    streams: Vec<Box<dyn FnOnce() -> Result + 'a>>,
}

impl<'a> Transaction<'a> {
    /// Stages a file; a device or a pipe is written later.
    pub fn file(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut Output<'_>) -> io::Result<()> + 'a,
    ) -> Result {
        let name = path.to_path_buf();
        let failed = move |e: io::Error| Failure::data(format!("{}: {e}", name.display()));
        match atomic_file::target(path).map_err(&failed)? {
            Target::Stream(path) => {
                let stream = move || atomic_file::write_stream(&path, write).map_err(failed);
                self.streams.push(Box::new(stream));
            }
            Target::File(target) => {
                let mut staged = {
                    let mut temporaries = temporaries();
                    let staged = Staged::create(&target).map_err(&failed)?;
                    temporaries.paths.push(staged.temporary().to_path_buf());
                    staged
                };
                let written = staged.write(write);
                self.staged.push((path.to_path_buf(), staged));
                written.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Stages a file, or writes later to standard output when there is none or it is `-`.
    pub fn deliver(
        &mut self,
        target: Option<&Path>,
        write: impl FnOnce(Sink<'_>) -> io::Result<()> + 'a,
    ) -> Result {
        match target.filter(|path| !output::is_standard(path)) {
            Some(path) => self.file(path, move |out| write(Sink::File(out))),
            None => {
                self.streams.push(Box::new(move || output::to_stdout(|out| write(Sink::Stream(out)))));
                Ok(())
            }
        }
    }

    /// Writes now, also to standard output, what is computed meanwhile: stages a file, and returns a failure of the
    /// computation as it is. What a closed pipe does not take is no error. The only output besides a JSON object.
    pub fn stream<'b>(
        &mut self,
        target: Option<&Path>,
        work: impl FnOnce(Sink<'_>) -> Result<io::Result<()>> + 'b,
    ) -> Result {
        let failure = Rc::new(Cell::new(None));
        let kept = Rc::clone(&failure);
        let write = move |out: Sink<'_>| {
            work(out).unwrap_or_else(|failed| {
                kept.set(Some(failed));
                Err(io::Error::other("the computation failed"))
            })
        };
        let mut part: Transaction<'b> = Transaction::default();
        let written = part.deliver(target, write).and_then(|()| part.write_streams());
        self.staged.append(&mut part.staged);
        failure.take().map_or(written, Err)
    }

    fn write_streams(&mut self) -> Result {
        std::mem::take(&mut self.streams).into_iter().try_for_each(|write| write())
    }

    /// Prints to standard output before the files are renamed.
    pub fn print(&mut self, text: String) {
        self.streams.push(Box::new(move || output::print(&text)));
    }

    /// Prints a JSON object to standard output before the files are renamed.
    pub fn print_json(&mut self, object: serde_json::Value) {
        self.streams.push(Box::new(move || output::print_json(&object)));
    }

    /// Completes the run: writes the streams, then renames all files. A later Ctrl-C has no effect.
    pub fn commit(mut self) -> Result {
        self.write_streams()?;
        self.rename(true)
    }

    /// Renames the files of a part of a run, which goes on.
    pub fn commit_part(mut self) -> Result {
        self.rename(false)
    }

    fn rename(&mut self, complete: bool) -> Result {
        let mut temporaries = temporaries();
        if progress::interrupted() {
            return Err(Failure::Interrupted);
        }
        let (names, staged): (Vec<PathBuf>, Vec<Staged>) = self.staged.drain(..).unzip();
        let targets: Vec<PathBuf> = staged.iter().map(|file| file.target().to_path_buf()).collect();
        let renamed = atomic_file::commit(staged);
        temporaries.paths.clear();
        renamed.map_err(|(target, e)| {
            let name = targets.iter().position(|t| *t == target).and_then(|at| names.get(at));
            Failure::data(format!("{}: {e}", name.unwrap_or(&target).display()))
        })?;
        temporaries.complete = complete;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let mut temporaries = temporaries();
        for (_, staged) in self.staged.drain(..) {
            temporaries.paths.retain(|path| path != staged.temporary());
        }
    }
}
