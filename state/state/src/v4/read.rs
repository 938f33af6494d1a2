//! Bytes to [`Snapshot`].

use super::json::{Text, Wrong};
use crate::object::{Attributes, ObjectStatus, ResourceInstanceObject};
use crate::raw::{InvalidJson, RawJson};
use crate::resource::{InstanceState, ObjectPlace, OtherKeys, OutputState, ResourceState};
use crate::sensitive::SensitivePaths;
use crate::snapshot::Snapshot;
use crate::tree::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_addresses::{
    AbsProviderConfig, AbsResource, DeposedKey, InstanceKey, ModuleInstance, ProviderAddr,
    Resource, ResourceMode,
};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const UNSUPPORTED: &str = "Unsupported state file format";
const INVALID: &str = "Invalid state file";
/// So many mistakes of one file are told; more would bury the first.
const MAX_ERRORS: usize = 10;

/// Reads a snapshot. `name` says where the bytes come from, for messages.
///
/// `None` if the bytes are empty or only white space, which stands for no state, and on errors. The
/// errors say line and column, or the address concerned, and never quote content.
pub fn read(bytes: &[u8], name: &str) -> Checked<Option<Snapshot>> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return (None, Diagnostics::new());
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Text(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(e) => {
            let reason = format!(
                "The state in {name} is not valid UTF-8: the byte at offset {} is wrong.",
                e.valid_up_to()
            );
            return (None, damaged(UNSUPPORTED, reason).into());
        }
    };
    let root: &RawValue = match serde_json::from_str(text.0) {
        Ok(raw) => raw,
        Err(e) => {
            let e = InvalidJson::from_serde(&e);
            let reason = format!("The state in {name} is not valid JSON: {e}.");
            return (None, damaged(UNSUPPORTED, reason).into());
        }
    };
    let mut reader = Reader::new(text, name);
    let snapshot = match reader.snapshot(root) {
        Ok(snapshot) => snapshot,
        Err(wrong) => {
            reader.tell(&wrong, None);
            None
        }
    };
    let snapshot = snapshot.filter(|_| !reader.diagnostics.has_errors());
    (snapshot, reader.diagnostics)
}

/// Reads one object from the JSON that [`write_object`](super::write_object) gives.
///
/// # Errors
/// What is wrong, as a clause.
pub fn read_object(text: &str) -> Result<ResourceInstanceObject, String> {
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|e| InvalidJson::from_serde(&e).to_string())?;
    Reader::new(Text(text), "")
        .object(raw)
        .map(|(_, object, _)| object)
        .map_err(|w| w.reason)
}

fn damaged(summary: &str, detail: String) -> Diagnostic {
    Diagnostic::error(summary, detail).hint(
        "Restore it from its backup (the file that ends in .backup, or an older version of the \
         object in a bucket); nothing was changed.",
    )
}

/// An explicit null counts as absent, but is kept.
fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

struct Reader<'a> {
    text: Text<'a>,
    name: &'a str,
    diagnostics: Diagnostics,
    /// Instances of one resource mostly have the same dependencies: read once, then shared.
    dependencies: HashMap<&'a str, Arc<[AbsResource]>>,
    providers: HashMap<Cow<'a, str>, AbsProviderConfig>,
    /// Types of resources: few, each many times.
    kinds: HashMap<Cow<'a, str>, Arc<str>>,
}

impl<'a> Reader<'a> {
    fn new(text: Text<'a>, name: &'a str) -> Self {
        Self {
            text,
            name,
            diagnostics: Diagnostics::new(),
            dependencies: HashMap::new(),
            providers: HashMap::new(),
            kinds: HashMap::new(),
        }
    }

    fn tell(&mut self, wrong: &Wrong, address: Option<String>) {
        if self.diagnostics.error_count() >= MAX_ERRORS {
            return;
        }
        let before = self.text.0.get(..wrong.offset).unwrap_or(self.text.0);
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        let mut d = damaged(
            INVALID,
            format!(
                "The state in {} cannot be understood at line {line}, column {}: {}.",
                self.name,
                last.chars().count() + 1,
                wrong.reason
            ),
        );
        d.address = address;
        self.diagnostics.push(d);
    }

