//! Sets `RPF_SOURCES`, a digest of the sources that decide the results of an experiment: those of this crate, of the
//! library and of the data sets. A package from a registry contains this crate alone; its version, which units store too,
//! stands for the others there.

use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["src", "../rpfcluster/src", "../rpfcluster-data/src"];
/// The files of `src/reproduce` that take part in a result. The others make tables, pages and estimates of it.
const REPRODUCE: [&str; 3] = ["effort.rs", "unit.rs", "variants.rs"];

fn decides(path: &Path) -> bool {
    let inside = path.parent().is_some_and(|folder| folder == Path::new("src/reproduce"));
    !inside || path.file_name().is_some_and(|name| REPRODUCE.iter().any(|kept| name == *kept))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn main() {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    // FNV-1a (Fowler, Noll and Vo): detects changes, need not resist forgery.
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        let mut found = Vec::new();
        files(Path::new(folder), &mut found);
        found.sort();
        for path in found.into_iter().filter(|path| decides(path)) {
            add(path.to_string_lossy().replace('\\', "/").as_bytes());
            // Line ends may differ between checkouts.
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            text.lines().for_each(|line| add(line.as_bytes()));
        }
    }
    println!("cargo:rustc-env=RPF_SOURCES={digest:016x}");
}
