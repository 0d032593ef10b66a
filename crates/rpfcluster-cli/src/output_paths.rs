//! Checks of output paths before any work begins: every file can be written, and no two paths of a run, inputs
//! included, are one file, however they are spelled (`./name`, symbolic links, hard links, upper and lower case where
//! the file system ignores it). A file that standard input or output is redirected to counts too.

use std::fs;
use std::path::{Path, PathBuf};

use rpfcluster::atomic_file::{self, Target};

use crate::exit::{Failure, Result};
use crate::output;

/// The option of results, which may go to standard output.
pub const OUTPUT: &str = "--output";

/// A path of a run and the option or argument it came from.
struct Named<'a> {
    option: &'a str,
    path: PathBuf,
    /// Device and number of an existing file.
    id: Option<(u64, u64)>,
}

impl<'a> Named<'a> {
    fn new(option: &'a str, path: PathBuf) -> Self {
        let id = fs::metadata(&path).ok().and_then(|found| file_id(&found));
        Named { option, path, id }
    }

    fn is(&self, other: &Named<'_>) -> bool {
        self.path == other.path
            || (self.id.is_some() && self.id == other.id)
            || (self.differs_in_case(other) && ignores_case(self.path.parent()))
    }

    fn differs_in_case(&self, other: &Named<'_>) -> bool {
        let lower = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        self.path.parent() == other.path.parent() && lower(&self.path) == lower(&other.path)
    }
}

#[cfg(unix)]
fn file_id(found: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

/// The file that standard input (descriptor 0) or output (1) is redirected to; `None` for a terminal, a pipe or a device.
#[cfg(unix)]
fn redirected(descriptor: usize) -> Option<Named<'static>> {
    let (option, path) = [("standard input", "/dev/stdin"), ("standard output", "/dev/stdout")][descriptor];
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| Named::new(option, fs::canonicalize(path).unwrap_or_else(|_| path.into())))
}

#[cfg(not(unix))]
fn redirected(_: usize) -> Option<Named<'static>> {
    None
}

#[cfg(not(unix))]
fn file_id(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Whether a file in this folder is found under its name in capitals.
fn ignores_case(folder: Option<&Path>) -> bool {
    let Some(folder) = folder else { return false };
    let probe = tempfile::Builder::new().prefix(".rpf-").suffix(".tmp").tempfile_in(folder);
    let capitals =
        probe.as_ref().ok().and_then(|file| file.path().file_name()).map(|name| name.to_ascii_uppercase());
    capitals.is_some_and(|name| folder.join(name).exists())
}

/// Refuses output paths that cannot be written, and two that are one file or an input. Standard input and output are
/// left out, and so are devices, of which several outputs may be discarded in one.
pub fn check(inputs: &[(&str, Option<&Path>)], targets: &[(&str, Option<&Path>)]) -> Result {
    let mut seen: Vec<Named<'_>> = Vec::new();
    for (option, path) in inputs {
        if let Some(path) = path.filter(|path| path.as_os_str() != "-") {
            seen.push(Named::new(option, fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())));
        }
    }
    if inputs.iter().any(|(_, path)| path.is_some_and(|path| path.as_os_str() == "-")) {
        seen.extend(redirected(0));
    }
    let standard_output = redirected(1);
    for (option, target) in targets {
        let Some(path) = *target else { continue };
        if *option == OUTPUT && output::is_standard(path) {
            continue;
        }
        if path.as_os_str() == "-" {
            return Err(Failure::usage(format!(
                "{option} is -, but only {OUTPUT} can be standard output; name a file"
            )));
        }
        let failed = |problem: String| Failure::data(format!("{}: {problem}", path.display()));
        let (named, staged) = match atomic_file::target(path) {
            Ok(Target::Stream(stream)) if is_device(&stream) => continue,
            Ok(Target::Stream(stream)) => (Named::new(option, stream), None),
            Ok(Target::File(file)) => (Named::new(option, file.clone()), Some(file)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(Path::new(""));
                return Err(failed(format!("there is no folder {}", folder.display())));
            }
            Err(e) => return Err(failed(e.to_string())),
        };
        // A name of standard output itself, such as /dev/stdout, is no file of its own.
        let of_output = standard_output.as_ref().filter(|_| staged.is_some());
        if let Some(other) = seen.iter().chain(of_output).find(|other| other.is(&named)) {
            return Err(Failure::usage(format!(
                "{option} and {} are the same file, {}; use different names",
                other.option,
                path.display()
            )));
        }
        if let Some(file) = staged {
            writable(&file).map_err(|e| failed(format!("cannot be written: {}", e.kind())))?;
        }
        seen.push(named);
    }
    Ok(())
}

/// Opening the old file and creating a temporary one, without a name, are the only reliable tests.
fn writable(file: &Path) -> std::io::Result<()> {
    match fs::OpenOptions::new().write(true).open(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    tempfile::tempfile_in(file.parent().unwrap_or(Path::new("."))).map(drop)
}

#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_device(_: &Path) -> bool {
    true
}
