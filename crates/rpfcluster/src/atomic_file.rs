//! Atomic replacement of files: staged under a temporary name in the folder of the target, then renamed over it.
//!
//! A [`Staged`] file that is dropped is removed, and the old file is unchanged. [`commit`] renames several files
//! together: until the last rename has succeeded each replaced file keeps a second name (a hard link), so that a failure
//! puts every old file back. A process that is killed leaves at most files named `.rpf-*.tmp`.
//!
//! Temporary files are created exclusively under a random name (`tempfile`), with the permissions of the file they
//! replace. A symbolic link stays; its target is replaced. A file that its permissions protect is refused, although a
//! rename could replace it. Devices and pipes cannot be staged and are written directly.
//!
//! Contents are synced to disk before the rename: a file system may write the rename first, and a power failure would
//! then lose the old contents and the new ones. The folder is not synced, since either name is a whole file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// First and last characters of temporary names; random ones are between them.
const TEMPORARY: (&str, &str) = (".rpf-", ".tmp");
/// Bytes written between two syncs to disk: less than a second on a disk. A single sync at the end of a large file
/// could not be cancelled.
const SYNCED: usize = 1 << 26;
/// Bytes that are buffered before a write.
const BUFFER: usize = 1 << 18;
/// Symbolic links followed before they are taken for a cycle, as in Linux.
const MOST_LINKS: usize = 40;

/// What a path for output refers to, symbolic links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A regular file, or a name that is free.
    File(PathBuf),
    /// A device or a pipe.
    Stream(PathBuf),
}

/// Follows symbolic links, also those to a file that does not exist yet; a folder is refused.
pub fn target(path: &Path) -> Result<Target> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(Error::other("is a folder, not a file")),
        Ok(found) if !found.is_file() => return Ok(Target::Stream(path.to_path_buf())),
        Ok(_) => return Ok(Target::File(fs::canonicalize(path)?)),
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let link = fs::read_link(&path);
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        match (link, path.file_name()) {
            (Ok(link), _) => path = folder.join(link),
            (Err(_), Some(name)) => return Ok(Target::File(fs::canonicalize(folder)?.join(name))),
            (Err(_), None) => return Err(ErrorKind::NotFound.into()),
        }
    }
    Err(Error::other("is a cycle of symbolic links"))
}

/// What writers write to.
pub type Output<'a> = BufWriter<&'a mut OutputFile>;

/// A file that is synced to disk as it grows, or a device or pipe, which is not.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    unsynced: usize,
    disk: bool,
    closed: bool,
}

impl OutputFile {
    fn new(file: File, disk: bool) -> Self {
        OutputFile { file, unsynced: 0, disk, closed: false }
    }