    fn snapshot(&mut self, root: &'a RawValue) -> Result<Option<Snapshot>, Wrong> {
        let entries = self.text.entries(root, "a state")?;
        let find = |key: &str| entries.iter().find(|(k, _)| k == key).map(|(_, v)| *v);
        let written_by = find("terraform_version")
            .and_then(|raw| self.text.string(raw, "").ok())
            .unwrap_or_default();
        let version = match find("version") {
            Some(raw) => self.text.whole_number(raw, "\"version\"")?,
            None => {
                let detail = format!(
                    "The state in {} has no \"version\", so it is not known how to read it.",
                    self.name
                );
                self.diagnostics.push(damaged(UNSUPPORTED, detail));
                return Ok(None);
            }
        };
        if version != 4 {
            self.diagnostics
                .push(other_version(self.name, version, &written_by));
            return Ok(None);
        }
        let mut snapshot = Snapshot::new("", written_by);
        snapshot.state.set_check_results(None);
        for (key, raw) in entries {
            match &*key {
                "version" | "terraform_version" => {}
                "serial" => snapshot.serial = self.text.whole_number(raw, "\"serial\"")?,
                "lineage" => {
                    snapshot.lineage = self.text.string(raw, "\"lineage\"")?.into_owned();
                }
                "outputs" | "resources" if is_null(raw) => {
                    snapshot.other.set(&key, RawJson::null());
                }
                "outputs" => self.outputs(raw, &mut snapshot.state)?,
                "resources" => self.resources(raw, &mut snapshot.state)?,
                "check_results" => {
                    snapshot
                        .state
                        .set_check_results(Some(RawJson::from_raw(raw)));
                }
                _ => snapshot.other.set(&key, RawJson::from_raw(raw)),
            }
        }
        Ok(Some(snapshot))
    }

    fn outputs(&mut self, raw: &'a RawValue, state: &mut State) -> Result<(), Wrong> {
        for (name, raw) in self.text.entries(raw, "\"outputs\"")? {
            let mut output = OutputState {
                value: RawJson::null(),
                kind: RawJson::text("dynamic"),
                sensitive: false,
                other: OtherKeys::default(),
            };
            for (key, raw) in self.text.entries(raw, "an output")? {
                match &*key {
                    "value" => output.value = RawJson::from_raw(raw),
                    "type" => output.kind = RawJson::from_raw(raw),
                    "sensitive" if raw.get() == "true" => output.sensitive = true,
                    "sensitive" if !matches!(raw.get(), "false" | "null") => {
                        return Err(self.text.wrong(raw, "\"sensitive\" must be true or false"));
                    }
                    _ => output.other.set(&key, RawJson::from_raw(raw)),
                }
            }
            state.set_output(&name, output);
        }
        Ok(())
    }

    fn resources(&mut self, raw: &'a RawValue, state: &mut State) -> Result<(), Wrong> {
        let mut order: Vec<AbsResource> = Vec::new();
        for raw in self.text.elements(raw, "\"resources\"")? {
            match self.resource(raw) {
                Err(wrong) => self.tell(&wrong, None),
                Ok((address, resource)) => {
                    if state.resource(&address).is_some() {
                        let wrong = self
                            .text
                            .wrong(raw, format!("{address} stands in it twice"));
                        self.tell(&wrong, Some(address.to_string()));
                    }
                    order.push(address.clone());
                    state.put_resource(address, resource);
                }
            }
        }
        let usual = super::write::usual_order(state);
        if !usual.iter().copied().eq(order.iter()) {
            state.order = Some(order.into());
        }
        Ok(())
    }

