//! Index and content as a plan.
//!
//! The bytes are those that were written (the container has seen to that), so what goes wrong here
//! is a fault of another build with the same format version; it is refused all the same.

use super::blobs::BlobReader;
use super::records::{
    AlternativeRecord, Blob, ChangeRecord, CheckRecord, Index, KeysRecord, OutputRecord,
    StepRecord, WorkRecord,
};
use super::{types, values};
use crate::{
    Action, ActionReason, Alternative, CheckKind, CheckObject, CheckResult, CheckStatus,
    DeferredChange, DeferredReason, ExecutionGraph, FilesRead, Identities, Importing, ModuleFolder,
    NodeId, OperationKind, OutputChange, Plan, PlanMode, PlannedKeys, PlannedProvider,
    PlannedVariable, Prior, ResourceInstanceChange, SourceText,
};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, ModuleInstance, Resource,
};
use formwork_values::{Origin, Path, Step, Type, Value};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;
use std::str::FromStr;
use std::sync::Arc;

type Read<T> = Result<T, String>;

/// Reads a plan; the error says what does not fit.
pub(crate) fn read(index: &[u8], content: &[u8]) -> Read<Plan> {
    let index: Index = serde_json::from_slice(index).map_err(|e| e.to_string())?;
    let blobs = BlobReader::new(content, &index.blobs)?;
    let mut shared = Shared::default();
    let mut store = Store {
        values: vec![None; blobs.len()],
        privates: vec![None; blobs.len()],
        blobs,
        types: types::read(&index.types)?,
        origins: Vec::with_capacity(index.origins.len()),
        instances: index
            .instances
            .iter()
            .map(|text| Ok(Arc::new(shared.instance(parsed(text)?))))
            .collect::<Read<_>>()?,
        resources: index
            .resources
            .iter()
            .map(|text| Ok(shared.resource(parsed(text)?)))
            .collect::<Read<_>>()?,
        providers: index
            .provider_configs
            .iter()
            .map(|text| parsed(text))
            .collect::<Read<_>>()?,
    };
    for record in &index.origins {
        let origin = Origin {
            address: at(&store.instances, record.address)?.clone(),
            path: store.path(&record.path)?,
        };
        store.origins.push(Arc::new(origin));
    }
    let mut graph = ExecutionGraph::default();
    for record in &index.operations {
        graph.add(store.work(&record.work)?, record.change);
    }
    for (before, after) in index.orders {
        let known = |n: u32| (n as usize) < graph.nodes().len();
        if !known(before) || !known(after) {
            return Err("an order names an operation that is not there".to_owned());
        }
        graph.order(NodeId(before), NodeId(after));
    }
    // No field is left to a default: one that is added to the plan and forgotten here does not compile.
    Ok(Plan {
        mode: PlanMode::from_word(&index.mode).ok_or("the mode is unknown")?,
        targets: index.targets,
        sources: all(index.sources, |(name, blob)| {
            let bytes = store.blobs.get(blob)?.into();
            Ok(SourceText { name, bytes })
        })?,
        folders: all(index.folders, |(module, folder)| {
            let module = parsed::<ModuleInstance>(&module)?.path();
            Ok(ModuleFolder { module, folder })
        })?,
        files: FilesRead {
            contents: all(index.files.contents, |(name, blob)| {
                Ok((name, store.blobs.get(blob)?.into()))
            })?,
            exists: index.files.exists,
            listings: index.files.listings,
        },
        variables: all(index.variables, |(name, blob)| {
            let variable = match blob {
                Some(blob) => PlannedVariable::Value(store.value(blob)?),
                None => PlannedVariable::Ephemeral,
            };
            Ok((name, variable))
        })?,
        providers: all(index.providers, |record| {
            Ok(PlannedProvider {
                config: at(&store.providers, record.config)?.clone(),
                version: record.version,
                schema_hash: record.schema_hash,
            })
        })?,
        lock_file: index
            .lock_file
            .map(|blob| Read::Ok(store.blobs.get(blob)?.into()))
            .transpose()?,
        prior: Prior {
            lineage: index.prior.lineage,
            serial: index.prior.serial,
            cloud: index.prior.cloud,
            refreshed: Arc::new(store.blobs.get(index.prior.refreshed)?.to_vec()),
            hash: index.prior.hash,
        },
        tool_version: index.tool_version,
        language_version: index.language_version,
        timestamp: index.timestamp,
        complete: index.complete,
        applyable: index.applyable,
        errored: index.errored,
        changes: store.changes(&index.changes)?,
        not_read: index.not_read,
        deferred: all(index.deferred, |record| {
            Ok(DeferredChange {
                address: record.address,
                module: record.module,
                key_unknown: record.key_unknown,
                reason: DeferredReason::from_word(&record.reason)
                    .ok_or("a reason to defer is unknown")?,
                waits_for: record.waits_for,
                change: store
                    .changes(std::slice::from_ref(&record.change))?
                    .pop()
                    .ok_or("a deferred change is missing")?,
            })
        })?,
        deferred_outputs: index.deferred_outputs,
        drift: store.changes(&index.drift)?,
        outputs: all(index.outputs, |record| store.output(record))?,
        checks: all(index.checks, check)?,
        graph,
        resource_keys: all(index.resource_keys, |(resource, record)| {
            Ok((at(&store.resources, resource)?.clone(), keys(record)))
        })?,
        call_keys: all(index.call_keys, |(module, name, record)| {
            Ok(((parsed(&module)?, Arc::from(name)), keys(record)))
        })?,
        alternatives: all(index.alternatives, |record| store.alternative(record))?,
    })
}

