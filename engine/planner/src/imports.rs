//! Objects that `import` blocks bring under management.
//!
//! An import happens while planning: the object is found, read, and stands in the refreshed state that
//! the plan is made against, as if it had always been there. The state that apply begins with is that
//! one, so an import needs no operation of its own, and an object that is in the state already is not
//! imported again.

use crate::managed::{Placed, Shared};
use crate::prior::{PriorObject, identified};
use crate::refresh::{hook, object_of};
use crate::walk::{Walk, lock};
use formwork_addresses::{AbsProviderConfig, AbsResourceInstance, ModulePath, Resource};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{ImportBy, WantedImport};
use formwork_plan::{Event, Importing, PlanMode};
use formwork_provider::{Bytes, ImportRequest, Provider, ReadRequest, Reported};
use formwork_provider_schema::{IdentitySchema, Schema, adopted_loosely, marked};
use formwork_state::{RawJson, ResourceInstanceObject};
use formwork_values::{PathMarks, Value, convert};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is imported to the instances of one block.
pub(crate) type Wanted = BTreeMap<AbsResourceInstance, WantedImport>;

/// An object as it was imported.
#[derive(Clone)]
pub(crate) struct Imported {
    pub address: AbsResourceInstance,
    pub provider: AbsProviderConfig,
    pub object: Arc<ResourceInstanceObject>,
}

/// An object that was found by its id and read.
#[derive(Clone)]
pub struct Found {
    /// The object, with marks.
    pub value: Value,
    /// Private data to keep with it.
    pub private: Bytes,
    /// Its identity, if its type has any.
    pub identity: Option<Value>,
}

impl Walk<'_> {
    /// What `import` blocks ask for the instances of a block in one instance of its module.
    pub(crate) async fn imports_of(&self, placed: Placed<'_>) -> Result<Wanted, Diagnostics> {
        if self.input.mode != PlanMode::Normal {
            return Ok(Wanted::new());
        }
        let block = placed.block;
        let path = placed.module_instance.path();
        let (mut wanted, mut said) = self.wanted_imports(&path, &block.address).await;
        let resource = block.address.in_module(placed.module_instance);
        wanted.retain(|to, _| to.abs_resource() == resource);
        said.extend(
            wanted
                .values()
                .filter(|i| !placed.expansion.has(&i.to.key))
                .map(not_configured),
        );
        if said.has_errors() {
            return Err(said);
        }
        let _ = self.say(said);
        Ok(wanted)
    }

    /// Whether something is to be imported to a block, and it is not known yet what.
    pub(crate) async fn imports_are_unknown(&self, path: &ModulePath, resource: &Resource) -> bool {
        let evaluator = &self.input.evaluator;
        let Some(root) = evaluator.configuration().root() else {
            return false;
        };
        if self.input.mode != PlanMode::Normal {
            return false;
        }
        for block in root
            .imports
            .iter()
            .filter(|i| i.to_resource.resource == *resource && i.to_resource.module.path() == *path)
        {
            let (found, said) = evaluator.imports(block).await;
            if !said.has_errors() && !found.unknown.is_empty() {
                return true;
            }
        }
        false
    }

    async fn wanted_imports(
        &self,
        path: &ModulePath,
        resource: &Resource,
    ) -> (Wanted, Diagnostics) {
        let evaluator = &self.input.evaluator;
        let mut wanted = Wanted::new();
        let mut said = Diagnostics::new();
        let Some(root) = evaluator.configuration().root() else {
            return (wanted, said);
        };
        let of_resource = root.imports.iter().filter(|i| {
            i.to_resource.resource == *resource && i.to_resource.module.path() == *path
        });
        for block in of_resource {
            let (found, problems) = evaluator.imports(block).await;
            said.append(problems);
            said.append(found.unknown);
            for import in found.known {
                if let Some(other) = wanted.get(&import.to) {
                    said.push(
                        Diagnostic::error(
                            format!("Duplicate import configuration for \"{}\"", import.to),
                            format!(
                                "Two objects are to be imported to {}, by {} and by {}. An instance is one \
                                 object: keep one of the two.",
                                import.to, other.by, import.by
                            ),
                        )
                        .at(import.to_range),
                    );
                    continue;
                }
                wanted.insert(import.to.clone(), import);
            }
        }
        (wanted, said)
    }

    /// Finds and reads the object that is to become this instance.
    pub(crate) async fn import(
        &self,
        shared: &Shared<'_>,
        wanted: &WantedImport,
    ) -> Result<(PriorObject, Importing), Diagnostics> {
        let events = &self.input.events;
        let started = |found: &Value| events.emit(Event::RefreshStarted(hook(&wanted.to, found)));
        let found = if let Some(found) = self.input.found.get(&wanted.to) {
            started(&found.value);
            found.clone()
        } else {
            let (found, said) = find(
                &*shared.provider,
                (&shared.schema, shared.identity.as_deref()),
                &wanted.to,
                &wanted.by,
                started,
            )
            .await
            .map_err(|mut said| {
                said.default_subject(wanted.id_range);
                said
            })?;
            let _ = self.say(said);
            found
        };
        events.emit(Event::RefreshFinished(hook(&wanted.to, &found.value)));
        let prior = taken_over(
            &found,
            (&shared.schema, shared.identity.as_deref()),
            shared.dependencies.clone(),
            &wanted.to,
        )
        .map_err(|d| Diagnostics::from(*d))?;
        lock(&self.imported).push(Imported {
            address: wanted.to.clone(),
            provider: shared.provider_config.clone(),
            object: prior.stored.clone(),
        });
        let (id, identity) = match &wanted.by {
            ImportBy::Id(id) => (id.to_string(), None),
            ImportBy::Identity(identity) => (String::new(), crate::instance::in_json(identity)),
        };
        let importing = Importing {
            id,
            identity: identity.map(|i| i.to_string()),
            generated: None,
        };
        Ok((prior, importing))
    }
}

