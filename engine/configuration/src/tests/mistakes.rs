//! Mistakes: those that were recorded, references that name nothing, damaged texts.

use super::*;

/// The recorded mistakes: summary and range as terraform 1.11.4 answers them.
#[test]
fn recorded_mistakes() {
    check(
        "resource \"terraform_data\" \"a\" {\n}\n\nresource \"terraform_data\" \"a\" {\n}\n",
        &["main.tf:4:1-30 Duplicate resource \"terraform_data\" configuration"],
    );
    check(
        "output \"o\" {\n  value = terraform_data.missing.id\n}\n",
        &["main.tf:2:11-33 Reference to undeclared resource"],
    );
    check(
        "output \"o\" {\n  value = var.missing\n}\n\noutput \"l\" {\n  value = local.missing\n}\n\noutput \"m\" {\n  value = module.missing.x\n}\n",
        &[
            "main.tf:6:11-24 Reference to undeclared local value",
            "main.tf:10:11-27 Reference to undeclared module",
            "main.tf:2:11-22 Reference to undeclared input variable | To declare it, add a block: variable \"missing\" {}",
        ],
    );
    check(
        "bogus \"x\" {\n}\n",
        &["main.tf:1:1-6 Unsupported block type"],
    );
    check(
        "resource \"terraform_data\" {\n}\n",
        &["main.tf:1:27-28 Missing name for resource"],
    );
    check(
        "output \"o\" {\n}\n",
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n  input = each.key\n}\n\nresource \"terraform_data\" \"b\" {\n  input = count.index\n}\n\nresource \"terraform_data\" \"c\" {\n  input = self.id\n}\n",
        &[
            "main.tf:2:11-19 Reference to \"each\" in context without for_each",
            "main.tf:6:11-22 Reference to \"count\" in non-counted context",
            "main.tf:10:11-15 Invalid \"self\" reference",
        ],
    );
    check(
        "resource \"terraform_data\" \"1bad\" {\n}\n",
        &["main.tf:1:27-33 Invalid resource name"],
    );
    check(
        "terraform {\n  required_version = \">= 99.0\"\n}\n",
        &[
            "main.tf:2:3-31 Unsupported Terraform Core version | If the module works with less, widen its constraint; if you want to try it as it is, claim another version with FORMWORK_TERRAFORM_VERSION.",
        ],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n\noutput \"o\" {\n  value = terraform_data.a.id\n}\n",
        &["main.tf:6:11-27 Missing resource instance key"],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n}\n\noutput \"o\" {\n  value = terraform_data.a[0].id\n}\n",
        &["main.tf:5:11-30 Unexpected resource instance key"],
    );
    check(
        "locals {\n  a = 1\n}\n\nlocals {\n  a = 2\n}\n\nvariable \"v\" {\n}\n\nvariable \"v\" {\n}\n\noutput \"o\" {\n  value = 1\n}\n\noutput \"o\" {\n  value = 2\n}\n",
        &[
            "main.tf:6:3-8 Duplicate local value definition",
            "main.tf:12:1-13 Duplicate variable declaration",
            "main.tf:19:1-11 Duplicate output definition",
        ],
    );
    check(
        "variable \"count\" {\n}\n\nvariable \"v\" {\n  type = strin\n}\n\nvariable \"w\" {\n  type = list\n}\n\nvariable \"x\" {\n  type    = string\n  nope    = 1\n}\n",
        &[
            "main.tf:1:10-17 Invalid variable name",
            "main.tf:5:10-15 Invalid type specification | Did you mean \"string\"?",
            "main.tf:14:3-7 Unsupported argument",
        ],
    );
    check(
        "module \"m\" {\n}\n",
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        "check \"c\" {\n  assert {\n    condition     = 1 + 1 == 2\n    error_message = \"constant\"\n  }\n}\n",
        &["main.tf:3:21-31 Invalid assert expression"],
    );
    check(
        "check \"empty\" {\n}\n",
        &["main.tf:1:1-14 Zero assert blocks"],
    );
    check(
        "resource \"terraform_data\" \"both\" {\n  count    = 1\n  for_each = {}\n}\n",
        &["main.tf:3:3-11 Invalid combination of \"count\" and \"for_each\""],
    );
    check(
        "output \"o\" {\n  value     = \"x\"\n  ephemeral = true\n}\n",
        &["main.tf:1:1-11 Ephemeral output not allowed"],
    );
}

