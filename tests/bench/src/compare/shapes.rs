//! Configurations of many instances for the comparison: their names, values and shapes follow the
//! seed, their kind and number do not.

use crate::generate::{Numbers, Tree, WORDS};
use std::fmt::Write as _;

/// What grows in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Blocks one by one that refer to no other.
    Flat,
    /// Blocks one by one in layers, each referring to some of the layer before.
    Layered,
    /// One resource with `count`.
    Count,
    /// One resource with `for_each` over a map.
    Map,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Flat => "flat",
            Kind::Layered => "layered",
            Kind::Count => "by count",
            Kind::Map => "by map",
        }
    }

    /// A configuration of so many instances.
    pub(super) fn tree(self, seed: u64, instances: usize) -> Tree {
        self.tree_like(seed, instances, instances)
    }

    /// The same, in the form that the one of `like` instances has: how something grows shows only where
    /// nothing but the number differs.
    pub(super) fn tree_like(self, seed: u64, instances: usize, like: usize) -> Tree {
        let (mut numbers, form) = (numbers(seed, instances), self.form(seed, like));
        match self {
            Kind::Flat => flat(&mut numbers, form, instances),
            Kind::Layered => layered(&mut numbers, form, instances),
            Kind::Count => count(&mut numbers, form, instances),
            Kind::Map => map(&mut numbers, form, instances),
        }
    }

    /// What the seed chooses once for so many instances. Drawn at the same places as the text is.
    fn form(self, seed: u64, instances: usize) -> Form {
        let mut n = numbers(seed, instances);
        let _ = head(&mut n);
        let mut form = Form::default();
        match self {
            Kind::Flat => form.triggers = n.below(TRIGGERS),
            Kind::Layered => form.layers = n.below(LAYERS),
            Kind::Count => {
                n.skip(NAME + 2);
                form.input = n.below(INPUTS);
            }
            Kind::Map => {
                n.skip(NAME + ENTRY * instances);
                form.source = n.below(SOURCES);
                form.input = n.below(INPUTS_OF_MAP);
            }
        }
        form
    }
}

/// Sizes draw from sequences of their own, lest a small one be the beginning of a large one.
fn numbers(seed: u64, instances: usize) -> Numbers {
    Numbers::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ instances as u64)
}

/// What is chosen once for a whole configuration. The same draws stand in the text's own sequence,
/// where they are thrown away.
#[derive(Clone, Copy, Default)]
struct Form {
    triggers: usize,
    layers: usize,
    input: usize,
    source: usize,
}

/// How many choices there are of each.
const TRIGGERS: usize = 4;
const LAYERS: usize = 10;
const INPUTS: usize = 3;
const INPUTS_OF_MAP: usize = 2;
const SOURCES: usize = 3;
/// Numbers that a name takes.
const NAME: usize = 2;
/// Numbers that an entry of a map takes.
const ENTRY: usize = 3;

/// A name that no other of this configuration has.
fn name(n: &mut Numbers, index: usize) -> String {
    format!("{}_{}{index}", n.of(WORDS), n.of(&["x", "of", "no", "z"]))
}

/// A value that refers to nothing but a local value and a variable.
fn plain(n: &mut Numbers, index: usize) -> String {
    let (a, b, c) = (n.of(WORDS), n.of(WORDS), n.below(100_000));
    match n.below(6) {
        0 => format!("\"{a}-{c}\""),
        1 => format!("\"${{local.prefix}}-{b}-{index}\""),
        2 => format!("{{ name = \"{a}{index}\", size = {c}, tags = [\"{a}\", \"{b}\"] }}"),
        3 => format!("[for t in [\"{a}\", \"{b}\"] : upper(\"${{t}}-{c}\")]"),
        4 => format!("merge(local.labels, {{ {a} = format(\"%s-%05d\", var.estate, {c}) }})"),
        _ => format!("[{index}, {c} * 2, {c} > 5000 ? \"{a}\" : \"{b}\"]"),
    }
}

/// What all blocks share.
fn head(n: &mut Numbers) -> String {
    format!(
        "variable \"estate\" {{\n  type    = string\n  default = \"{}-{}\"\n}}\n\n\
         locals {{\n  prefix = \"${{var.estate}}-{}\"\n  labels = {{ owner = \"{}\", cost = {} }}\n}}\n\n",
        n.of(WORDS),
        n.below(1000),
        n.of(WORDS),
        n.of(WORDS),
        n.below(1000)
    )
}