    fn fill(&mut self, write: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER, &mut *self);
        let written = write(&mut out).and_then(|()| out.flush());
        // Writing again what failed would fail again.
        let _ = out.into_parts();
        written?;
        if self.disk { self.file.sync_all() } else { Ok(()) }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written =
            self.file.write(bytes).inspect_err(|e| self.closed |= e.kind() == ErrorKind::BrokenPipe)?;
        self.unsynced += written;
        if self.disk && self.unsynced >= SYNCED {
            self.unsynced = 0;
            self.file.sync_data()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}

/// Writes to a device or a pipe. A reader that closes the pipe ends the writing; that is not an error.
pub fn write_stream(path: &Path, write: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Result<()> {
    let mut out = OutputFile::new(OpenOptions::new().write(true).open(path)?, false);
    let written = out.fill(write);
    if out.closed { Ok(()) } else { written }
}

/// A file under a temporary name, which [`commit`] gives its final one. Removed when dropped.
#[derive(Debug)]
pub struct Staged {
    out: OutputFile,
    temporary: TempPath,
    target: PathBuf,
}

impl Staged {
    /// Creates an empty file next to `target`, the path of a [`Target::File`].
    pub fn create(target: &Path) -> Result<Staged> {
        let old = match OpenOptions::new().write(true).open(target) {
            Ok(old) => Some(old.metadata()?.permissions()),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The permissions of a new file (umask applies); by default a temporary file is private.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let (file, temporary) = builder.tempfile_in(folder_of(target))?.into_parts();
        if let Some(permissions) = old {
            file.set_permissions(permissions)?;
        }
        Ok(Staged { out: OutputFile::new(file, true), temporary, target: target.to_path_buf() })
    }

    /// Writes the whole contents and syncs them to disk.
    pub fn write(&mut self, write: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Result<()> {
        self.out.fill(write)
    }

    /// The temporary name.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The final name.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// A second name of the file to be replaced; `None` where there is none, or the file system has no hard links.
    fn backup(&self) -> Option<TempPath> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
        let linked = builder.make_in(folder_of(&self.target), |name| fs::hard_link(&self.target, name));
        Some(linked.ok()?.into_temp_path())
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Renames all files to their final names. After an error, which comes with the final name at fault, every old file is
/// back in its place and no new one is left.
pub fn commit(staged: Vec<Staged>) -> std::result::Result<(), (PathBuf, Error)> {
    let last = staged.len().saturating_sub(1);
    let mut files: Vec<(Staged, bool, Option<TempPath>)> = staged
        .into_iter()
        .enumerate()
        .map(|(at, file)| {
            let replaces = file.target.exists();
            let backup = if replaces && at < last { file.backup() } else { None };
            (file, replaces, backup)
        })
        .collect();
    // What could not be put back goes last.
    files.sort_by_key(|(_, replaces, backup)| *replaces && backup.is_none());
    let mut done: Vec<(PathBuf, bool, Option<TempPath>)> = Vec::new();
    for (Staged { out, temporary, target }, replaces, backup) in files {
        // Windows renames no open file.
        drop(out);
        if let Err(failed) = temporary.persist(&target) {
            for (target, replaces, backup) in done.into_iter().rev() {
                match backup {
                    Some(backup) => drop(backup.persist(&target)),
                    None if !replaces => drop(fs::remove_file(&target)),
                    None => {}
                }
            }
            return Err((target, failed.error));
        }
        done.push((target, replaces, backup));
    }
    Ok(())
}

/// Replaces the file at `path` by what `write` writes; a device or a pipe is written directly.
pub fn replace(path: &Path, write: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Result<()> {
    let target = match target(path)? {
        Target::File(target) => target,
        Target::Stream(path) => return write_stream(&path, write),
    };
    let mut staged = Staged::create(&target)?;
    staged.write(write)?;
    commit(vec![staged]).map_err(|(_, e)| e)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    fn staged(path: &Path) -> Staged {
        let Target::File(target) = target(path).unwrap() else { panic!("{} is a stream", path.display()) };
        let mut staged = Staged::create(&target).unwrap();
        staged.write(|out| out.write_all(b"new")).unwrap();
        staged
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(Error::other("full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn files_are_replaced_together() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
        fs::write(&paths[1], "old").unwrap();
        let files: Vec<Staged> = paths.iter().map(|path| staged(path)).collect();
        assert_eq!(fs::read_to_string(&paths[1]).unwrap(), "old");
        assert_eq!(names(folder.path()), 4);
        commit(files).unwrap();
        assert!(paths.iter().all(|path| fs::read_to_string(path).unwrap() == "new"));
        assert_eq!(names(folder.path()), 3);
    }

    #[test]
    fn a_failed_rename_puts_the_other_files_back() {
        let folder = tempfile::tempdir().unwrap();
        let [first, fresh, folded] = ["first", "fresh", "folded"].map(|name| folder.path().join(name));
        fs::write(&first, "old").unwrap();
        let files = vec![staged(&first), staged(&fresh), staged(&folded)];
        // A folder took the name after it was checked.
        fs::create_dir(&folded).unwrap();
        let (target, _) = commit(files).unwrap_err();
        assert_eq!(target.file_name(), folded.file_name());
        assert_eq!(fs::read_to_string(&first).unwrap(), "old");
        assert!(!fresh.exists());
        assert_eq!(names(folder.path()), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_and_its_target_is_replaced() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [file, link, dangling, free] =
            ["file", "link", "dangling", "free"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        symlink("free", &dangling).unwrap();
        for (link, file) in [(&link, &file), (&dangling, &free)] {
            replace(link, |out| out.write_all(b"new")).unwrap();
            assert!(fs::symlink_metadata(link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(file).unwrap(), "new");
        }
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        symlink(&one, &two).unwrap();
        symlink(&two, &one).unwrap();
        assert!(target(&one).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
