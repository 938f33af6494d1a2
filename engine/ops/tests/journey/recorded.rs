//! Recorded answers of Terraform, configuration by configuration: `tests/oracle/configs`.
//!
//! A case is a folder that changes step by step. Each step is validated, planned, applied as a saved
//! plan and planned again, and everything that the recording holds is compared: exit codes, events,
//! places and summaries of diagnostics, the plan as JSON, the state, and what is shown of it.
//!
//! Ids are random here and there, so an object's id takes the name that the recording gives to the
//! object at the same address of the state.

use crate::comparing::{difference, meaning_of_state, ordered, renamed, without_keys};
use crate::surroundings::{Recorder, session};
use formwork_configuration::{Given, InputLayer, InputOrigin, parse_tfvars};
use formwork_diagnostics::{Diagnostics, Severity, SourceMap};
use formwork_ops::{PlanOptions, PlanOutcome, Session, StateAddress, StateEdit, edit_state};
use formwork_plan::{Event, PlanMode};
use formwork_render::{EventStream, Schemas};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/configs")
}

macro_rules! cases {
    ($($test:ident $name:literal)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                let differences = run($name).await;
                assert!(differences.is_empty(), "{}:\n{}", $name, differences.join("\n"));
            }
        )*
        /// Cases that agree in everything.
        const AGREED: &[&str] = &[$($name),*];
    };
}

cases! {
    basic_create "basic-create"
    check_blocks "check-blocks"
    check_scoped_data "check-scoped-data"
    config_errors "config-errors"
    count_bad "count-bad"
    count_single_implicit_move "count-single-implicit-move"
    create_before_destroy "create-before-destroy"
    cycle "cycle"
    data_depends_unknown "data-depends-unknown"
    destroy_mode "destroy-mode"
    empty "empty"
    ephemeral "ephemeral"
    for_each_bad_type "for-each-bad-type"
    for_each_map "for-each-map"
    for_each_set "for-each-set"
    for_each_value_unknown "for-each-value-unknown"
    import_block "import-block"
    import_cli "import-cli"
    import_for_each "import-for-each"
    import_generate_config "import-generate-config"
    input_types "input-types"
    json_config "json-config"
    locals_graph "locals-graph"
    module_template_path "module-template-path"
    modules_nested "modules-nested"
    moved_into_module "moved-into-module"
    moved_keys "moved-keys"
    moved_rename "moved-rename"
    output_precondition "output-precondition"
    output_values "output-values"
    override_files "override-files"
    partial_apply "partial-apply"
    postcondition_apply "postcondition-apply"
    precondition_ok_fail "precondition-ok-fail"
    precondition_unknown "precondition-unknown"
    removed_destroy "removed-destroy"
    provisioner_local_exec "provisioner-local-exec"
    refresh_only "refresh-only"
    sensitive "sensitive"
    state_commands "state-commands"
    taint "taint"
    target "target"
    triggers_replace "triggers-replace"
    update_in_place "update-in-place"
    variable_nullable "variable-nullable"
    variable_precedence "variable-precedence"
    variable_undeclared "variable-undeclared"
    workspace "workspace"
}

/// What differs on purpose: the case, how the difference begins, and why.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        "check-scoped-data",
        "step 1: second plan.exit",
        "reading for a check once more is no change that anybody must apply",
    ),
    (
        "config-errors",
        "step 15: ",
        "what follows from a text without an end is not told as further mistakes",
    ),
    (
        "config-errors",
        "step 16: ",
        "a default that cannot be evaluated is not told to be of the wrong type, too",
    ),
    (
        "config-errors",
        "step 19: validate",
        "what is wrong with values is told in the same run as what is wrong with names",
    ),
    (
        "config-errors",
        "step 20: ",
        "an assertion that is wrong is one all the same",
    ),
    (
        "ephemeral",
        "step 1: plan.json.variables.tok.value",
        "an ephemeral value is never in a plan",
    ),
];

