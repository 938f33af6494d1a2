//! The worlds that tests run in, and which states share one.
//!
//! Each state of a file has a world of its own, unless values flow between them: a run that is given
//! outputs of a run on another state may refer to what that one made, so both must be in one world.
//! Also, which runs may run at the same time.

use async_trait::async_trait;
use formwork_addresses::Subject;
use formwork_configuration::{
    Configuration, FoundReference, RunBlock, TestFile, expression_references, parse_test_reference,
};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_provider::ProviderFactory;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A world to run tests in.
#[derive(Clone)]
pub struct TestWorld {
    /// Who makes providers for it.
    pub factory: Arc<dyn ProviderFactory>,
    /// Its identity, if it is a mock cloud.
    pub cloud: Option<String>,
}

/// Who makes worlds: the composition root.
#[async_trait]
pub trait TestWorlds: Send + Sync {
    /// The world number `world` of a test file, for a run of this configuration. Asked again it is the
    /// same world, until the file is closed.
    ///
    /// # Errors
    /// Why there is none.
    async fn world(
        &self,
        file: &str,
        world: usize,
        configuration: &Configuration,
        sources: &SourceMap,
    ) -> Result<TestWorld, Diagnostics>;

    /// Ends the worlds of a file.
    async fn close(&self, file: &str);
}

/// The states of a file, each with the number of its world.
pub(super) fn worlds_of(file: &TestFile) -> BTreeMap<Arc<str>, usize> {
    let mut worlds: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for run in &file.runs {
        let next = worlds.len();
        worlds.entry(run.state()).or_insert(next);
    }
    let by_name: BTreeMap<&str, Arc<str>> =
        file.runs.iter().map(|r| (&*r.name, r.state())).collect();
    for run in &file.runs {
        for name in runs_needed(file, run) {
            let (Some(one), Some(other)) = (
                worlds.get(&run.state()).copied(),
                by_name.get(&*name).and_then(|s| worlds.get(s)).copied(),
            ) else {
                continue;
            };
            let (low, high) = (one.min(other), one.max(other));
            for world in worlds.values_mut().filter(|w| **w == high) {
                *world = low;
            }
        }
    }
    worlds
}

/// The runs whose outputs a run is given: in its variables, or in the providers of its file.
fn runs_needed(file: &TestFile, run: &RunBlock) -> Vec<Arc<str>> {
    let variables = run.variables.values();
    let mut found: Vec<_> = variables
        .flat_map(|a| expression_references(&a.expression).0)
        .collect();
    for provider in file.providers.values() {
        found.extend(formwork_configuration::body_references(&provider.config.body).0);
    }
    runs_among(found)
}

/// Runs that run at the same time: neighbours that say so, on states of their own, none of which is given
/// what another of them makes. Each run is in one group.
pub(super) fn side_by_side(file: &TestFile) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let parallel = |run: &RunBlock| run.parallel.unwrap_or(file.parallel);
    for (index, run) in file.runs.iter().enumerate() {
        let needed = runs_before(file, run);
        let joins = |group: &Range<usize>| {
            parallel(run)
                && file.runs.get(group.clone()).is_some_and(|group| {
                    group.iter().all(|other| {
                        parallel(other)
                            && other.state() != run.state()
                            && !needed.contains(&other.name)
                    })
                })
        };
        match groups.last_mut() {
            Some(group) if joins(group) => group.end = index + 1,
            _ => groups.push(index..index + 1),
        }
    }
    groups
}

/// The runs that a run is given something of, or that its assertions look at.
fn runs_before(file: &TestFile, run: &RunBlock) -> Vec<Arc<str>> {
    let mut all = runs_needed(file, run);
    for rule in &run.asserts {
        for expression in [&rule.condition, &rule.error_message] {
            all.extend(runs_among(expression_references(expression).0));
        }
    }
    all
}

