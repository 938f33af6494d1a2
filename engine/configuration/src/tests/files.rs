//! Override files and the JSON form.

use super::*;

#[test]
fn overrides() {
    let (c, d, _) = read(
        r#"
variable "v" {
  type    = string
  default = "base"
}
resource "a_b" "a" {
  count = 2
  x     = 1
  y     = 2
  disk {
    size = 1
  }
}
locals {
  a = 1
  b = 2
}
## z_override.tf
variable "v" {
  default = "over"
}
resource "a_b" "a" {
  for_each = {}
  x        = 3
  disk {
    size = 2
  }
}
locals {
  b = 3
}
"#,
    );
    assert!(d.is_empty(), "{d:?}");
    let root = c.root().expect("root");
    let default = root.variables["v"].default.clone().expect("default");
    assert_eq!(default.as_str(), Some("over"));
    let r = &root.resources[&Resource::managed("a_b", "a")];
    assert!(matches!(r.repetition, Repetition::ForEach(_)));
    assert_eq!(r.body.attributes().len(), 2);
    assert_eq!(r.body.blocks().len(), 1);
    check(
        "## x_override.tf\nvariable \"a\" {\n}\nlocals {\n x=1\n}\nresource \"a_b\" \"c\" {}\n",
        &[
            "x_override.tf:1:1-13 Missing base variable declaration to override",
            "x_override.tf:4:2-5 Missing base local value definition to override",
            "x_override.tf:6:1-19 Missing resource to override",
        ],
    );
}

#[test]
fn json_form() {
    let (c, d, sources) = read(
        r#"
## main.tf.json
{
  "variable": { "v": { "type": "list(string)", "default": ["a"] },
    "w": { "default": ["${x"], "description": "${y}" } },
  "locals": { "l": "${var.v}" },
  "resource": { "a_b": { "c": { "count": 2, "depends_on": ["a_b.d"], "x": "${local.nope}",
    "dynamic": { "disk": { "for_each": [1], "content": { "y": "${disk.value}" } } } },
    "d": { "lifecycle": { "ignore_changes": "all" } } } },
  "output": { "o": { "value": "${a_b.c[0].x}" } },
  "module": { "m": { "source": "./m", "in": 1 } }
}
## m/m.tf
variable "in" {}
"#,
    );
    assert_eq!(
        told(&d, &sources),
        ["main.tf.json:5:78-88 Reference to undeclared local value"]
    );
    let root = c.root().expect("root");
    assert_eq!(root.resources.len(), 2);
    assert_eq!(root.calls["m"].arguments.len(), 1);
}