/// Every record read, or what is wrong with the first that cannot be.
fn all<R, T, C: FromIterator<T>>(
    records: impl IntoIterator<Item = R>,
    read: impl FnMut(R) -> Read<T>,
) -> Read<C> {
    records.into_iter().map(read).collect()
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Read<T> {
    text.parse().map_err(|e: T::Err| e.to_string())
}

fn at<T>(table: &[T], at: u32) -> Read<&T> {
    table
        .get(at as usize)
        .ok_or_else(|| format!("there is no entry {at} in a table"))
}

/// Parts of addresses seen before, so that a thousand instances share one resource and module.
#[derive(Default)]
struct Shared {
    resources: HashSet<Resource>,
    modules: HashSet<ModuleInstance>,
}

impl Shared {
    fn instance(&mut self, address: AbsResourceInstance) -> AbsResourceInstance {
        AbsResourceInstance {
            module: same(&mut self.modules, address.module),
            resource: same(&mut self.resources, address.resource),
            key: address.key,
        }
    }

    fn resource(&mut self, address: AbsResource) -> AbsResource {
        AbsResource {
            module: same(&mut self.modules, address.module),
            resource: same(&mut self.resources, address.resource),
        }
    }
}

fn same<T: Clone + Eq + Hash>(known: &mut HashSet<T>, new: T) -> T {
    if let Some(old) = known.get(&new) {
        return old.clone();
    }
    known.insert(new.clone());
    new
}

struct Store<'a> {
    blobs: BlobReader<'a>,
    /// Values read so far, by blob: what is written once is held once.
    values: Vec<Option<Value>>,
    privates: Vec<Option<Arc<[u8]>>>,
    types: Vec<Type>,
    origins: Vec<Arc<Origin>>,
    instances: Vec<Arc<AbsResourceInstance>>,
    resources: Vec<AbsResource>,
    providers: Vec<AbsProviderConfig>,
}

