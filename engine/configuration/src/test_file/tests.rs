//! Test files as text, and what reading them says.

use crate::{
    LanguageLevel, Loading, LocalModulesOnly, MemoryReader, RunCommand, StaticInputs, TestSuite,
    load_run, load_tests,
};
use formwork_diagnostics::{Diagnostics, SourceMap};
use std::path::Path;

/// A test file `tests/a.tftest.hcl`, and more files that begin with lines `## path`.
fn read(text: &str) -> (TestSuite, Diagnostics, SourceMap, MemoryReader) {
    let mut reader = MemoryReader::new();
    reader.insert("main.tf", &b""[..]);
    for (i, part) in format!("\n{text}").split("\n## ").enumerate() {
        match (i, part.split_once('\n')) {
            (0, _) => reader.insert(
                "tests/a.tftest.hcl",
                part.trim_start_matches('\n').as_bytes(),
            ),
            (_, Some((name, text))) => reader.insert(name, text.as_bytes()),
            (_, None) => reader.insert(part, &b""[..]),
        }
    }
    let mut sources = SourceMap::new();
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    let (suite, said) = load_tests(Path::new("tests"), &with, &mut sources);
    (suite, said, sources, reader)
}

fn told(said: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    said.iter()
        .map(|d| {
            let place = d.subject.map_or("-".to_owned(), |r| sources.place(r));
            let place = place.replace("tests/a.tftest.hcl:", "");
            let hint = d.hints.first().map_or(String::new(), |h| format!(" | {h}"));
            format!("{place} {}{hint}", d.summary)
        })
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, said, sources, _) = read(text);
    assert_eq!(told(&said, &sources), expected, "of:\n{text}");
}

#[test]
fn mistakes() {
    check("run \"a\" {\n}\n", &[]);
    check(
        "run \"a\" {\n  comand = plan\n}\n",
        &["2:3 Unsupported argument | Did you mean \"command\"?"],
    );
    check(
        "rum \"a\" {\n}\nrun \"b\" {\n  asert {\n  }\n}\n",
        &[
            "1:1 Unsupported block type | Did you mean \"run\"?",
            "4:3 Unsupported block type | Did you mean \"assert\"?",
        ],
    );
    check(
        "run \"a\" {\n  command = aply\n}\n",
        &["2:13 Invalid \"command\" keyword | Did you mean \"apply\"?"],
    );
    check(
        "run \"a\" {\n  command = \"plan\"\n}\n",
        &["2:13 Invalid \"command\" keyword | Take the quotes off: command = plan"],
    );
    check(
        "run \"a\" {\n}\nrun \"a\" {\n}\n",
        &["3:1 Duplicate \"run\" block names"],
    );
    check("run \"a b\" {\n}\n", &["1:5 Invalid run block name"]);
    check("run {\n}\n", &["1:5 Missing name for run"]);
    check(
        "variables {\n}\nvariables {\n}\n",
        &["3:1 Multiple \"variables\" blocks"],
    );
    check(
        "run \"a\" {\n  module {\n  }\n  module {\n  }\n}\n",
        &[
            "2:3 Missing \"source\" attribute for module block",
            "4:3 Multiple \"module\" blocks",
        ],
    );
    check(
        "run \"a\" {\n  module {\n    source = \"m\"\n    count = 2\n  }\n}\n",
        &[
            "4:5 Unsupported argument",
            "3:14 Invalid module source address | For a directory of this configuration, write \"./m\".",
        ],
    );
    check(
        "run \"a\" {\n  plan_options {\n    mode = destroy\n    replace = [module.m]\n  }\n}\n",
        &["3:12 Invalid \"mode\" keyword", "4:16 Invalid address"],
    );
    check(
        "run \"a\" {\n  assert {\n    condition = true\n  }\n}\n",
        &[
            "2:10 Missing required argument",
            "3:17 Invalid assert expression",
        ],
    );
    check("run \"a\" {\n", &["1:1 Unclosed configuration block"]);
    check(
        "mock_provider \"x\" {\n}\nprovider \"x\" {\n}\nmock_provider \"x\" {\n  alias = \"y\"\n}\n",
        &["3:1 Duplicate provider block"],
    );
}