#[tokio::test]
async fn every_recording_is_accounted_for() {
    let all: BTreeSet<String> = std::fs::read_dir(recordings())
        .expect("the recordings")
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let named: BTreeSet<String> = AGREED.iter().copied().map(str::to_owned).collect();
    assert_eq!(all, named);
}

/// Goes through a case; gives what differs.
async fn run(name: &str) -> Vec<String> {
    run_in(&recordings().join(name), ON_PURPOSE).await
}

/// Goes through the case in a folder; gives what differs, but what does on purpose.
pub async fn run_in(source: &Path, on_purpose: &[(&str, &str, &str)]) -> Vec<String> {
    let name = source.file_name().expect("a name").to_string_lossy();
    let text = std::fs::read_to_string(source.join("case.json")).expect("the case");
    let case: Json = serde_json::from_str(&text).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = Run {
        folder: folder.path().to_path_buf(),
        names: BTreeMap::new(),
        differences: Vec::new(),
        step: 0,
        workspace: "default".to_owned(),
    };
    for (i, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
        run.step = i + 1;
        run.go(step, &source.join(format!("step{}", i + 1))).await;
    }
    let purposes: Vec<&str> = on_purpose
        .iter()
        .filter(|(case, ..)| *case == name)
        .map(|(_, start, _)| *start)
        .collect();
    for start in &purposes {
        if !run.differences.iter().any(|d| d.starts_with(start)) {
            let line = format!("{start}: was expected to differ, but agrees");
            run.differences.push(line);
        }
    }
    run.differences
        .retain(|d| d.ends_with("but agrees") || !purposes.iter().any(|p| d.starts_with(p)));
    run.differences
}

struct Run {
    folder: PathBuf,
    /// Ids of ours, and the names that the recording has for them.
    names: BTreeMap<String, String>,
    differences: Vec<String>,
    step: usize,
    workspace: String,
}

impl Run {
    fn differ(&mut self, what: &str, expected: &Json, actual: Json) {
        let mut actual = actual;
        placed_as(expected, &mut actual);
        renamed(&mut actual, &self.names);
        let path = format!("step {}: {what}", self.step);
        let (expected, actual) = (ordered(expected.clone()), ordered(actual));
        difference(&path, &expected, &actual, &mut self.differences);
    }

    async fn go(&mut self, step: &Json, files: &Path) {
        replace_files(&self.folder, files);
        for before in step["before"].as_array().into_iter().flatten() {
            self.command(before).await;
        }
        self.validate(&step["validate"]).await;
        let options = match options(&step["plan_args"]) {
            Ok(options) => options,
            Err(not_served) => {
                self.differences.push(not_served);
                return;
            }
        };
        let (session, recorder, mut said) = self.session(step);
        let outcome = formwork_ops::plan(&session, &options).await;
        said.append(outcome.diagnostics.clone());
        let facts = planned(&outcome, &said, recorder.take(), options.mode);
        if let (Some(file), Some(text)) = (&options.generate, &outcome.generated) {
            std::fs::write(self.folder.join(file), text).expect("written");
        }
        self.planned("plan", &step["plan"], facts);
        if step.get("apply").is_none() {
            release(outcome, &session).await;
            return;
        }
        let schemas = outcome.providers.all_schemas();
        let Some(plan) = release(outcome, &session).await else {
            self.differences
                .push(format!("step {}: no plan", self.step));
            return;
        };
        recorder.take();
        let applied = formwork_ops::apply(&session, plan, None).await;
        self.adopt_names(&step["state"]);
        let mut events = recorder.take();
        if applied.complete {
            // as the command tells it, once everything else is said
            events.push(Event::ApplySummary(applied.summary));
        }
        let mut facts = facts_of(
            &applied.diagnostics,
            &applied.sources,
            &events,
            options.mode,
        );
        facts["exit"] = json!(i32::from(!applied.complete));
        if applied.complete {
            let outputs = formwork_render::outputs_json(applied.state.outputs());
            facts["outputs"] = serde_json::from_str(&outputs).expect("JSON");
        }
        let mut expected = step["apply"].clone();
        // What was said of the plan is not said again.
        let said_already = step["plan"]["diagnostics"].as_array();
        for side in [&mut expected, &mut facts] {
            if let Some(Json::Array(said)) = side.get_mut("diagnostics") {
                said.retain(|d| !said_already.is_some_and(|s| s.contains(d)));
                if said.is_empty() {
                    side.as_object_mut()
                        .expect("an object")
                        .remove("diagnostics");
                }
            }
        }
        // A saved plan is told again by them, and not by us.
        if let Some(Json::Array(events)) = expected.get_mut("events") {
            events.retain(|e| !e.as_str().is_some_and(|e| e.starts_with("planned_change")));
            if events.is_empty() {
                expected
                    .as_object_mut()
                    .expect("an object")
                    .remove("events");
            }
        }
        without_secrets(&mut expected, &mut facts);
        self.differ("apply", &expected, facts);
        self.state(step, &schemas);

        let (session, recorder, mut said) = self.session(step);
        let options = match options.mode {
            PlanMode::Destroy => PlanOptions::default(),
            _ => options,
        };
        let outcome = formwork_ops::plan(&session, &options).await;
        said.append(outcome.diagnostics.clone());
        let mut facts = planned(&outcome, &said, recorder.take(), options.mode);
        release(outcome, &session).await;
        let map = facts.as_object_mut().expect("an object");
        map.remove("json");
        map.remove("summary_line");
        self.planned("second plan", &step["second_plan"], facts);
    }