impl Store<'_> {
    fn value(&mut self, blob: Blob) -> Read<Value> {
        if let Some(Some(known)) = self.values.get(blob as usize) {
            return Ok(known.clone());
        }
        let value = values::read(self.blobs.get(blob)?, &self.types, &self.origins)?;
        if let Some(place) = self.values.get_mut(blob as usize) {
            *place = Some(value.clone());
        }
        Ok(value)
    }

    fn private(&mut self, blob: Blob) -> Read<Arc<[u8]>> {
        if let Some(Some(known)) = self.privates.get(blob as usize) {
            return Ok(known.clone());
        }
        let bytes: Arc<[u8]> = self.blobs.get(blob)?.into();
        if let Some(place) = self.privates.get_mut(blob as usize) {
            *place = Some(bytes.clone());
        }
        Ok(bytes)
    }

    fn path(&mut self, record: &[StepRecord]) -> Read<Path> {
        let mut path = Path::ROOT;
        for step in record {
            path.push(match step {
                StepRecord::Attribute(name) => Step::Attribute(name.as_str().into()),
                StepRecord::Position(n) => Step::Index(Value::int(*n)),
                StepRecord::Key(key) => Step::Index(Value::string(key)),
                StepRecord::Value(blob) => Step::Index(self.value(*blob)?),
            });
        }
        Ok(path)
    }

    fn instance(&self, n: u32) -> Read<AbsResourceInstance> {
        Ok((**at(&self.instances, n)?).clone())
    }

    fn changes(&mut self, records: &[ChangeRecord]) -> Read<Vec<ResourceInstanceChange>> {
        records.iter().map(|r| self.change(r)).collect()
    }

    fn change(&mut self, record: &ChangeRecord) -> Read<ResourceInstanceChange> {
        Ok(ResourceInstanceChange {
            address: self.instance(record.address)?,
            previous_address: record.previous.map(|n| self.instance(n)).transpose()?,
            deposed: record.deposed.as_deref().map(parsed).transpose()?,
            provider: at(&self.providers, record.provider)?.clone(),
            action: Action::from_word(&record.action)
                .ok_or_else(|| format!("\"{}\" is no action", record.action))?,
            reason: match &record.reason {
                None => None,
                Some(word) => Some(
                    ActionReason::from_word(word)
                        .ok_or_else(|| format!("\"{word}\" is no reason"))?,
                ),
            },
            before: self.value(record.before)?,
            after: self.value(record.after)?,
            replace_paths: record
                .replace
                .iter()
                .map(|p| self.path(p))
                .collect::<Read<_>>()?,
            planned_private: self.private(record.private)?,
            schema_version: record.schema_version,
            dependencies: record
                .dependencies
                .iter()
                .map(|n| at(&self.resources, *n).cloned())
                .collect::<Read<_>>()?,
            create_before_destroy: record.create_before_destroy,
            importing: record.import_id.clone().map(|id| Importing {
                id,
                identity: record.import_identity.clone(),
                generated: record.generated.clone(),
            }),
            legacy_type_system: record.legacy,
            identity: Identities {
                before: record.identity_before.as_deref().map(Arc::from),
                after: record.identity_after.as_deref().map(Arc::from),
            },
        })
    }

    fn output(&mut self, record: OutputRecord) -> Read<OutputChange> {
        Ok(OutputChange {
            name: record.name,
            before: record.before.map(|b| self.value(b)).transpose()?,
            after: record.after.map(|b| self.value(b)).transpose()?,
            sensitive: record.sensitive,
        })
    }

    fn work(&self, record: &WorkRecord) -> Read<OperationKind> {
        Ok(match record {
            WorkRecord::Join(name) => OperationKind::Join(name.clone()),
            WorkRecord::Configure(n) => {
                OperationKind::ConfigureProvider(at(&self.providers, *n)?.clone())
            }
            WorkRecord::Read(n) => OperationKind::ReadData(self.instance(*n)?),
            WorkRecord::Make(n) => OperationKind::Make(self.instance(*n)?),
            WorkRecord::Destroy(n) => OperationKind::Destroy(self.instance(*n)?),
            WorkRecord::DestroyDeposed(n, key) => {
                OperationKind::DestroyDeposed(self.instance(*n)?, parsed(key)?)
            }
            WorkRecord::Forget(n) => OperationKind::Forget(self.instance(*n)?),
            WorkRecord::Open(n) => OperationKind::OpenEphemeral(self.instance(*n)?),
            WorkRecord::Close(n) => OperationKind::CloseEphemeral(self.instance(*n)?),
            WorkRecord::Check(text) => OperationKind::Check(text.clone()),
            WorkRecord::Output(name) => OperationKind::Output(name.clone()),
        })
    }

    fn alternative(&mut self, record: AlternativeRecord) -> Read<Alternative> {
        let mut pinned = BTreeMap::new();
        for (name, blob) in record.pinned {
            pinned.insert(name, self.value(blob)?);
        }
        Ok(Alternative {
            pinned,
            envelope: self.changes(&record.envelope)?,
        })
    }
}

fn check(record: CheckRecord) -> Read<CheckResult> {
    let status = |word: &str| {
        CheckStatus::from_word(word).ok_or_else(|| format!("\"{word}\" is no status of a check"))
    };
    let mut objects = Vec::with_capacity(record.objects.len());
    for (address, word, failures) in record.objects {
        objects.push(CheckObject {
            address,
            status: status(&word)?,
            failures,
        });
    }
    Ok(CheckResult {
        kind: CheckKind::from_word(&record.kind)
            .ok_or_else(|| format!("\"{}\" is no kind of check", record.kind))?,
        address: record.address,
        status: status(&record.status)?,
        objects,
    })
}

fn keys(record: KeysRecord) -> PlannedKeys {
    match record {
        KeysRecord::Single => PlannedKeys::Single,
        KeysRecord::Count(n) => PlannedKeys::Count(n),
        KeysRecord::Disabled => PlannedKeys::Disabled,
        KeysRecord::Keys(keys) => PlannedKeys::Keys(keys.into_iter().map(Arc::from).collect()),
    }
}