#[test]
fn mistakes_in_overrides() {
    check(
        "override_resource {\n  target = data.a.b\n}\noverride_data {\n  target = a.b\n}\noverride_module {\n  target = a.b\n}\n",
        &[
            "2:12 Invalid override target",
            "5:12 Invalid override target",
            "8:12 Invalid override target",
        ],
    );
    check(
        "override_resource {\n  values = \"x\"\n}\n",
        &[
            "2:12 Invalid values attribute",
            "1:1 Missing target attribute",
        ],
    );
    check(
        "override_module {\n  target = module.m\n  outputs = []\n  override_during = pla\n}\n",
        &[
            "4:21 Invalid override_during value | Did you mean \"plan\"?",
            "3:13 Invalid outputs attribute",
        ],
    );
    check(
        "override_data {\n  target = data.a.b\n  values = {\n    a = var.x\n    b = upper(\"x\")\n  }\n}\n",
        &[
            "4:9 Variables not allowed",
            "5:9 Function calls not allowed",
        ],
    );
    check(
        "override_data {\n  target = data.a.b\n}\noverride_data {\n  target = data.a.b\n}\n",
        &["4:1 Duplicate override_data block"],
    );
    check(
        "mock_provider \"x\" {\n  mock_resource \"a\" {\n  }\n  mock_resource \"a\" {\n  }\n  mock_thing \"b\" {\n  }\n  defaults = {}\n}\n",
        &[
            "8:3 Unsupported argument",
            "6:3 Unsupported block type",
            "4:3 Duplicate mock_resource block",
        ],
    );
    check(
        "mock_provider \"x\" {\n  source = \"./nothing\"\n}\n",
        &["1:1 Failed to read mock data directory"],
    );
    check(
        "mock_provider \"x\" {\n  source = \"./mocks\"\n}\n## mocks/a.tfmock.hcl\nmock_resource \"a\" {\n  default = {}\n}\n",
        &["mocks/a.tfmock.hcl:2:3 Unsupported argument | Did you mean \"defaults\"?"],
    );
}

#[test]
fn files_in_order_and_what_they_hold() {
    let (suite, said, _, _) = read(
        "variables {\n  v = 1\n}\nrun \"x\" {\n  command = plan\n  expect_failures = [check.c, var.v]\n}\nrun \"y\" {\n}\n\
         ## z.tftest.hcl\nrun \"z\" {}\n## tests/sub/no.tftest.hcl\nrun \"no\" {}\n## tests/.hidden.tftest.hcl\nrun \"no\" {}\n\
         ## tests/b.tftest.json\n{\"variables\": {\"w\": 2}, \"run\": {\"j\": {\"command\": \"plan\", \"expect_failures\": [\"check.c\"], \
         \"assert\": {\"condition\": \"${var.w == 2}\", \"error_message\": \"no\"}}}}",
    );
    assert!(said.is_empty(), "{said:?}");
    let names: Vec<_> = suite
        .files
        .iter()
        .map(|f| (&*f.name, f.in_test_directory))
        .collect();
    assert_eq!(
        names,
        [
            ("tests/a.tftest.hcl", true),
            ("tests/b.tftest.json", true),
            ("z.tftest.hcl", false)
        ]
    );
    let a = &suite.files[0];
    assert!(a.variables.contains_key("v"));
    assert_eq!(a.runs[0].command, RunCommand::Plan);
    assert_eq!(a.runs[0].expect_failures.len(), 2);
    assert_eq!(a.runs[1].command, RunCommand::Apply);
    let j = &suite.files[1].runs[0];
    assert_eq!(j.command, RunCommand::Plan);
    assert_eq!((j.asserts.len(), j.expect_failures.len()), (1, 1));
    assert_eq!(
        suite.files[1].module_path().to_string(),
        "module.test.module.tests.module.b"
    );
}

#[test]
fn directories_outside_are_refused() {
    let reader = MemoryReader::new();
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    for directory in ["../x", "/x"] {
        let (_, said) = load_tests(Path::new(directory), &with, &mut SourceMap::new());
        let summaries: Vec<_> = said.iter().map(|d| &*d.summary).collect();
        assert_eq!(summaries, ["Invalid testing directory"], "{directory}");
    }
}

#[test]
fn the_nearest_override_wins() {
    let (suite, said, mut sources, reader) = read(
        "mock_provider \"x\" {\n  override_during = plan\n  override_resource {\n    target = x_a.b\n    values = { from = \"mock\" }\n  }\n}\n\
         override_resource {\n  target = x_a.n\n  values = { from = \"all\" }\n}\n\
         override_resource {\n  target = x_a.n[1]\n  values = { from = \"one\" }\n}\n\
         override_resource {\n  target = module.m.x_a.c\n  values = { from = \"modules\" }\n}\n\
         override_module {\n  target = module.gone\n}\n\
         run \"r\" {\n  override_resource {\n    target = x_a.n[0]\n    values = { from = \"run\" }\n  }\n}\n",
    );
    assert!(said.is_empty(), "{said:?}");
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    let file = &suite.files[0];
    let (made, said) = load_run(file, &file.runs[0], &with, &mut sources);
    assert!(said.is_empty(), "{said:?}");
    let provider = &made.providers[0].config;
    for (address, wanted) in [
        ("x_a.n[0]", Some(("run", false))),
        ("x_a.n[1]", Some(("one", false))),
        ("x_a.n[2]", Some(("all", false))),
        ("x_a.b", Some(("mock", true))),
        ("module.m[\"k\"].x_a.c", Some(("modules", false))),
        ("x_a.other", None),
    ] {
        let address = address.parse().expect("an address");
        let found = made.override_of(&address, provider);
        let found = found.map(|(o, during)| {
            let from = o.values.attribute("from").expect("it says from where");
            (from.as_str().expect("a text").to_owned(), during)
        });
        let wanted = wanted.map(|(from, during)| (from.to_owned(), during));
        assert_eq!(found, wanted, "{address}");
    }
    let idle = made.idle_overrides();
    assert_eq!(idle.warning_count(), 6);
}