    fn resource(&mut self, raw: &'a RawValue) -> Result<(AbsResource, ResourceState), Wrong> {
        let text = self.text;
        let mut module = ModuleInstance::root();
        let mut mode = None;
        let (mut kind, mut name, mut provider, mut instances) = (None, None, None, None);
        let mut each = None;
        let mut other = OtherKeys::default();
        for (key, raw) in text.entries(raw, "a resource")? {
            match &*key {
                "module" | "each" if is_null(raw) || raw.get() == "\"\"" => {
                    other.set(&key, RawJson::from_raw(raw));
                }
                "module" => {
                    let address = text.string(raw, "\"module\"")?;
                    module = address.parse().map_err(|e| {
                        text.wrong(raw, format!("\"module\" is no module address: {e}"))
                    })?;
                }
                "mode" => {
                    mode = Some(match &*text.string(raw, "\"mode\"")? {
                        "managed" => ResourceMode::Managed,
                        "data" => ResourceMode::Data,
                        _ => {
                            return Err(text.wrong(raw, "\"mode\" must be \"managed\" or \"data\""));
                        }
                    });
                }
                "type" => kind = Some(text.string(raw, "\"type\"")?),
                "name" => name = Some(text.string(raw, "\"name\"")?),
                "each" => each = Some(Arc::from(text.string(raw, "\"each\"")?)),
                "provider" => provider = Some(self.provider(raw)?),
                "instances" => instances = Some(raw),
                _ => other.set(&key, RawJson::from_raw(raw)),
            }
        }
        let missing = |what: &str| text.wrong(raw, format!("a resource has no \"{what}\""));
        let address = AbsResource {
            module,
            resource: Resource {
                mode: mode.ok_or_else(|| missing("mode"))?,
                kind: self.kind(kind.ok_or_else(|| missing("type"))?),
                name: Arc::from(name.ok_or_else(|| missing("name"))?),
            },
        };
        // Each instance may name its own; where all do, the resource need not.
        let stands_in = || AbsProviderConfig::root_default(ProviderAddr::implied("terraform"));
        let mut resource = ResourceState::new(provider.clone().unwrap_or_else(stands_in));
        resource.each = each;
        resource.other = other;
        match instances {
            None => {}
            Some(raw) if is_null(raw) => resource.other.set("instances", RawJson::null()),
            Some(raw) => self.instances(raw, &address, &mut resource)?,
        }
        if provider.is_none() {
            let owned = resource.instances.values().all(|i| i.provider.is_some());
            let first = resource
                .instances
                .values()
                .find_map(|i| i.provider.as_ref());
            resource.provider = first
                .filter(|_| owned)
                .map(|p| p.block())
                .ok_or_else(|| missing("provider"))?;
        } else if resource.provider.key != InstanceKey::None {
            let whole = std::mem::replace(&mut resource.provider, stands_in());
            resource.provider = whole.block();
            let whole = Arc::new(whole);
            for instance in resource.instances.values_mut() {
                if instance.provider.is_none() {
                    Arc::make_mut(instance).provider = Some(whole.clone());
                }
            }
        }
        Ok((address, resource))
    }

    /// A type of resources, held once for all of them.
    fn kind(&mut self, kind: Cow<'a, str>) -> Arc<str> {
        if let Some(known) = self.kinds.get(&kind) {
            return known.clone();
        }
        let new: Arc<str> = Arc::from(&*kind);
        self.kinds.insert(kind, new.clone());
        new
    }

    fn provider(&mut self, raw: &'a RawValue) -> Result<AbsProviderConfig, Wrong> {
        let address = self.text.string(raw, "\"provider\"")?;
        if let Some(known) = self.providers.get(&address) {
            return Ok(known.clone());
        }
        let provider: AbsProviderConfig = address.parse().map_err(|e| {
            let old = address.starts_with("provider.") || address.contains(".provider.");
            let reason = if old {
                "\"provider\" is written as Terraform 0.12 did, without the provider's source; \
                 run `terraform apply` with Terraform 0.13 or later once, which adds it"
                    .to_owned()
            } else {
                format!("\"provider\" is no provider configuration: {e}")
            };
            self.text.wrong(raw, reason)
        })?;
        self.providers.insert(address, provider.clone());
        Ok(provider)
    }

