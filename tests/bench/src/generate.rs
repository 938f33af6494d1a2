//! Configurations from a seed: plausible, valid, laid out, and the same each time.

use formwork_diagnostics::FileId;
use std::fmt::Write as _;
use std::path::Path;

/// Files by path.
pub(crate) struct Tree {
    /// Path and text, in order.
    pub files: Vec<(String, String)>,
}

impl Tree {
    /// Writes the files below a directory.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), String> {
        for (name, text) in &self.files {
            let path = directory.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
            }
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|(_, text)| text.len()).sum()
    }
}

/// Numbers from a seed (splitmix64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        usize::try_from(z % (end.max(1) as u64)).unwrap_or(0)
    }

    /// Leaves numbers out.
    pub(crate) fn skip(&mut self, how_many: usize) {
        self.0 = (self.0).wrapping_add(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(how_many as u64));
    }

    pub(crate) fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Words of the field, which are names in every language here.
pub(crate) const WORDS: &[&str] = &[
    "network",
    "subnet",
    "cluster",
    "pool",
    "node",
    "login",
    "storage",
    "filestore",
    "router",
    "gateway",
    "service",
    "account",
    "image",
    "policy",
    "monitor",
    "rack",
    "rail",
    "fabric",
];
const ZONES: &[&str] = &["us-central1-a", "europe-west4-b", "asia-southeast1-c"];

/// Files in each module, `main.tf` included.
const PER_MODULE: usize = 20;

/// A root module and modules of [`PER_MODULE`] files, one level deep, every file about as long as
/// any other.
pub(crate) fn many_files(seed: u64, files: usize, bytes: usize) -> Tree {
    let mut numbers = Numbers::new(seed);
    let mut left = bytes;
    let modules = (files / PER_MODULE).max(1);
    let mut out = Vec::with_capacity(files);
    for m in 0..modules {
        let folder = if m == 0 {
            String::new()
        } else {
            format!("modules/m{m}/")
        };
        for f in 0..PER_MODULE.min(files) {
            // What earlier files ran over, later ones fall short of.
            let each = left / (files - out.len()).max(1);
            let mut text = String::with_capacity(each + 3_000);
            if f == 0 {
                let _ = writeln!(text, "# {} of the estate.\n", numbers.of(WORDS));
                text.push_str("terraform {\n  required_version = \">= 1.3\"\n}\n\n");
                text.push_str(
                    "variable \"region\" {\n  type    = string\n  default = \"us-central1\"\n}\n\n",
                );
            }
            if f == 1 && m == 0 {
                for call in 1..modules {
                    let _ = write!(
                        text,
                        "module \"m{call}\" {{\n  source = \"./modules/m{call}\"\n  region = var.region\n}}\n\n"
                    );
                }
            }
            let mut i = 0;
            while text.len() < each || i == 0 {
                if each - text.len().min(each) < 1_500 {
                    lonely(&mut text, &mut numbers, f, i);
                } else {
                    group(&mut text, &mut numbers, f, i);
                }
                i += 1;
            }
            let text = text.trim_end().to_owned() + "\n";
            let (laid_out, _) = formwork_syntax::format(FileId(0), text.as_bytes());
            let name = if f == 0 {
                format!("{folder}main.tf")
            } else {
                format!("{folder}{}_{f}.tf", numbers.of(WORDS))
            };
            left = left.saturating_sub(laid_out.len());
            out.push((name, String::from_utf8_lossy(&laid_out).into_owned()));
        }
    }
    Tree { files: out }
}

/// A variable and a local of its own.
fn lonely(text: &mut String, n: &mut Numbers, file: usize, index: usize) {
    let id = format!("{}_{file}_{index}", n.of(WORDS));
    let _ = write!(
        text,
        r#"variable "{id}" {{
  description = "How many of the {}."
  type = number
  default = {}
}}

locals {{
  {id}_twice = var.{id} * 2 # spare ones included
}}

"#,
        n.of(WORDS),
        n.below(100)
    );
}

/// A variable, locals, a resource or two and an output that belong together.
fn group(text: &mut String, n: &mut Numbers, file: usize, index: usize) {
    let id = format!("{}_{file}_{index}", n.of(WORDS));
    let size = n.below(64) + 1;
    let zone = n.of(ZONES);
    let (a, b) = (n.of(WORDS), n.of(WORDS));
    let _ = write!(
        text,
        r#"variable "{id}" {{
  description = "Settings of the {a}, by name; sizes are counted in machines."
  type = object({{
    name = optional(string, "{a}")
    size = optional(number, {size})
    labels = optional(map(string), {{}})
    zones = optional(list(string), ["{zone}"])
  }})
  default = {{}}
  validation {{
    condition = var.{id}.size > 0 && length(var.{id}.name) <= 63
    error_message = "The ${{var.{id}.name}} needs at least one machine."
  }}
}}

locals {{
  # what the {a} and the {b} share
  {id}_name = "${{var.region}}-${{var.{id}.name}}-{b}"
  {id}_labels = merge(var.{id}.labels, {{
    "component" = "{a}"
    owner = lower("Team {b}")
    size = format("%03d", var.{id}.size)
  }})
  {id}_members = [for i in range(var.{id}.size) : "${{local.{id}_name}}-${{i}}" if i % 2 == {}]
  {id}_by_zone = {{ for i, z in var.{id}.zones : z => {{ index = i, cidr = cidrsubnet("10.0.0.0/8", 8, i) }} }}
}}

