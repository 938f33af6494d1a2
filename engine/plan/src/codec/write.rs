//! A plan as index and content.

use super::blobs::BlobWriter;
use super::records::{
    AlternativeRecord, Blob, ChangeRecord, CheckRecord, DeferredRecord, FilesRecord, Index,
    KeysRecord, OperationRecord, OriginRecord, OutputRecord, PathRecord, PriorRecord,
    ProviderRecord, StepRecord, WorkRecord,
};
use super::types::TypeWriter;
use super::values::{self, Refused, Tables};
use crate::file::PlanEncodeError;
use crate::{
    CheckResult, OperationKind, OutputChange, Plan, PlannedKeys, PlannedVariable,
    ResourceInstanceChange,
};
use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance};
use formwork_values::{Kind, Origin, Path, Step, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;

/// Index and content, not yet deflated.
pub(crate) struct Written {
    pub index: Vec<u8>,
    pub content: Vec<u8>,
}

/// Writes a plan.
pub(crate) fn write(plan: &Plan) -> Result<Written, PlanEncodeError> {
    // Taken apart by name: a field that is added to the plan and forgotten here does not compile.
    let Plan {
        mode,
        targets,
        sources,
        folders,
        files,
        variables,
        providers,
        lock_file,
        prior,
        tool_version,
        language_version,
        timestamp,
        complete,
        applyable,
        errored,
        changes,
        not_read,
        deferred,
        deferred_outputs,
        drift,
        outputs,
        checks,
        graph,
        resource_keys,
        call_keys,
        alternatives,
    } = plan;
    // Two values for each change, few of them longer than this.
    let content = prior.refreshed.len()
        + sources.iter().map(|s| s.bytes.len()).sum::<usize>()
        + (changes.len() + drift.len()) * 1024;
    let about = (changes.len() + graph.nodes().len()) * 512 + 4096;
    let mut store = Store {
        blobs: BlobWriter::with_capacity(content, changes.len() * 2 + sources.len()),
        ..Store::default()
    };
    let sources = sources
        .iter()
        .map(|s| (s.name.clone(), store.blobs.add(&s.bytes)))
        .collect();
    let folders = folders
        .iter()
        .map(|f| (f.module.unkeyed_instance().to_string(), f.folder.clone()))
        .collect();
    let files = FilesRecord {
        contents: files
            .contents
            .iter()
            .map(|(name, bytes)| (name.clone(), store.blobs.add(bytes)))
            .collect(),
        exists: files.exists.clone(),
        listings: files.listings.clone(),
    };
    let mut variable_records = BTreeMap::new();
    for (name, variable) in variables {
        let value = match variable {
            PlannedVariable::Ephemeral => None,
            PlannedVariable::Value(value) => {
                Some(store.value(value, || format!("variable {name}"))?)
            }
        };
        variable_records.insert(name.clone(), value);
    }
    let providers = providers
        .iter()
        .map(|p| ProviderRecord {
            config: store.providers.add(&p.config),
            version: p.version.clone(),
            schema_hash: p.schema_hash.clone(),
        })
        .collect();
    let lock_file = lock_file.as_ref().map(|b| store.blobs.add(b));
    let prior = PriorRecord {
        lineage: prior.lineage.clone(),
        serial: prior.serial,
        cloud: prior.cloud.clone(),
        refreshed: store.blobs.add(&prior.refreshed),
        hash: prior.hash.clone(),
    };
    let changes = store.changes(changes)?;
    let mut deferred_records = Vec::with_capacity(deferred.len());
    for d in deferred {
        deferred_records.push(DeferredRecord {
            address: d.address.clone(),
            module: d.module.clone(),
            key_unknown: d.key_unknown,
            reason: d.reason.word().to_owned(),
            waits_for: d.waits_for.clone(),
            change: store.change(&d.change)?,
        });
    }
    let drift = store.changes(drift)?;
    let outputs = outputs
        .iter()
        .map(|o| store.output(o))
        .collect::<Result<_, _>>()?;
    let operations = graph
        .nodes()
        .iter()
        .map(|n| OperationRecord {
            work: store.work(&n.kind),
            change: n.change,
        })
        .collect();
    let resource_keys = resource_keys
        .iter()
        .map(|(r, k)| (store.resources.add(r), keys(k)))
        .collect();
    let call_keys = call_keys
        .iter()
        .map(|((module, name), k)| (module.to_string(), name.to_string(), keys(k)))
        .collect();
    let mut alternative_records = Vec::new();
    for alternative in alternatives {
        let mut pinned = BTreeMap::new();
        for (name, value) in &alternative.pinned {
            let blob = store.value(value, || format!("pinned variable {name}"))?;
            pinned.insert(name.clone(), blob);
        }
        alternative_records.push(AlternativeRecord {
            pinned,
            envelope: store.changes(&alternative.envelope)?,
        });
    }
    let index = Index {
        mode: mode.word().to_owned(),
        targets: targets.clone(),
        sources,
        folders,
        files,
        variables: variable_records,
        providers,
        lock_file,
        prior,
        tool_version: tool_version.clone(),
        language_version: language_version.clone(),
        timestamp: timestamp.clone(),
        complete: *complete,
        applyable: *applyable,
        errored: *errored,
        changes,
        not_read: *not_read,
        deferred: deferred_records,
        deferred_outputs: deferred_outputs.clone(),
        drift,
        outputs,
        checks: checks.iter().map(check).collect(),
        operations,
        orders: graph.edges().iter().map(|(a, b)| (a.0, b.0)).collect(),
        resource_keys,
        call_keys,
        alternatives: alternative_records,
        instances: store.instances.texts,
        resources: store.resources.texts,
        provider_configs: store.providers.texts,
        types: store.types.table,
        origins: store.origins,
        blobs: store.blobs.lengths,
    };
    let mut written = Vec::with_capacity(about);
    // records of text and numbers always become JSON
    let _ = serde_json::to_writer(&mut written, &index);
    Ok(Written {
        index: written,
        content: store.blobs.content,
    })
}

/// Addresses of one kind, each as text once.
struct Texts<T> {
    texts: Vec<String>,
    known: FxHashMap<T, u32>,
}

impl<T> Default for Texts<T> {
    fn default() -> Self {
        Self {
            texts: Vec::new(),
            known: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash + Display> Texts<T> {
    fn add(&mut self, address: &T) -> u32 {
        if let Some(at) = self.known.get(address) {
            return *at;
        }
        let at = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(address.to_string());
        self.known.insert(address.clone(), at);
        at
    }
}

/// The tables while they grow.
#[derive(Default)]
struct Store {
    blobs: BlobWriter,
    types: TypeWriter,
    instances: Texts<AbsResourceInstance>,
    resources: Texts<AbsResource>,
    providers: Texts<AbsProviderConfig>,
    origins: Vec<OriginRecord>,
    /// By what is written, which tells apart what `==` of values does not.
    known_origins: FxHashMap<OriginRecord, u32>,
    /// The object that the unknown written last comes from: those of one come one after another.
    last_origin: Option<(Arc<AbsResourceInstance>, u32)>,
    /// What a value is written into before it is known whether it is new.
    scratch: Vec<u8>,
}

impl Tables for Store {
    fn types(&mut self) -> &mut TypeWriter {
        &mut self.types
    }

    /// An origin comes after those that its own path mentions.
    fn origin(&mut self, origin: &Origin) -> Result<u32, Refused> {
        let address = match &self.last_origin {
            Some((last, at)) if Arc::ptr_eq(last, &origin.address) => *at,
            _ => {
                let at = self.instances.add(&origin.address);
                self.last_origin = Some((origin.address.clone(), at));
                at
            }
        };
        let record = OriginRecord {
            address,
            path: self.path(&origin.path)?,
        };
        if let Some(at) = self.known_origins.get(&record) {
            return Ok(*at);
        }
        let at = u32::try_from(self.origins.len()).unwrap_or(u32::MAX);
        self.origins.push(record.clone());
        self.known_origins.insert(record, at);
        Ok(at)
    }
}

impl Store {
    fn blob(&mut self, value: &Value) -> Result<Blob, Refused> {
        // A path within may hold a value of its own, which then gets another buffer.
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        let written = values::write(&mut bytes, value, self);
        let blob = written.map(|()| self.blobs.add(&bytes));
        self.scratch = bytes;
        blob
    }

    fn path(&mut self, path: &Path) -> Result<PathRecord, Refused> {
        let mut record = PathRecord::with_capacity(path.len());
        for step in path.steps() {
            record.push(match step {
                Step::Attribute(name) => StepRecord::Attribute(name.to_string()),
                Step::Index(key) => match key.kind() {
                    Kind::String(key) => StepRecord::Key(key.to_string()),
                    Kind::Number(n) => match n.to_i64() {
                        Some(at) if at != 0 || !n.is_negative() => StepRecord::Position(at),
                        _ => StepRecord::Value(self.blob(key)?),
                    },
                    _ => StepRecord::Value(self.blob(key)?),
                },
            });
        }
        Ok(record)
    }

    fn value(
        &mut self,
        value: &Value,
        place: impl FnOnce() -> String,
    ) -> Result<Blob, PlanEncodeError> {
        self.blob(value).map_err(|e| refusal(&e, value, place()))
    }

    fn changes(
        &mut self,
        changes: &[ResourceInstanceChange],
    ) -> Result<Vec<ChangeRecord>, PlanEncodeError> {
        changes.iter().map(|c| self.change(c)).collect()
    }

    fn change(&mut self, change: &ResourceInstanceChange) -> Result<ChangeRecord, PlanEncodeError> {
        let place = || change.display_address();
        let mut replace = Vec::with_capacity(change.replace_paths.len());
        for path in &change.replace_paths {
            let record = self
                .path(path)
                .map_err(|e| refusal(&e, &Value::NULL, place()))?;
            replace.push(record);
        }
        let before = self.value(&change.before, place)?;
        let after = match change.after.is_same_as(&change.before) {
            true => before,
            false => self.value(&change.after, place)?,
        };
        Ok(ChangeRecord {
            address: self.instances.add(&change.address),
            previous: change
                .previous_address
                .as_ref()
                .map(|a| self.instances.add(a)),
            deposed: change.deposed.as_ref().map(ToString::to_string),
            provider: self.providers.add(&change.provider),
            action: change.action.word().to_owned(),
            reason: change.reason.map(|r| r.word().to_owned()),
            before,
            after,
            replace,
            private: self.blobs.add(&change.planned_private),
            schema_version: change.schema_version,
            dependencies: change
                .dependencies
                .iter()
                .map(|d| self.resources.add(d))
                .collect(),
            create_before_destroy: change.create_before_destroy,
            import_id: change.importing.as_ref().map(|i| i.id.clone()),
            import_identity: change.importing.as_ref().and_then(|i| i.identity.clone()),
            identity_before: change.identity.before.as_deref().map(str::to_owned),
            identity_after: change.identity.after.as_deref().map(str::to_owned),
            generated: change.importing.as_ref().and_then(|i| i.generated.clone()),
            legacy: change.legacy_type_system,
        })
    }

    fn output(&mut self, output: &OutputChange) -> Result<OutputRecord, PlanEncodeError> {
        let place = || format!("output {}", output.name);
        let mut side =
            |value: &Option<Value>| value.as_ref().map(|v| self.value(v, place)).transpose();
        Ok(OutputRecord {
            name: output.name.clone(),
            before: side(&output.before)?,
            after: side(&output.after)?,
            sensitive: output.sensitive,
        })
    }

    fn work(&mut self, kind: &OperationKind) -> WorkRecord {
        match kind {
            OperationKind::Join(name) => WorkRecord::Join(name.clone()),
            OperationKind::ConfigureProvider(p) => WorkRecord::Configure(self.providers.add(p)),
            OperationKind::ReadData(a) => WorkRecord::Read(self.instances.add(a)),
            OperationKind::Make(a) => WorkRecord::Make(self.instances.add(a)),
            OperationKind::Destroy(a) => WorkRecord::Destroy(self.instances.add(a)),
            OperationKind::DestroyDeposed(a, key) => {
                WorkRecord::DestroyDeposed(self.instances.add(a), key.to_string())
            }
            OperationKind::Forget(a) => WorkRecord::Forget(self.instances.add(a)),
            OperationKind::OpenEphemeral(a) => WorkRecord::Open(self.instances.add(a)),
            OperationKind::CloseEphemeral(a) => WorkRecord::Close(self.instances.add(a)),
            OperationKind::Check(c) => WorkRecord::Check(c.clone()),
            OperationKind::Output(o) => WorkRecord::Output(o.clone()),
        }
    }
}

fn check(result: &CheckResult) -> CheckRecord {
    CheckRecord {
        kind: result.kind.word().to_owned(),
        address: result.address.clone(),
        status: result.status.word().to_owned(),
        objects: result
            .objects
            .iter()
            .map(|o| {
                let status = o.status.word().to_owned();
                (o.address.clone(), status, o.failures.clone())
            })
            .collect(),
    }
}

fn keys(keys: &PlannedKeys) -> KeysRecord {
    match keys {
        PlannedKeys::Single => KeysRecord::Single,
        PlannedKeys::Count(n) => KeysRecord::Count(*n),
        PlannedKeys::Disabled => KeysRecord::Disabled,
        PlannedKeys::Keys(keys) => KeysRecord::Keys(keys.iter().map(ToString::to_string).collect()),
    }
}

/// Says where in a value the thing lies that cannot be written.
fn refusal(refused: &Refused, value: &Value, place: String) -> PlanEncodeError {
    let mut found = None;
    value.walk(&mut |path, part| {
        let here = match refused {
            Refused::Ephemeral => part.marks().is_ephemeral(),
            Refused::HugeNumber => part
                .unmarked()
                .as_number()
                .is_some_and(|n| n.to_i64().is_none()),
        };
        if here && found.is_none() {
            found = Some(path.clone());
        }
        found.is_none()
    });
    PlanEncodeError {
        place,
        path: found.unwrap_or_default(),
        reason: match refused {
            Refused::Ephemeral => "the value is ephemeral, and those are never stored",
            Refused::HugeNumber => "the number has more than a million digits",
        },
    }
}