    fn planned(&mut self, what: &str, expected: &Json, facts: Json) {
        let mut facts = facts;
        let mut expected = expected.clone();
        let errored = expected["exit"] == 1;
        // What they tell of outputs in the stream is told by our `output_changes`.
        let mut left_out = vec!["outputs"];
        if errored {
            // How far they get before an error depends on which of their stages finds it.
            left_out.extend(["events", "summary_line", "counts"]);
            left_out.extend(["json"].iter().filter(|k| expected.get(k).is_none()));
        }
        for side in [&mut expected, &mut facts] {
            let map = side.as_object_mut().expect("an object");
            map.retain(|k, _| !left_out.contains(&k.as_str()));
            if let Some(Json::Array(relevant)) = map
                .get_mut("json")
                .and_then(|j| j.get_mut("relevant_attributes"))
            {
                // theirs are by instance in some places and by block in others
                for r in relevant {
                    let address = r["resource"].as_str().expect("an address");
                    r["resource"] = json!(without_keys(address));
                }
            }
        }
        self.differ(what, &expected, facts);
    }

    async fn validate(&mut self, expected: &Json) {
        let session = session(&self.folder, Vec::new(), 1);
        let checked = formwork_ops::validate(&session, None).await;
        let mut facts = facts_of(
            &checked.diagnostics,
            &checked.sources,
            &[],
            PlanMode::Normal,
        );
        facts["exit"] = json!(i32::from(checked.diagnostics.has_errors()));
        self.differ("validate", expected, facts);
    }

    /// The state, what is listed of it and what is shown of it.
    fn state(&mut self, step: &Json, schemas: &Schemas) {
        let bytes = std::fs::read(self.folder.join("terraform.tfstate")).ok();
        let (snapshot, state) = match &bytes {
            Some(bytes) => (
                formwork_state::v4::read(bytes, "terraform.tfstate").0,
                serde_json::from_slice(bytes).expect("JSON"),
            ),
            None => (
                None,
                json!({"check_results": null, "outputs": {}, "resources": []}),
            ),
        };
        let expected = meaning_of_state(step["state"].clone());
        self.differ("state", &expected, meaning_of_state(state));
        let list = snapshot
            .as_ref()
            .map(|s| formwork_render::state_list(&s.state))
            .unwrap_or_default();
        let list: Vec<&str> = list.lines().collect();
        self.differ("state list", &step["state_list"], json!(list));
        let shown = formwork_render::state_json(snapshot.as_ref(), schemas);
        let mut shown: Json = serde_json::from_str(&shown).expect("JSON");
        let map = shown.as_object_mut().expect("an object");
        for key in ["format_version", "terraform_version", "formwork"] {
            map.remove(key);
        }
        let mut expected = step["show_state"].clone();
        for side in [&mut expected, &mut shown] {
            // near ones here, near and far ones there; compared above, as what they mean
            remove_everywhere(side, "depends_on");
        }
        self.differ("show", &expected, shown);
    }

