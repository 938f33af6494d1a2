//! What must be true: of the cloud, of the state, of the request log, and between them.

use crate::lab::Lab;
use formwork_journal::{decode, replay};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Types whose instances are a part of another object, a switch of one that was there before, or in
/// the state alone.
const PARTS: [&str; 5] = [
    "google_compute_router_nat",
    "google_project_iam_member",
    "google_project_service",
    "google_storage_bucket_iam_member",
    "terraform_data",
];

/// What was there at one moment.
pub struct Cloud {
    /// Objects that are neither the scenario's nor come and go with another one: self link, and by
    /// what it can be told from a namesake made later.
    pub objects: BTreeMap<String, String>,
}

impl Cloud {
    /// The cloud as `mock list` shows it.
    pub fn of(lab: &Lab) -> Self {
        let told = |listed: Value| {
            let own = &listed["object"];
            let birth = ["id", "uniqueId", "generation", "createTime"]
                .map(|key| own[key].as_str().unwrap_or_default())
                .join("/");
            let link = listed["selfLink"].as_str().expect("a self link").to_owned();
            (link, birth)
        };
        Self {
            // the bucket that the state is kept in is nobody's object
            objects: lab
                .made()
                .into_iter()
                .map(told)
                .filter(|(link, _)| !link.contains("lab-states"))
                .collect(),
        }
    }
}

/// Instances of the state's managed resources: address, and the self link of the object, none for a
/// part of another. Tainted ones too.
pub fn state(lab: &Lab) -> BTreeMap<String, Option<String>> {
    let bytes = lab.state_bytes();
    let mut found = BTreeMap::new();
    if bytes.is_empty() {
        return found;
    }
    let state: Value = serde_json::from_slice(&bytes).expect("a state");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    for resource in state["resources"].as_array().into_iter().flatten() {
        if resource["mode"] != "managed" {
            continue;
        }
        let kind = resource["type"].as_str().expect("a type");
        let module = text(&resource["module"])
            .map(|m| m + ".")
            .unwrap_or_default();
        let name = resource["name"].as_str().expect("a name");
        for instance in resource["instances"].as_array().into_iter().flatten() {
            let key = match &instance["index_key"] {
                Value::Null => String::new(),
                key => format!("[{key}]"),
            };
            assert!(
                instance["deposed"].is_null(),
                "{kind}.{name}{key} has a deposed object"
            );
            let attributes = &instance["attributes"];
            let link = match PARTS.contains(&kind) {
                true => None,
                false => text(&attributes["self_link"]).or_else(|| text(&attributes["id"])),
            };
            found.insert(format!("{module}{kind}.{name}{key}"), link);
        }
    }
    found
}

/// How many objects of the state are tainted.
pub fn tainted(lab: &Lab) -> usize {
    String::from_utf8_lossy(&lab.state_bytes())
        .matches("\"tainted\"")
        .count()
}

/// What lies in the journal after a run: operations that were begun and did not end, by address.
pub fn pending(lab: &Lab) -> BTreeSet<String> {
    let (state, journal) = (lab.state_bytes(), lab.journal_bytes());
    if journal.is_empty() {
        return BTreeSet::new();
    }
    let journal = decode(&journal, "journal").expect("a journal that can be read");
    let snapshot = (!state.is_empty()).then(|| {
        let (snapshot, _) = formwork_state::v4::read(&state, "state");
        let snapshot = snapshot.expect("a snapshot");
        (snapshot, formwork_journal::SnapshotHash::of(&state))
    });
    let snapshot = snapshot.as_ref().map(|(s, hash)| (s, *hash));
    let replayed = replay(snapshot, journal.as_ref()).expect("a journal that can be replayed");
    replayed
        .pending
        .iter()
        .map(|operation| operation.begun.address.to_string())
        .collect()
}

/// Whether something in the log is an object of a state in a bucket, which is written again and again.
fn is_of_a_state(text: &Value) -> bool {
    text.as_str().is_some_and(|t| t.contains("lab-states"))
}

/// Committed requests that made the same object, those of a state in a bucket aside: target, and how
/// often, if more than once.
pub fn made_twice(log: &[Value]) -> BTreeMap<String, usize> {
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    for line in log.iter().filter(|line| line["committed"] == true) {
        let method = line["id"].as_str().unwrap_or_default();
        let makes = method.ends_with(".insert") || method.ends_with(".create");
        if makes && !is_of_a_state(&line["target"]) {
            let target = line["target"].as_str().expect("what was made").to_owned();
            *made.entry(target).or_default() += 1;
        }
    }
    made.retain(|_, times| *times > 1);
    made
}

/// Committed requests that deleted something, objects of a state in a bucket aside.
pub fn deleted(log: &[Value]) -> Vec<&Value> {
    let deletes = |line: &&Value| {
        line["committed"] == true
            && !is_of_a_state(&line["path"])
            && (line["method"] == "DELETE"
                || line["id"]
                    .as_str()
                    .is_some_and(|id| id.ends_with(".delete")))
    };
    log.iter().filter(deletes).collect()
}

/// That the cloud holds exactly what the state says, and nothing is open.
pub fn check_agreement(lab: &Lab, what: &str) -> (Cloud, BTreeMap<String, Option<String>>) {
    let (cloud, state) = (Cloud::of(lab), state(lab));
    let there: BTreeSet<&String> = cloud.objects.keys().collect();
    let remembered: BTreeSet<&String> = state.values().flatten().collect();
    let forgotten: Vec<_> = there.difference(&remembered).collect();
    let missing: Vec<_> = remembered.difference(&there).collect();
    assert!(
        forgotten.is_empty() && missing.is_empty(),
        "{what}: in the cloud and not in the state: {forgotten:#?}; in the state and not in the cloud: {missing:#?}"
    );
    assert_eq!(tainted(lab), 0, "{what}: nothing is tainted");
    let open = pending(lab);
    assert!(open.is_empty(), "{what}: still open: {open:?}");
    (cloud, state)
}