/// Blocks that ask for instances which are not configured.
pub(crate) fn without_configuration(walk: &Walk<'_>) -> Diagnostics {
    let configuration = walk.input.evaluator.configuration();
    let mut said = Diagnostics::new();
    for block in configuration.root().into_iter().flat_map(|m| &m.imports) {
        let to = &block.to_resource;
        let module = configuration.module(&to.module.path());
        if module.is_some_and(|m| m.resources.contains_key(&to.resource)) {
            continue;
        }
        said.push(
            Diagnostic::error(
                "Configuration for import target does not exist",
                format!("An object is to be imported to {to}, but no such resource is configured."),
            )
            .at(block.to.range())
            .hint("Write its resource block, or have it written by -generate-config-out=FILE."),
        );
    }
    said
}

/// What is said of an instance that is asked for and not configured.
fn not_configured(wanted: &WantedImport) -> Diagnostic {
    Diagnostic::error(
        "Configuration for import target does not exist",
        format!(
            "An object is to be imported to {}, but the resource has no such instance.",
            wanted.to
        ),
    )
    .at(wanted.to_range)
}

/// An identity that is written, by its schema: what is left out is null where that may be.
fn written_identity(
    schema: &IdentitySchema,
    written: &Value,
    address: &AbsResourceInstance,
) -> Result<Value, Diagnostics> {
    let mut said = Diagnostics::new();
    let mut wrong = |why: String| {
        let summary = "Invalid import identity argument";
        said.push(Diagnostic::error(summary, why).about(address));
    };
    let given = written.elements().unwrap_or_default();
    let kind = &address.resource.kind;
    let mut values = Vec::new();
    for (name, attribute) in schema.iter() {
        let given = given.iter().find(|(key, _)| key.as_str() == Some(&**name));
        let value = given.map_or_else(|| Value::null(attribute.ty.clone()), |(_, v)| v.clone());
        if value.is_null() && attribute.required_for_import {
            wrong(format!(
                "The identity of an object of type {kind} must have \"{name}\", by which it is found."
            ));
        }
        match convert(value, &attribute.ty) {
            Ok(value) => values.push((name.clone(), value)),
            Err(_) => wrong(format!(
                "\"{name}\" of the identity of an object of type {kind} must be {}.",
                attribute.ty.friendly_name()
            )),
        }
    }
    for (key, _) in &given {
        let name = key.as_str().unwrap_or_default();
        if !schema.iter().any(|(known, _)| **known == *name) {
            let names: Vec<&str> = schema.iter().map(|(n, _)| &**n).collect();
            wrong(format!(
                "The identity of an object of type {kind} has no \"{name}\". It has: {}.",
                names.join(", ")
            ));
        }
    }
    match said.has_errors() {
        true => Err(said),
        false => Ok(Value::object(values)),
    }
}