    /// Takes the recording's names for ids of objects at the same address.
    fn adopt_names(&mut self, expected: &Json) {
        let Ok(bytes) = std::fs::read(self.folder.join("terraform.tfstate")) else {
            return;
        };
        let ours: Json = serde_json::from_slice(&bytes).expect("JSON");
        let theirs = ids(expected);
        for (address, id) in ids(&ours) {
            if let Some(name) = theirs.get(&address).filter(|n| n.starts_with("<id:")) {
                let taken = self.names.values().any(|n| n == name);
                if !taken || self.names.get(&id) == Some(name) {
                    self.names.insert(id, name.clone());
                }
            }
        }
    }

    fn session(&self, step: &Json) -> (Session, Arc<Recorder>, Diagnostics) {
        let mut sources = SourceMap::new();
        let (layers, said) = layers(&self.folder, step, &mut sources);
        let seed = u64::try_from(self.step).expect("small") * 1000;
        let mut session = session(&self.folder, layers, seed);
        let recorder = Arc::new(Recorder::default());
        session.sources = sources;
        session.events = recorder.clone();
        session.settings.workspace.clone_from(&self.workspace);
        (session, recorder, said)
    }

    /// What was done by other commands before a step.
    async fn command(&mut self, command: &Json) {
        let words: Vec<&str> = command["command"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .filter(|w| !w.starts_with('-'))
            .collect();
        let address = |text: &str| StateAddress::parse(text).expect("an address");
        let edit = match words.as_slice() {
            ["taint", one] => StateEdit::Taint(one.parse().expect("an address")),
            ["untaint", one] => StateEdit::Untaint(one.parse().expect("an address")),
            ["state", "mv", from, to] => StateEdit::Move {
                from: address(from),
                to: address(to),
            },
            ["state", "rm", gone @ ..] => {
                StateEdit::Remove(gone.iter().map(|a| address(a)).collect())
            }
            ["import", to, id] => {
                let to = to.parse().expect("an address");
                let session = session(&self.folder, Vec::new(), 1);
                let imported = formwork_ops::import_object(&session, &to, id).await;
                assert!(imported.is_ok(), "step {}: {words:?}", self.step);
                return;
            }
            // they look, which the end-to-end tests do
            ["state", "list", ..] | ["workspace", "show" | "list"] => return,
            ["workspace", "new", name] => {
                self.workspace = (*name).to_owned();
                return;
            }
            _ => {
                self.differences
                    .push(format!("step {}: {words:?} is not served", self.step));
                return;
            }
        };
        let session = session(&self.folder, Vec::new(), 1);
        let failed = edit_state(&session, &edit).await.is_err();
        if failed != (command["exit"] != 0) {
            self.differences
                .push(format!("step {}: {words:?} failed: {failed}", self.step));
        }
    }
}

/// Where theirs do not say where, ours may.
fn placed_as(expected: &Json, actual: &mut Json) {
    let Some(theirs) = expected["diagnostics"].as_array() else {
        return;
    };
    for d in actual["diagnostics"].as_array_mut().into_iter().flatten() {
        let text = d.as_str().unwrap_or_default().to_owned();
        if let Some((start, _)) = text.rsplit_once(' ')
            && !theirs.contains(d)
            && theirs.contains(&json!(start))
        {
            *d = json!(start);
        }
    }
}

fn remove_everywhere(value: &mut Json, key: &str) {
    match value {
        Json::Object(map) => {
            map.remove(key);
            map.values_mut().for_each(|v| remove_everywhere(v, key));
        }
        Json::Array(items) => items.iter_mut().for_each(|v| remove_everywhere(v, key)),
        _ => {}
    }
}

/// The event stream shows no secret output; what is compared is what both show.
fn without_secrets(expected: &mut Json, facts: &mut Json) {
    for side in [expected, facts] {
        if let Some(Json::Object(outputs)) = side.get_mut("outputs") {
            for o in outputs.values_mut() {
                if o["sensitive"] == json!(true) {
                    o.as_object_mut().expect("an object").remove("value");
                }
            }
        }
    }
}

async fn release(outcome: PlanOutcome, session: &Session) -> Option<formwork_plan::Plan> {
    if let Some(held) = outcome.held {
        let _ = held.release(session).await;
    }
    outcome.plan
}

/// What a plan is, in the words of the recordings.
fn planned(outcome: &PlanOutcome, said: &Diagnostics, events: Vec<Event>, mode: PlanMode) -> Json {
    let mut facts = facts_of(said, outcome.sources(), &events, mode);
    let plan = outcome.plan.as_ref();
    let errored = said.has_errors();
    let exit = match plan {
        _ if errored => 1,
        Some(plan) if plan.applyable => 2,
        _ => 0,
    };
    facts["exit"] = json!(exit);
    let Some(plan) = plan else {
        return facts;
    };
    let schemas = outcome.providers.all_schemas();
    let shown = formwork_render::plan_json(plan, Some(&outcome.loaded.configuration), &schemas);
    let mut shown: Json = serde_json::from_str(&shown).expect("JSON");
    let map = shown.as_object_mut().expect("an object");
    for key in [
        "terraform_version",
        "timestamp",
        "format_version",
        "prior_state",
        "formwork",
    ] {
        map.remove(key);
    }
    facts["json"] = shown;
    let shown = formwork_render::plan_text(plan, &schemas, formwork_render::Style::PLAIN);
    let line = shown.lines().find(|l| {
        [
            "Plan: ",
            "No changes",
            "You can apply this plan",
            "Changes to Outputs:",
        ]
        .iter()
        .any(|start| l.starts_with(start))
    });
    facts["summary_line"] = json!(line.unwrap_or_default());
    facts
}

/// Diagnostics, events and counts, in the words of the recordings.
fn facts_of(
    diagnostics: &Diagnostics,
    sources: &SourceMap,
    events: &[Event],
    mode: PlanMode,
) -> Json {
    let mut facts = json!({});
    let mut said: Vec<String> = diagnostics
        .iter()
        .map(|d| {
            let word = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let place = d.subject.map(|s| sources.place(s)).unwrap_or_default();
            let place = match place.rsplit_once(':') {
                Some((line, _)) => format!(" {line}"),
                None => String::new(),
            };
            format!("{word}: {}{place}", d.summary)
        })
        .collect();
    said.sort();
    said.dedup();
    if !said.is_empty() {
        facts["diagnostics"] = json!(said);
    }
    let stream = EventStream {
        product: "Formwork",
        tool_version: "0",
        language_version: "0",
        by_destroy: mode == PlanMode::Destroy,
        sources,
        signatures: &(),
    };
    let mut lines = Vec::new();
    for event in events {
        let Some(line) = stream.event("", event) else {
            continue;
        };
        let line: Json = serde_json::from_str(&line).expect("JSON");
        lines.extend(event_line(&line));
        if line["type"] == "change_summary" {
            let mut counts = line["changes"].clone();
            let map = counts.as_object_mut().expect("an object");
            map.retain(|k, _| matches!(k.as_str(), "add" | "change" | "import" | "remove"));
            facts["counts"] = counts;
        }
    }
    lines.sort();
    if !lines.is_empty() {
        facts["events"] = json!(lines);
    }
    facts
}

fn event_line(event: &Json) -> Option<String> {
    let text = |v: &Json| v.as_str().map(str::to_owned);
    let kind = text(&event["type"])?;
    if let Some(change) = event.get("change") {
        let mut line = format!(
            "{kind} {} {}",
            text(&change["action"])?,
            text(&change["resource"]["addr"])?
        );
        if let Some(from) = text(&change["previous_resource"]["addr"]) {
            line.push_str(&format!(" from {from}"));
        }
        if let Some(reason) = text(&change["reason"]) {
            line.push_str(&format!(" because {reason}"));
        }
        return Some(line);
    }
    let hook = event.get("hook")?;
    let action = text(&hook["action"]).map(|a| a + " ").unwrap_or_default();
    Some(format!(
        "{kind} {action}{}",
        text(&hook["resource"]["addr"])?
    ))
}

/// Address of each object with an id.
fn ids(state: &Json) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for r in state["resources"].as_array().into_iter().flatten() {
        for i in r["instances"].as_array().into_iter().flatten() {
            if let Some(id) = i["attributes"]["id"].as_str() {
                let address = format!(
                    "{} {} {} {} {}",
                    r["module"], r["type"], r["name"], i["index_key"], i["deposed"]
                );
                found.insert(address, id.to_owned());
            }
        }
    }
    found
}

