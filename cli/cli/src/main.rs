//! `formwork`: the command.
fn main() {}