    fn instances(
        &mut self,
        raw: &'a RawValue,
        address: &AbsResource,
        resource: &mut ResourceState,
    ) -> Result<(), Wrong> {
        let mut order: Vec<ObjectPlace> = Vec::new();
        let mut instances: Vec<(InstanceKey, InstanceState)> = Vec::new();
        // Where the instances are, once there is more than one.
        let mut places: HashMap<InstanceKey, usize> = HashMap::new();
        for raw in self.text.elements(raw, "\"instances\"")? {
            let (place, object, own) = match self.object(raw) {
                Ok(read) => read,
                Err(wrong) => {
                    self.tell(&wrong, Some(address.to_string()));
                    continue;
                }
            };
            let (key, deposed) = &place;
            let known = match instances.as_slice() {
                [] => None,
                [(only, _)] => (only == key).then_some(0),
                _ => places.get(key).copied(),
            };
            let at = known.unwrap_or_else(|| {
                let at = instances.len();
                if at == 1 {
                    places.extend(instances.first().map(|(first, _)| (first.clone(), 0)));
                }
                if at > 0 {
                    places.insert(key.clone(), at);
                }
                instances.push((key.clone(), InstanceState::default()));
                at
            });
            if let (Some((_, instance)), Some(own)) = (instances.get_mut(at), own) {
                instance.provider = Some(own);
            }
            let taken = match (instances.get_mut(at), deposed) {
                (Some((_, i)), None) => i.current.replace(Arc::new(object)).is_some(),
                (Some((_, i)), Some(d)) => i.deposed.insert(d.clone(), Arc::new(object)).is_some(),
                (None, _) => false,
            };
            if taken {
                let instance = address.instance(key.clone());
                let wrong = self
                    .text
                    .wrong(raw, format!("{instance} stands in it twice"));
                self.tell(&wrong, Some(instance.to_string()));
            }
            order.push(place);
        }
        resource.instances = instances
            .into_iter()
            .map(|(key, instance)| (key, Arc::new(instance)))
            .collect();
        let usual = resource.objects().map(|(place, _)| place);
        if !usual.eq(order.iter().cloned()) {
            resource.order = Some(order.into());
        }
        Ok(())
    }

    fn object(
        &mut self,
        raw: &'a RawValue,
    ) -> Result<
        (
            ObjectPlace,
            ResourceInstanceObject,
            Option<Arc<AbsProviderConfig>>,
        ),
        Wrong,
    > {
        let text = self.text;
        let mut own = None;
        let mut key = InstanceKey::None;
        let mut deposed: Option<DeposedKey> = None;
        let mut object = ResourceInstanceObject::new(0, RawJson::null());
        object.sensitive = SensitivePaths::absent();
        let (mut json, mut flat) = (None, None);
        for (name, raw) in text.entries(raw, "an instance")? {
            if says_nothing(&name, raw) {
                object.other.set(&name, RawJson::from_raw(raw));
                continue;
            }
            match &*name {
                "index_key" => key = self.index_key(raw)?,
                "status" => match &*text.string(raw, "\"status\"")? {
                    "tainted" => object.status = ObjectStatus::Tainted,
                    _ => {
                        return Err(
                            text.wrong(raw, "\"status\" of an instance must be \"tainted\"")
                        );
                    }
                },
                "deposed" => {
                    let name = text.string(raw, "\"deposed\"")?;
                    deposed = Some(name.parse().map_err(|e| {
                        text.wrong(raw, format!("\"deposed\" is no deposed key: {e}"))
                    })?);
                }
                "provider" => own = Some(Arc::new(self.provider(raw)?)),
                "schema_version" => {
                    object.schema_version = text.whole_number(raw, "\"schema_version\"")?;
                }
                "attributes" => json = Some(RawJson::from_raw(raw)),
                "attributes_flat" => flat = Some(RawJson::from_raw(raw)),
                "sensitive_attributes" => {
                    object.sensitive =
                        SensitivePaths::from_json(raw).map_err(|e| text.wrong(raw, e))?;
                }
                "identity" => object.identity = Some(RawJson::from_raw(raw)),
                "identity_schema_version" => {
                    object.identity_schema_version =
                        Some(text.whole_number(raw, "\"identity_schema_version\"")?);
                }
                "private" => object.private = Some(self.private(raw)?),
                "dependencies" => object.dependencies = self.dependencies(raw)?,
                "create_before_destroy" => {
                    object.create_before_destroy =
                        text.boolean(raw, "\"create_before_destroy\"")?;
                }
                _ => object.other.set(&name, RawJson::from_raw(raw)),
            }
        }
        object.attributes = match (json, flat) {
            (Some(json), flat) => {
                if let Some(flat) = flat {
                    object.other.set("attributes_flat", flat);
                }
                Attributes::Json(json)
            }
            (None, Some(flat)) => Attributes::Flat(flat),
            (None, None) => Attributes::Json(RawJson::null()),
        };
        Ok(((key, deposed), object, own))
    }

