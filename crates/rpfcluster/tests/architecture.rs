//! docs/walk.md against the sources: modules, allowed dependencies, no cycles. The tests that the page on deviations names.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names allowed to each name, in the order of the page.
type Table = Vec<(String, BTreeSet<String>)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words in backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// The table below a heading of the page: first column to last.
fn table(heading: &str) -> Table {
    let page = fs::read_to_string(root().join("docs/walk.md")).unwrap();
    let section = page.split(&format!("\n{heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        (quoted(cells[0])[0].clone(), quoted(cells[cells.len() - 1]).into_iter().collect())
    })
    .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// Code without comments and without the unit tests at the end of the file.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default().to_string();
    let lines = before_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The identifiers that follow `prefix` in the code, those in braces included.
fn named_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let identifier = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{').and_then(|group| group.split('}').next()) {
            Some(group) => found.extend(group.split(',').map(identifier)),
            None => {
                found.insert(identifier(rest));
            }
        }
    }
    found
}

fn assert_acyclic(table: &Table) {
    for (at, (name, allowed)) in table.iter().enumerate() {
        for (above, _) in &table[..=at] {
            assert!(
                !allowed.contains(above),
                "docs/walk.md: `{name}` may use `{above}`, which is not below it"
            );
        }
    }
}

#[test]
fn library_modules_use_what_the_page_allows() {
    let table = table("## Modules of the library");
    assert_acyclic(&table);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules: BTreeSet<String> = table.iter().map(|(name, _)| name.clone()).collect();
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_string();
        if module == "lib" {
            continue;
        }
        let all = named_after(&code(&file), "crate::");
        let found = all.into_iter().filter(|name| modules.contains(name) && *name != module);
        used.entry(module.clone()).or_default().extend(found);
    }
    let present: BTreeSet<String> = used.keys().cloned().collect();
    assert_eq!(present, modules, "modules of the library and of docs/walk.md");
    for (name, allowed) in &table {
        let extra: Vec<_> = used[name].difference(allowed).collect();
        assert!(extra.is_empty(), "`{name}` uses {extra:?}, which docs/walk.md does not allow");
        let unused: Vec<_> = allowed.difference(&used[name]).collect();
        assert!(unused.is_empty(), "docs/walk.md allows `{name}` to use {unused:?}, which it does not");
    }
}

#[test]
fn crates_use_what_the_page_allows() {
    let table = table("## Crates");
    let known: BTreeSet<String> = table.iter().map(|(name, _)| name.clone()).collect();
    for (name, allowed) in &table {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let normal = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let normal = normal.split("\n[").next().unwrap_or_default();
        let used: BTreeSet<String> = normal
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|dependency| known.contains(*dependency))
            .map(str::to_string)
            .collect();
        assert_eq!(used, *allowed, "dependencies of {name} and of docs/walk.md");
    }
    let present: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(present, known, "crates of the workspace and of docs/walk.md");
}

/// Every file that the page names in a row of the library exists.
#[test]
fn files_that_the_page_names_exist() {
    let page = fs::read_to_string(root().join("docs/walk.md")).unwrap();
    let section = page.split("\n## Modules of the library\n").nth(1).unwrap().split("\n## ").next().unwrap();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(&quoted(cells[0])[0]);
        if !module.is_dir() {
            continue;
        }
        let files: BTreeSet<String> = rust_files(&module)
            .iter()
            .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let names = quoted(cells[1]).into_iter().filter(|name| !name.contains(['/', '(', ':']));
        for name in names.filter(|name| name.chars().all(|c| c.is_lowercase() || c == '_' || c.is_numeric()))
        {
            assert!(files.contains(&name), "docs/walk.md names {name} in {}", module.display());
        }
    }
}

/// Results must not depend on the C library of the system: its exponential may differ from that of another in the last
/// digit. `libm` computes from IEEE operations alone; the square root is one of them.
#[test]
fn libraries_call_no_mathematics_of_the_platform() {
    let calls = [
        "exp(", "exp2(", "exp_m1(", "ln(", "ln_1p(", "log(", "log2(", "log10(", "powf(", "cbrt(", "hypot(",
        "sin(", "cos(", "tan(", "sin_cos(", "asin(", "acos(", "atan(", "atan2(", "sinh(", "cosh(", "tanh(",
        "asinh(", "acosh(", "atanh(", "mul_add(",
    ];
    for folder in ["crates/rpfcluster/src", "crates/rpfcluster-data/src"] {
        for path in rust_files(&root().join(folder)) {
            let code = code(&path);
            for call in calls {
                assert!(!code.contains(&format!(".{call}")), "{}: .{call} instead of libm", path.display());
            }
        }
    }
}

/// What `make licences` checks with cargo-deny, as far as the lock file tells.
#[test]
fn dependencies_come_from_the_registry_and_none_opens_a_connection() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let policy = fs::read_to_string(root().join("deny.toml")).unwrap();
    let banned = policy.split("\ndeny = [").nth(1).unwrap().split(']').next().unwrap();
    let banned: BTreeSet<&str> = banned.split('"').skip(1).step_by(2).collect();
    assert!(banned.contains("reqwest") && banned.len() > 5, "{banned:?}");
    let mut seen = 0;
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key));
            line.map(|rest| rest.trim_start_matches(" = ").trim_matches('"').to_string())
        };
        let name = value("name").unwrap();
        assert!(!banned.contains(name.as_str()), "{name} opens connections");
        match value("source") {
            None => assert!(name.starts_with("rpfcluster"), "{name} has no source"),
            Some(source) => {
                assert!(source.starts_with("registry+"), "{name} comes from {source}");
                assert_eq!(value("checksum").map(|sum| sum.len()), Some(64), "{name} has no checksum");
            }
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen} packages");
}

/// Every paragraph of the page on deviations that opens with a bold statement names a test in parentheses, except among
/// the additions; the files exist and contain the functions.
#[test]
fn every_deviation_names_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/background/deviations-from-paper.md")).unwrap();
    let body = page.split("\n## Additions").next().unwrap();
    let mut named = 0;
    for paragraph in body.split("\n\n").filter(|text| text.starts_with("**")) {
        let mut texts = Vec::new();
        for aside in paragraph.split('(').skip(1).filter_map(|rest| rest.split(')').next()) {
            for name in quoted(aside) {
                if name.contains('/') && (name.ends_with(".rs") || name.ends_with(".py")) {
                    let outside = ["crates/", "python/"].iter().any(|start| name.starts_with(start));
                    let path =
                        root().join(if outside { name.clone() } else { format!("crates/rpfcluster/{name}") });
                    assert!(path.is_file(), "{name} is named and does not exist");
                    texts.push(fs::read_to_string(&path).unwrap());
                } else if !texts.is_empty() {
                    let written = [format!("fn {name}("), format!("def {name}(")];
                    let found = texts.iter().any(|text| written.iter().any(|w| text.contains(w)));
                    assert!(found, "{name} is in none of the files named before it");
                }
            }
        }
        assert!(!texts.is_empty(), "no test: {}", paragraph.lines().next().unwrap());
        assert!(texts.iter().any(|text| text.contains("#[test]") || text.contains("def test_")));
        named += 1;
    }
    assert!(named > 20, "{named}");
}