fn options(arguments: &Json) -> Result<PlanOptions, String> {
    let mut options = PlanOptions::default();
    for a in arguments.as_array().into_iter().flatten() {
        match a.as_str().unwrap_or_default() {
            "-destroy" => options.mode = PlanMode::Destroy,
            "-refresh-only" => options.mode = PlanMode::RefreshOnly,
            a if let Some(file) = a.strip_prefix("-generate-config-out=") => {
                options.generate = Some(file.to_owned());
            }
            a if let Some(target) = a.strip_prefix("-target=") => {
                let target = target.parse().expect("a target");
                options.limits.targets.push(target);
            }
            _ => {}
        }
    }
    Ok(options)
}

/// The values of root variables, in the order in which the command line takes them.
fn layers(folder: &Path, step: &Json, sources: &mut SourceMap) -> (Vec<InputLayer>, Diagnostics) {
    let mut said = Diagnostics::new();
    let mut layers = vec![InputLayer {
        origin: InputOrigin::Environment,
        values: step["env"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(k, v)| {
                let name = k.strip_prefix("TF_VAR_")?;
                Some((Arc::from(name), Given::Text(v.as_str()?.to_owned())))
            })
            .collect(),
    }];
    let mut read = |name: &str, said: &mut Diagnostics| {
        let bytes = std::fs::read(folder.join(name)).expect("a file of values");
        let values = said.take(parse_tfvars(name, &bytes, sources));
        InputLayer {
            origin: InputOrigin::File(name.to_owned()),
            values: values
                .into_iter()
                .map(|(k, v)| (k, Given::Value(v)))
                .collect(),
        }
    };
    let mut present: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder")
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .collect();
    present.sort();
    let automatic = |n: &&String| n.ends_with(".auto.tfvars") || n.ends_with(".auto.tfvars.json");
    let usual = ["terraform.tfvars", "terraform.tfvars.json"];
    for name in usual {
        if present.iter().any(|n| n == name) {
            layers.push(read(name, &mut said));
        }
    }
    for name in present.iter().filter(automatic) {
        layers.push(read(name, &mut said));
    }
    let arguments: Vec<&str> = step["plan_args"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if let Some(file) = argument.strip_prefix("-var-file=") {
            layers.push(read(file, &mut said));
        } else if *argument == "-var" {
            let (name, value) = rest
                .next()
                .and_then(|v| v.split_once('='))
                .expect("name=value");
            layers.push(InputLayer {
                origin: InputOrigin::CommandLine,
                values: [(Arc::from(name), Given::Text(value.to_owned()))].into(),
            });
        }
    }
    (layers, said)
}

/// The folder holds the files of the step, and the state.
fn replace_files(folder: &Path, source: &Path) {
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        if name.is_some_and(|n| n.starts_with("terraform.tfstate")) {
            continue;
        }
        if path.is_dir() {
            std::fs::remove_dir_all(&path).expect("removed");
        } else {
            std::fs::remove_file(&path).expect("removed");
        }
    }
    copy(source, folder);
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            std::fs::create_dir(&target).expect("made");
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}