#[test]
fn references_that_name_nothing() {
    check(
        "output \"a\" {\n value=data.x\n}",
        &["main.tf:2:8-14 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=var\n}",
        &["main.tf:2:8-11 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=var[\"x\"]\n}",
        &["main.tf:2:11-16 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=foo\n}",
        &["main.tf:2:8-11 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=foo[\"a\"]\n}",
        &["main.tf:2:11-16 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=count.x\n}",
        &["main.tf:2:8-15 Invalid \"count\" attribute"],
    );
    check(
        "output \"a\" {\n value=path.x\n}",
        &["main.tf:2:8-14 Invalid \"path\" attribute"],
    );
    check(
        "variable \"zone\" {\n default=1\n}\noutput \"a\" {\n value=var.zoen\n}",
        &["main.tf:5:8-16 Reference to undeclared input variable | Did you mean \"zone\"?"],
    );
    check(
        "check \"a\" {\n data \"x_y\" \"x\" {}\n assert {\n condition=data.x_y.x.b==\"\"\n error_message=\"x\"\n}\n}\noutput \"o\" {\n value=data.x_y.x.b\n}",
        &["main.tf:9:8-18 Reference to scoped resource"],
    );
    // Names bound nearby are no references.
    check(
        "resource \"a_b\" \"c\" {\n x = [for s in [1] : s.y]\n dynamic \"disk\" {\n for_each = [1]\n iterator = it\n content {\n size = it.value\n name = \"%{ for q in [1] }${q.z}%{ endfor }\"\n }\n }\n dynamic \"nic\" {\n for_each = [disk.value]\n content {\n a = nic.key\n }\n }\n}",
        &[
            "main.tf:12:14-24 Reference to undeclared resource | If disk is meant to be the element of a dynamic block: its name is the label of that block, or what \"iterator\" says.",
        ],
    );
}

#[test]
fn a_syntax_error_hides_what_only_seems_wrong() {
    check(
        "variable \"a\" {\n nope = 1\n}\nvariable \"b\" {\n default = \"x\n}\noutput \"o\" {\n value = var.gone\n}\n",
        &[
            "main.tf:5:14-14 Invalid multi-line string",
            "main.tf:2:2-6 Unsupported argument",
        ],
    );
    check(
        "variable \"a\" {\n\noutput \"o\" {\n value = 1\n}\noutput \"p\" {\n}\n",
        &[
            "main.tf:1:1-15 Unclosed configuration block | Line 3 begins at the margin, as if the block had ended: the brace may be missing before it.",
        ],
    );
}
/// Damaged configurations load to something, with an error that has a range, and never panic.
///
/// A damage is a piece cut out, doubled, swapped or put elsewhere, so that about half of the texts
/// still parse. `FORMWORK_TEST_BUDGET` (seconds, default 10) sets the amount: a fifth of it is used.
#[test]
fn damaged_text_is_survived() {
    const TEXT: &str = r#"
terraform {
  required_version = ">= 1.3"
  required_providers {
    google = { source = "hashicorp/google", version = "~> 7.0", configuration_aliases = [google.eu] }
  }
  backend "local" { path = "x" }
}
provider "google" { alias = "eu" }
variable "x" {
  type    = map(object({ a = optional(number, 1), b = list(string) }))
  default = { k = { b = ["${"q"}"] } }
  validation {
    condition     = length(var.x) > 0
    error_message = "Empty."
  }
}
locals {
  l = [for k, v in var.x : v.a if k != "z"]
  m = { for s in ["a"] : s => s... }
}
module "m" {
  source    = "./m"
  for_each  = var.x
  providers = { google.eu = google.eu }
  in        = each.value
}
resource "google_x" "y" {
  count = length(local.l)
  name  = "n-${count.index}"
  dynamic "disk" {
    for_each = local.m
    iterator = d
    content { size = d.value[0] }
  }
  lifecycle {
    ignore_changes       = [name, disk[0].size]
    replace_triggered_by = [google_x.z.id]
    postcondition {
      condition     = self.name != ""
      error_message = "No."
    }
  }
  provisioner "local-exec" { command = "x" }
  depends_on = [module.m]
}
resource "google_x" "z" { provider = google.eu }
moved { 
  from = google_x.old[0]
  to   = google_x.z
}
removed {
  from = module.gone
  lifecycle { destroy = false }
}
import { 
  to = google_x.z 
  id = "a"
}
check "c" {
  assert {
    condition     = google_x.z.id != "" && module.m["k"].out == 1
    error_message = "Odd."
  }
}
output "o" { value = values(module.m)[*].out }
"#;
    let (_, d, sources) = read(&format!(
        "## main.tf\n{TEXT}\n## m/a.tf\nvariable \"in\" {{}}\noutput \"out\" {{\n value = var.in\n}}\n"
    ));
    assert_eq!(
        told(&d, &sources),
        ["W main.tf:25:17-26 Reference to undefined provider"]
    );
    let budget: u64 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok())
        .unwrap_or(10);
    let until = std::time::Instant::now() + std::time::Duration::from_millis(budget * 200);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below.max(1) as u64).unwrap_or(0)
    };
    let pieces: Vec<&str> = TEXT
        .split_inclusive([' ', '\n', '.', '"', '{', '}'])
        .collect();
    let (mut rounds, mut clean) = (0u32, 0u32);
    while rounds < 50 || std::time::Instant::now() < until {
        let mut damaged = pieces.clone();
        for _ in 0..=random(3) {
            let (a, b) = (random(damaged.len()), random(damaged.len()));
            match random(4) {
                0 => drop(damaged.remove(a)),
                1 => damaged.insert(a, damaged[b]),
                2 => damaged.swap(a, b),
                _ => {
                    let piece = damaged.remove(a);
                    damaged.insert(b.min(damaged.len()), piece);
                }
            }
        }
        let text: String = damaged.concat();
        let mut reader = MemoryReader::new();
        reader.insert("main.tf", text.as_bytes());
        reader.insert(
            "m/a.tf",
            &b"variable \"in\" {}\noutput \"out\" {\n value = var.in\n}\n"[..],
        );
        let mut sources = SourceMap::new();
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: crate::StaticInputs::default(),
        };
        let (configuration, d) = load(Path::new("."), &with, &mut sources);
        assert!(
            d.iter().all(|d| d.subject.is_some()),
            "no range in {d:?} of:\n{text}"
        );
        let _ = (
            crate::Moves::of(&configuration, |_, _| Default::default()),
            configuration.removal_conflicts(),
        );
        rounds += 1;
        clean += u32::from(!d.has_errors());
    }
    println!("{rounds} damaged texts, {clean} of them without an error");
}
