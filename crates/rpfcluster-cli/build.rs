//! Sets `RPF_VERSION`: the version and, in brackets, the commit. In a checkout git knows the commit; in a package from
//! a registry cargo has left it in `.cargo_vcs_info.json`. Without either the version stands alone.

use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (!text.is_empty()).then_some(text)
}

/// The commit in the file that cargo packs: the 40 hexadecimal digits after `"sha1"`.
fn packed() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit: String =
        rest.chars().skip_while(|c| !c.is_ascii_hexdigit()).take_while(char::is_ascii_hexdigit).collect();
    (commit.len() == 40).then_some(commit)
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A checkout of this project, not one that merely contains a copy of the package.
    let own = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = packed().or_else(|| own.then(|| git(&["rev-parse", "HEAD"])).flatten());
    if own && let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = commit.map_or(version.clone(), |commit| format!("{version} ({})", &commit[..10]));
    println!("cargo:rustc-env=RPF_VERSION={shown}");
}
