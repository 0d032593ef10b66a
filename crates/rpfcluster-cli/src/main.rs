//! The command `rpf`.
fn main() {}
