//! Module calls, and providers handed through them.

use super::*;

#[test]
fn providers_through_modules() {
    let (c, d, sources) = read(
        r#"
terraform {
  required_providers {
    goo = { source = "hashicorp/google", version = ">= 6" }
  }
}
provider "goo" {
  region = "r"
}
provider "goo" {
  alias = "eu"
}
module "a" {
  source = "./m"
}
module "b" {
  source    = "./m"
  providers = { google = goo.eu }
}
## m/main.tf
resource "google_x" "y" {}
resource "null_resource" "z" {}
"#,
    );
    assert_eq!(
        told(&d, &sources),
        ["W main.tf:17:17-23 Reference to undefined provider"]
    );
    let resolve = |module: &str, name: &str| {
        let path: ModulePath = [module].into_iter().collect();
        c.resolve_provider(&path, &LocalProviderConfig::default_of(name))
            .map(|r| format!("{} {}", r.config, r.declared))
            .expect("resolved")
    };
    let google = "provider[\"registry.terraform.io/hashicorp/google\"]";
    assert_eq!(resolve("a", "google"), format!("{google} true"));
    assert_eq!(resolve("b", "google"), format!("{google}.eu true"));
    assert_eq!(
        resolve("b", "null"),
        "provider[\"registry.terraform.io/hashicorp/null\"] false"
    );
    assert_eq!(c.required_providers().len(), 2);
    assert_eq!(c.distinct_modules().count(), 2);
}

#[test]
fn module_calls() {
    let call = |inner: &str, child: &str| {
        format!("module \"m\" {{\n source=\"./m\"\n{inner}\n}}\n## m/a.tf\n{child}\n")
    };
    check(
        &call("", "variable \"x\" {}"),
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        &call("zoen=1", "variable \"zone\" {\n default=1\n}"),
        &["main.tf:3:1-5 Unsupported argument | Did you mean \"zone\"?"],
    );
    check(
        &call("y {\n}", ""),
        &["main.tf:3:1-2 Unsupported block type"],
    );
    check(
        &call("provider {\n}", ""),
        &["main.tf:3:1-9 Reserved block type name in module block"],
    );
    check(
        &call("version=\"1.0\"", ""),
        &["main.tf:2:9-14 Invalid registry module source address"],
    );
    check(
        &call("providers={\n foo=terraform\n}", ""),
        &[
            "W main.tf:4:2-5 Reference to undefined provider",
            "W main.tf:4:6-15 Reference to undefined provider",
            "main.tf:4:6-15 Provider type mismatch",
        ],
    );
    check(
        &call(
            "",
            "terraform {\n required_providers {\n terraform={\n source=\"terraform.io/builtin/terraform\"\n configuration_aliases=[terraform.x]\n}\n}\n}",
        ),
        &["main.tf:1:1-11 Missing required provider configuration"],
    );
    check(
        &call("count=1", "provider \"a\" {\n region=1\n}"),
        &["main.tf:1:1-11 Module is incompatible with count, for_each, and depends_on"],
    );
    check(
        &call("", "terraform {\n backend \"local\" {}\n}"),
        &["W m/a.tf:2:2-17 Backend configuration ignored"],
    );
    check(
        &call("", "import {\n to=a_b.x\n id=\"a\"\n}"),
        &["m/a.tf:1:1-7 Invalid import configuration"],
    );
    check(
        "module \"m\" {\n source=\"./\"\n}\n",
        &["main.tf:2:9-13 Module call cycle"],
    );
    check(
        "module \"m\" {\n source=\"m\"\n}\n",
        &[
            "main.tf:2:9-12 Invalid module source address | For a directory beside this file, write \"./m\".",
        ],
    );
    check(
        "module \"m\" {\n source=\"./gone\"\n}\noutput \"x\" {\n value=module.m.y\n}",
        &["main.tf:2:9-17 Unreadable module directory"],
    );
    check(
        "module \"m\" {\n source=\"terraform-google-modules/network/google\"\n}\n",
        &["main.tf:2:9-50 Module not installed"],
    );
}

#[test]
fn what_modules_deprecate() {
    check(
        r#"module "m" {
  source = "./m"
  count  = 1
  old    = 1
}
output "a" { value = module.m[0].gone }
locals { b = [module.m[0].gone, module.m[0].here] }
## m/main.tf
variable "old" {
  default    = 0
  deprecated = "use new"
}
output "gone" {
  value      = 1
  deprecated = "use here"
}
output "here" { value = var.old }
"#,
        &[
            "W main.tf:7:15-31 Deprecated output",
            "W main.tf:6:22-38 Deprecated output",
            "W main.tf:4:3-13 Deprecated variable",
        ],
    );
}