/// Spreads blocks over as many files as the seed says.
fn files(n: &mut Numbers, head: String, blocks: &[String]) -> Tree {
    let files = n.below(9) + 1;
    let each = blocks.len().div_ceil(files).max(1);
    let mut out = vec![("main.tf".to_owned(), head)];
    for (i, some) in blocks.chunks(each).enumerate() {
        out.push((format!("{}_{i}.tf", n.of(WORDS)), some.concat()));
    }
    Tree { files: out }
}

fn flat(n: &mut Numbers, form: Form, instances: usize) -> Tree {
    let head = head(n);
    n.skip(1);
    let triggers = form.triggers + 2;
    let blocks: Vec<String> = (0..instances)
        .map(|i| {
            let mut text = format!(
                "resource \"terraform_data\" \"{}\" {{\n  input = {}\n",
                name(n, i),
                plain(n, i)
            );
            if i % triggers == 0 {
                let _ = writeln!(text, "  triggers_replace = {}", plain(n, i));
            }
            text.push_str("}\n\n");
            text
        })
        .collect();
    files(n, head, &blocks)
}

fn layered(n: &mut Numbers, form: Form, instances: usize) -> Tree {
    let head = head(n);
    n.skip(1);
    let layers = (form.layers + 4).min(instances.max(1));
    let (mut before, mut blocks): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for layer in 0..layers {
        // What does not divide evenly stands in the first layers.
        let wide = instances / layers + usize::from(layer < instances % layers);
        let mut here = Vec::with_capacity(wide);
        for i in 0..wide {
            let id = name(n, layer * 1_000_000 + i);
            let input = if before.is_empty() {
                plain(n, i)
            } else {
                let more = n.below(3);
                let mut parts = vec![format!(
                    "terraform_data.{}.id",
                    before[n.below(before.len())]
                )];
                for _ in 0..more {
                    let of = &before[n.below(before.len())];
                    // A value that held all before it would double layer by layer.
                    parts.push(match n.below(3) {
                        0 => format!("length(jsonencode(terraform_data.{of}.output))"),
                        1 => format!("\"{}-${{terraform_data.{of}.id}}\"", n.of(WORDS)),
                        _ => format!("terraform_data.{of}.triggers_replace"),
                    });
                }
                format!("[{}]", parts.join(", "))
            };
            let mut text = format!("resource \"terraform_data\" \"{id}\" {{\n  input = {input}\n");
            if n.below(5) == 0 {
                let _ = writeln!(text, "  triggers_replace = {}", plain(n, i));
            }
            text.push_str("}\n\n");
            blocks.push(text);
            here.push(id);
        }
        before = here;
    }
    files(n, head, &blocks)
}

fn count(n: &mut Numbers, form: Form, instances: usize) -> Tree {
    let head = head(n);
    let id = name(n, 0);
    let (a, b) = (n.of(WORDS), n.below(50) + 2);
    n.skip(1);
    let input = match form.input {
        0 => format!("\"{a}-${{count.index}}\""),
        1 => format!(
            "{{ name = \"${{local.prefix}}-${{count.index}}\", rack = floor(count.index / {b}) }}"
        ),
        _ => format!("[format(\"%s-%06d\", \"{a}\", count.index), count.index % {b}]"),
    };
    let text = format!(
        "resource \"terraform_data\" \"{id}\" {{\n  count = {instances}\n  input = {input}\n}}\n"
    );
    files(n, head, &[text])
}

fn map(n: &mut Numbers, form: Form, instances: usize) -> Tree {
    let mut head = head(n);
    let id = name(n, 0);
    let mut entries = String::new();
    for i in 0..instances {
        let (a, b) = (n.of(WORDS), n.below(4096));
        let _ = writeln!(
            entries,
            "    \"{a}-{i}\" = {{ zone = \"{}\", machines = {b}, spare = {} }}",
            n.of(&["a", "b", "c"]),
            b % 2 == 0
        );
    }
    n.skip(2);
    let source = match form.source {
        0 => {
            let _ = write!(head, "locals {{\n  pools = {{\n{entries}  }}\n}}\n\n");
            "local.pools".to_owned()
        }
        1 => {
            let _ = write!(
                head,
                "variable \"pools\" {{\n  type = map(object({{ zone = string, machines = number, spare = bool }}))\n  default = {{\n{entries}  }}\n}}\n\n"
            );
            "var.pools".to_owned()
        }
        _ => {
            let _ = write!(head, "locals {{\n  pools = {{\n{entries}  }}\n}}\n\n");
            "{ for name, pool in local.pools : upper(name) => pool }".to_owned()
        }
    };
    let input = match form.input {
        0 => "merge(each.value, { name = each.key })",
        _ => "\"${each.key}-${each.value.zone}-${each.value.machines}\"",
    };
    let text = format!(
        "resource \"terraform_data\" \"{id}\" {{\n  for_each = {source}\n  input = {input}\n}}\n"
    );
    files(n, head, &[text])
}