"#,
        n.below(2)
    );
    match n.below(4) {
        0 => {
            let _ = write!(
                text,
                r#"resource "terraform_data" "{id}" {{
  count = var.{id}.size > 4 ? 2 : 1
  input = {{
    name = "${{local.{id}_name}}-${{count.index}}"
    labels = local.{id}_labels
    script = <<-EOT
      #!/bin/bash
      set -euo pipefail
      %{{ for m in local.{id}_members ~}}
      echo "joining ${{m}}"
      %{{ endfor ~}}
      exec /usr/bin/start --size=${{var.{id}.size}} --zone={zone}
    EOT
  }}
  lifecycle {{
    create_before_destroy = true
    ignore_changes = [triggers_replace]
  }}
}}

output "{id}" {{
  description = "Outputs of the {a}."
  value = terraform_data.{id}[*].output
}}

"#
            );
        }
        1 => {
            let _ = write!(
                text,
                r#"resource "terraform_data" "{id}" {{
  for_each = local.{id}_by_zone
  input = {{
    zone = each.key
    index = each.value.index, cidr = each.value.cidr
    tags = [each.key, upper(each.key), "{b}"]
  }}
  triggers_replace = [local.{id}_name, jsonencode(local.{id}_labels)]
}}

output "{id}" {{
  value = {{ for k, v in terraform_data.{id} : k => v.id }}
  depends_on = [terraform_data.{id}]
}}

"#
            );
        }
        _ => {
            let _ = write!(
                text,
                r#"resource "terraform_data" "{id}" {{
  input = local.{id}_labels
  lifecycle {{
    precondition {{
      condition = contains(keys(local.{id}_labels), "component")
      error_message = "Labels name the component."
    }}
  }}
}}

resource "terraform_data" "{id}_follower" {{
  input = terraform_data.{id}.id # the {b} follows
  triggers_replace = {{
    size = var.{id}.size
    index = var.{id}.size * 2 + (length(local.{id}_members) - 1) / 3
  }}
  depends_on = [terraform_data.{id}]
}}

output "{id}" {{
  value = coalesce(try(terraform_data.{id}_follower.output, null), "none")
  sensitive = {}
}}

"#,
                n.below(8) == 0
            );
        }
    }
}

/// Shapes of configurations with many instances.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// One resource with `count`.
    Count,
    /// One resource with `for_each`, a second that refers to each of the first.
    ForEach,
    /// Resources one by one in ten layers, each referring to two of the layer before.
    Layers,
}

impl Shape {
    pub(crate) const ALL: [Shape; 3] = [Shape::Count, Shape::ForEach, Shape::Layers];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::Count => "count",
            Shape::ForEach => "for_each, two deep",
            Shape::Layers => "ten layers",
        }
    }

    /// A configuration of this shape with about that many instances.
    pub(crate) fn tree(self, instances: usize) -> Tree {
        let text = match self {
            Shape::Count => format!(
                "resource \"terraform_data\" \"a\" {{\n  count = {instances}\n  input = \"n${{count.index}}\"\n}}\n\n\
                 output \"all\" {{\n  value = terraform_data.a[*].id\n}}\n"
            ),
            Shape::ForEach => format!(
                "locals {{\n  thousands = flatten([for t in range({}) : [for i in range(1000) : t * 1000 + i]])\n  \
                 names     = {{ for i in local.thousands : \"n${{i}}\" => {{ index = i }} if i < {} }}\n}}\n\n\
                 resource \"terraform_data\" \"a\" {{\n  for_each = local.names\n  input = each.value\n}}\n\n\
                 resource \"terraform_data\" \"b\" {{\n  for_each = terraform_data.a\n  input = each.value.id\n}}\n\n\
                 output \"all\" {{\n  value = {{ for k, v in terraform_data.b : k => v.output }}\n}}\n",
                // a range has at most 1,024 elements
                (instances / 2).div_ceil(1000),
                instances / 2
            ),
            Shape::Layers => {
                let layers = 10;
                let wide = (instances / layers).max(1);
                let mut text = String::new();
                for layer in 0..layers {
                    for i in 0..wide {
                        let input = if layer == 0 {
                            format!("\"n{i}\"")
                        } else {
                            format!(
                                "[terraform_data.r{}_{i}.output, terraform_data.r{}_{}.id]",
                                layer - 1,
                                layer - 1,
                                (i + 1) % wide
                            )
                        };
                        // A value that holds all before it would double layer by layer.
                        let input = if layer % 3 == 0 && layer > 0 {
                            format!("sha1(jsonencode({input}))")
                        } else {
                            input
                        };
                        let _ = write!(
                            text,
                            "resource \"terraform_data\" \"r{layer}_{i}\" {{\n  input = {input}\n}}\n\n"
                        );
                    }
                }
                text
            }
        };
        Tree {
            files: vec![("main.tf".to_owned(), text)],
        }
    }
}