fn runs_among(references: Vec<FoundReference>) -> Vec<Arc<str>> {
    references
        .into_iter()
        .filter_map(|f| match parse_test_reference(&f.traversal) {
            Ok(found) => match found.reference.subject {
                Subject::Run(name) => Some(name),
                _ => None,
            },
            Err(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_configuration::{
        LanguageLevel, Loading, LocalModulesOnly, MemoryReader, StaticInputs, load_tests,
    };
    use std::path::Path;

    fn file_of(text: &str) -> TestFile {
        let reader: MemoryReader = [("main.tf", ""), ("tests/a.tftest.hcl", text)]
            .into_iter()
            .collect();
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: StaticInputs::default(),
        };
        let (suite, said) = load_tests(Path::new("tests"), &with, &mut SourceMap::new());
        assert!(said.is_empty(), "{said:?}");
        let file = suite.files.first().expect("a file");
        TestFile::clone(file)
    }

    /// The numbers of the worlds of the runs, in order.
    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        let file = file_of(text);
        let worlds = worlds_of(&file);
        let of_runs: Vec<usize> = file
            .runs
            .iter()
            .filter_map(|r| worlds.get(&r.state()).copied())
            .collect();
        assert_eq!(of_runs, expected, "{text}");
    }

    #[test]
    fn runs_side_by_side() {
        let check = |text: &str, expected: &[(usize, usize)]| {
            let groups = side_by_side(&file_of(text));
            let groups: Vec<_> = groups.iter().map(|g| (g.start, g.end)).collect();
            assert_eq!(groups, expected, "{text}");
        };
        let run = |name: &str, rest: &str| {
            format!("run \"{name}\" {{\n state_key = \"{name}\"\n{rest}}}\n")
        };
        let two = run("a", "") + &run("b", "");
        check(&two, &[(0, 1), (1, 2)]);
        check(&format!("test {{\n parallel = true\n}}\n{two}"), &[(0, 2)]);
        let yes = " parallel = true\n";
        let all = run("a", yes) + &run("b", "") + &run("c", yes) + &run("d", yes);
        check(&all, &[(0, 1), (1, 2), (2, 4)]);
        // one state
        let same = "run \"a\" {\n parallel = true\n}\nrun \"b\" {\n parallel = true\n}\n";
        check(same, &[(0, 1), (1, 2)]);
        // what the former one makes
        let given = format!("{yes} variables {{\n  v = run.a.x\n }}\n");
        let chain = run("a", yes) + &run("b", &given) + &run("c", yes);
        check(&chain, &[(0, 1), (1, 3)]);
        let looks =
            format!("{yes} assert {{\n  condition = run.a.x == 1\n  error_message = \"no\"\n }}\n");
        check(
            &(run("a", yes) + &run("c", yes) + &run("b", &looks)),
            &[(0, 2), (2, 3)],
        );
    }

    #[test]
    fn states_share_a_world_where_values_flow() {
        let other = "module {\n source = \"./m\"\n }";
        let alone = format!("run \"a\" {{}}\nrun \"b\" {{\n {other}\n}}\nrun \"c\" {{}}\n");
        check(&alone, &[0, 1, 0]);
        let given = format!(
            "run \"a\" {{\n {other}\n}}\nrun \"b\" {{\n variables {{\n  v = run.a.id\n }}\n}}\nrun \"c\" {{\n state_key = \"k\"\n}}\n"
        );
        check(&given, &[0, 0, 2]);
        // By way of a third.
        let chain = "run \"a\" {\n state_key = \"1\"\n}\nrun \"b\" {\n state_key = \"2\"\n variables {\n  v = \"${run.a.x}!\"\n }\n}\nrun \"c\" {\n state_key = \"3\"\n variables {\n  v = [run.b.x]\n }\n}\nrun \"d\" {\n state_key = \"4\"\n}\n";
        check(chain, &[0, 0, 0, 3]);
        // An assertion only looks.
        let looks = "run \"a\" {\n state_key = \"1\"\n}\nrun \"b\" {\n assert {\n  condition = run.a.x == output.x\n  error_message = \"no\"\n }\n}\n";
        check(looks, &[0, 1]);
        let provider = "provider \"p\" {\n token = run.a.token\n}\nrun \"a\" {\n state_key = \"1\"\n}\nrun \"b\" {\n}\n";
        check(provider, &[0, 0]);
    }
}