/// Networks and a firewall for each, or the same shape of `terraform_data`; `instances` in all.
pub(super) fn networks(seed: u64, instances: usize, google: bool) -> Tree {
    let mut n = Numbers::new(seed);
    let (net, wall) = (n.of(WORDS), n.below(1000));
    let (port, half) = (n.below(60_000) + 1, instances / 2);
    let text = if google {
        format!(
            r#"{GOOGLE}
resource "google_compute_network" "{net}" {{
  count                   = {half}
  name                    = "{net}-{wall}-${{count.index}}"
  auto_create_subnetworks = false
}}

resource "google_compute_firewall" "{net}" {{
  count         = {half}
  name          = "{net}-{wall}-in-${{count.index}}"
  network       = google_compute_network.{net}[count.index].id
  source_ranges = ["10.0.0.0/8"]
  allow {{
    protocol = "tcp"
    ports    = ["{port}"]
  }}
}}
"#
        )
    } else {
        format!(
            r#"
resource "terraform_data" "{net}" {{
  count = {half}
  input = {{ name = "{net}-{wall}-${{count.index}}", auto_create_subnetworks = false }}
}}

resource "terraform_data" "{net}_in" {{
  count = {half}
  input = {{
    name          = "{net}-{wall}-in-${{count.index}}"
    network       = terraform_data.{net}[count.index].id
    source_ranges = ["10.0.0.0/8"]
    allow         = [{{ protocol = "tcp", ports = ["{port}"] }}]
  }}
}}
"#
        )
    };
    Tree {
        files: vec![("main.tf".to_owned(), text)],
    }
}

/// A configuration of the google provider and nothing else.
pub(super) const GOOGLE: &str = r#"terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

provider "google" {
  project = "formwork-mock"
  region  = "us-central1"
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [Kind; 4] = [Kind::Flat, Kind::Layered, Kind::Count, Kind::Map];

    #[test]
    fn a_seed_gives_the_same_text_and_another_seed_another() {
        for kind in ALL {
            let texts = |seed| kind.tree(seed, 50).files;
            assert_eq!(texts(1), texts(1), "{kind:?}");
            let different: BTreeSet<_> = (0..20).map(texts).collect();
            assert_eq!(different.len(), 20, "{kind:?}");
        }
    }

    #[test]
    fn ten_times_as_many_have_the_same_form() {
        for seed in 0..20 {
            for kind in ALL {
                let words = |tree: Tree| {
                    let text: String = tree.files.into_iter().map(|(_, text)| text).collect();
                    let of = |word: &str| text.matches(word).count();
                    // by block: dependencies, and what has triggers
                    [of("[terraform_data."), of("triggers_replace = ")]
                };
                let small = words(kind.tree(seed, 400));
                let large = words(kind.tree_like(seed, 4000, 400));
                assert_eq!(words(kind.tree_like(seed, 400, 400)), small);
                let near = |i: usize| (large[i] as f64 / 10.0 - small[i] as f64).abs() < 35.0;
                assert!(near(0) && near(1), "{kind:?}, {seed}: {small:?}, {large:?}");
            }
        }
    }

    #[test]
    fn what_is_written_one_by_one_is_as_many_as_asked_for() {
        for kind in [Kind::Flat, Kind::Layered] {
            for instances in [1, 7, 103] {
                let tree = kind.tree(3, instances);
                let blocks = |(_, text): &(String, String)| {
                    text.matches("\nresource ").count() + usize::from(text.starts_with("resource "))
                };
                let all: usize = tree.files.iter().map(blocks).sum();
                assert_eq!(all, instances, "{kind:?}");
            }
        }
    }
}
