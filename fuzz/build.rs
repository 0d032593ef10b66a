//! The command's sources name their version, which its own build script sets.

fn main() {
    println!("cargo:rustc-env=RPF_VERSION=fuzz");
}
