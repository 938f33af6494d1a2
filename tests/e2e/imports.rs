//! Objects brought under management: import blocks, and the import command.

use crate::env;

#[test]
fn blocks_are_generated() {
    let env = env();
    env.write(
        "main.tf",
        "import {\n  to = terraform_data.x\n  id = \"an-id\"\n}\n",
    );
    env.run(&["plan", "-generate-config-out=made.tf", "-out=saved"])
        .exits(0)
        .says(&["1 to import", "Blocks for what is imported are in made.tf"]);
    assert_eq!(
        env.text("made.tf"),
        "# __generated__ by Formwork\n\
         # Look these blocks over, and move them to where they belong.\n\n\
         # __generated__ by Formwork from \"an-id\"\n\
         resource \"terraform_data\" \"x\" {\n  input            = null\n  triggers_replace = null\n}\n"
    );
    let shown = env.run(&["show", "-json", "saved"]).exits(0).json();
    let change = &shown["resource_changes"][0]["change"];
    assert!(
        change["generated_config"]
            .as_str()
            .is_some_and(|t| t.starts_with("resource "))
    );
    env.run(&["plan", "-generate-config-out=made.tf"])
        .exits(1)
        .says(&["Target generated file already exists"]);
    env.run(&["apply", "saved"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}

#[test]
fn blocks() {
    let env = env();
    let plan = |text: &str, exit: i32, says: &[&str]| {
        env.write("main.tf", text);
        env.run(&["plan", "-detailed-exitcode"])
            .exits(exit)
            .says(says);
    };
    let block = |to: &str, id: &str| format!("import {{\n  to = {to}\n  id = {id}\n}}\n");
    let x = "resource \"terraform_data\" \"x\" {}\n";
    let many = "resource \"terraform_data\" \"x\" { count = 1 }\n";
    for (text, says) in [
        (
            block("terraform_data.x", "\"a\""),
            "Configuration for import target does not exist",
        ),
        (
            format!("{many}{}", block("terraform_data.x[3]", "\"a\"")),
            "has no such instance",
        ),
        (
            format!("{many}{}", block("terraform_data.x", "\"a\"")),
            "has no such instance",
        ),
        (
            format!("{x}{0}{0}", block("terraform_data.x", "\"a\"")),
            "Duplicate import configuration for \"terraform_data.x\"",
        ),
        (
            format!("{x}{}", block("terraform_data.x", "null")),
            "Invalid import id argument",
        ),
        (
            format!("{x}{}", block("terraform_data.x", "\"\"")),
            "It is empty",
        ),
        (
            format!("{x}{}", block("terraform_data.x", "[]")),
            "It is no text",
        ),
        (
            format!(
                "{x}resource \"terraform_data\" \"y\" {{}}\n{}",
                block("terraform_data.x", "terraform_data.y.id")
            ),
            "known only after apply",
        ),
        (
            format!("{x}{}", block("data.terraform_data.x", "\"a\"")),
            "Invalid import address",
        ),
    ] {
        plan(&text, 1, &[says]);
    }
    let each = "locals { ids = { a = \"id-a\", b = \"id-b\" } }\n\
                import {\n  for_each = local.ids\n  to = terraform_data.i[each.key]\n  id = each.value\n}\n\
                resource \"terraform_data\" \"i\" {\n  for_each = local.ids\n  input = each.key\n}\n";
    plan(
        each,
        2,
        &["Plan: 2 to import, 0 to add, 2 to change, 0 to destroy."],
    );
    env.run(&["apply", "-auto-approve"])
        .exits(0)
        .says(&["2 imported, 0 added, 2 changed"]);
    // what is there is not imported again
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    assert!(env.text("terraform.tfstate").contains("\"id-b\""));
}

#[test]
fn the_command() {
    let env = env();
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"x\" {}\nresource \"terraform_data\" \"y\" { count = 1 }\n",
    );
    env.run(&["import", "terraform_data.x", "abc"])
        .exits(0)
        .says(&[
            "terraform_data.x: Importing from ID \"abc\"...",
            "Import successful!",
        ]);
    assert!(env.text("terraform.tfstate").contains("\"id\": \"abc\""));
    for (bad, says) in [
        (
            &["import", "terraform_data.x", "abc"][..],
            "already managed",
        ),
        (
            &["import", "terraform_data.z", "abc"],
            "does not exist in the configuration",
        ),
        (
            &["import", "terraform_data.y", "abc"],
            "has instances with keys",
        ),
        (&["import", "terraform_data.x[", "abc"], "Invalid address"),
        (
            &["import", "data.terraform_data.x", "abc"],
            "only managed resources",
        ),
        (
            &["import", "module.m.terraform_data.x", "abc"],
            "Import to non-existent module",
        ),
        (&["import", "terraform_data.x"], "ID is missing"),
    ] {
        env.run(bad).exits(1).says(&[says]);
    }
    env.run(&["import", "terraform_data.y[0]", "def"]).exits(0);
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    // what count and for_each do not let exist would be destroyed by the next apply
    env.write(
        "more.tf",
        "variable \"n\" { default = 2 }\nmodule \"m\" {\n  source   = \"./m\"\n  for_each = toset([\"k\"])\n  n        = var.n\n}\n",
    );
    env.write(
        "m/main.tf",
        "variable \"n\" {}\nresource \"terraform_data\" \"x\" { count = var.n }\n",
    );
    env.run(&["init"]).exits(0);
    for address in [
        "terraform_data.y[1]",
        "module.m[\"q\"].terraform_data.x[0]",
        "module.m[\"k\"].terraform_data.x[2]",
    ] {
        env.run(&["import", address, "ghi"])
            .exits(1)
            .says(&["Configuration for import target does not exist", address]);
    }
    env.run(&[
        "import",
        "-var=n=3",
        "module.m[\"k\"].terraform_data.x[2]",
        "ghi",
    ])
    .exits(0);
}