/// Finds an object by its id or identity, and reads it.
///
/// # Errors
/// That there is none, that the type cannot be imported, or what the provider says.
pub async fn find(
    provider: &dyn Provider,
    (schema, identities): (&Schema, Option<&IdentitySchema>),
    address: &AbsResourceInstance,
    by: &ImportBy,
    found: impl FnOnce(&Value),
) -> Result<(Found, Diagnostics), Diagnostics> {
    let kind = address.resource.kind.to_string();
    let refuse = |summary: &str, why: String| -> Diagnostics {
        Diagnostic::error(summary, why).about(address).into()
    };
    let (id, identity) = match (by, identities) {
        (ImportBy::Id(id), _) => (id.to_string(), None),
        (ImportBy::Identity(written), Some(schema)) => {
            let identity = written_identity(schema, written, address)?;
            (String::new(), Some(identity))
        }
        (ImportBy::Identity(_), None) => {
            return Err(refuse(
                "Import by identity not supported",
                format!(
                    "Objects of type {kind} have no identity in this version of the provider. Give an id."
                ),
            ));
        }
    };
    let request = ImportRequest {
        kind: kind.clone(),
        id,
        identity,
    };
    let all = provider
        .import_resource_state(request)
        .await
        .map_err(|r| Reported::placed(r, address, &|_| None))?;
    let Some(first) = all.into_iter().find(|f| f.kind == kind) else {
        return Err(refuse(
            "Import returned no resources",
            format!("The provider finds no object of type {kind} by {by}."),
        ));
    };
    found(&first.state);
    let imported_identity = first.identity.clone();
    let read = provider
        .read_resource(ReadRequest {
            kind: kind.clone(),
            current: first.state,
            private: first.private,
            identity: first.identity,
        })
        .await;
    let value = marked(&schema.block, &read.new, &PathMarks::new());
    let said = Reported::placed(Reported::hiding(read.reported, &[&value]), address, &|_| {
        None
    });
    if said.has_errors() {
        return Err(said);
    }
    if read.new.is_null() {
        return Err(refuse(
            "Cannot import non-existent remote object",
            format!(
                "No object of type {kind} is found by {by}, or it cannot be seen with these \
                 credentials. Is the id in a form that the type's documentation names?"
            ),
        ));
    }
    let Some(new) = adopted_loosely(&schema.block, read.new) else {
        return Err(refuse(
            "Provider produced invalid object",
            format!(
                "The object found by {by} was read as something that does not have the type of its schema. This is \
                 a fault of the provider."
            ),
        ));
    };
    let identity = match (read.identity.or(imported_identity), identities) {
        (Some(given), Some(schema)) => match crate::refresh::read_identity(given, schema) {
            Some(identity) => Some(identity),
            None => {
                return Err(refuse(
                    "Provider produced invalid identity",
                    format!(
                        "The identity of the object found by {by} is not a wholly known object of its schema's \
                         type. This is a fault of the provider."
                    ),
                ));
            }
        },
        _ => None,
    };
    let found = Found {
        identity,
        value: marked(&schema.block, &new, &PathMarks::new()),
        private: read.private,
    };
    Ok((found, said))
}

/// An object that has just been imported, as the prior state has it.
///
/// # Errors
/// That it cannot be stored.
pub fn taken_over(
    found: &Found,
    (schema, identities): (&Schema, Option<&IdentitySchema>),
    dependencies: Vec<formwork_addresses::AbsResource>,
    address: &AbsResourceInstance,
) -> Result<PriorObject, Box<Diagnostic>> {
    let mut empty = ResourceInstanceObject::new(schema.version, RawJson::null());
    empty.dependencies = dependencies.clone().into();
    let prior = PriorObject {
        value: found.value.clone(),
        private: found.private.clone(),
        tainted: false,
        create_before_destroy: false,
        dependencies,
        stored: Arc::new(empty),
        identity: found.identity.clone(),
    };
    let stored = object_of(&found.value, schema, &prior, &found.private, address)?;
    let stored = identified(stored, found.identity.as_ref(), identities);
    Ok(PriorObject { stored, ..prior })
}