    fn index_key(&self, raw: &'a RawValue) -> Result<InstanceKey, Wrong> {
        if raw.get().starts_with('"') {
            let key = self.text.string(raw, "\"index_key\"")?;
            return Ok(InstanceKey::Text(Arc::from(key)));
        }
        raw.get().parse().map(InstanceKey::Int).map_err(|_| {
            self.text
                .wrong(raw, "\"index_key\" must be a text or a whole number")
        })
    }

    fn private(&self, raw: &'a RawValue) -> Result<Arc<[u8]>, Wrong> {
        let encoded = self.text.string(raw, "\"private\"")?;
        STANDARD
            .decode(encoded.as_bytes())
            .map(Arc::from)
            .map_err(|_| self.text.wrong(raw, "\"private\" is not valid base64"))
    }

    fn dependencies(&mut self, raw: &'a RawValue) -> Result<Arc<[AbsResource]>, Wrong> {
        if let Some(known) = self.dependencies.get(raw.get()) {
            return Ok(known.clone());
        }
        let text = self.text;
        let list = text
            .elements(raw, "\"dependencies\"")?
            .into_iter()
            .map(|raw| {
                let address = text.string(raw, "a dependency")?;
                address.parse().map_err(|e| {
                    text.wrong(raw, format!("a dependency is no resource address: {e}"))
                })
            })
            .collect::<Result<Arc<[AbsResource]>, Wrong>>()?;
        self.dependencies.insert(raw.get(), list.clone());
        Ok(list)
    }
}

/// Whether an entry of an instance would not be written, because it says what its absence says; it is
/// then kept as it is.
fn says_nothing(key: &str, raw: &RawValue) -> bool {
    let text = raw.get();
    match key {
        "index_key" | "identity" | "private" | "identity_schema_version" | "schema_version" => {
            is_null(raw)
        }
        "status" | "deposed" => is_null(raw) || text == "\"\"",
        "dependencies" => {
            is_null(raw)
                || text
                    .strip_prefix('[')
                    .is_some_and(|t| t.trim_start() == "]")
        }
        "create_before_destroy" => matches!(text, "null" | "false"),
        _ => false,
    }
}

fn other_version(name: &str, version: u64, written_by: &str) -> Diagnostic {
    let by = match written_by {
        "" => String::new(),
        version => format!(", written by version {version} of its tool"),
    };
    if version < 4 {
        return Diagnostic::error(
            UNSUPPORTED,
            format!(
                "The state in {name} has format version {version}{by}. Formwork reads version 4, \
                 which Terraform has written since 0.12."
            ),
        )
        .hint(
            "Run `terraform apply` with Terraform 0.12 or later once: it reads the old versions and \
             writes version 4. From 0.11 and older, go by way of 0.12.",
        );
    }
    Diagnostic::error(
        UNSUPPORTED,
        format!(
            "The state in {name} has format version {version}{by}. Formwork reads version 4; what a \
             newer version means is not known, so nothing is read from it and nothing was changed."
        ),
    )
    .hint("Use the tool that wrote it, or a newer version of Formwork.")
}
