//! Resource blocks for imported objects that none is written for (`-generate-config-out`).
//!
//! The objects are found and read first; blocks that say what they are like are put beside the
//! configuration, and the whole is planned as any other. The plan keeps each block with its change, not
//! among the files of the configuration; the caller writes the file.
//!
//! Blocks are generated for resources of the root module, for one instance without a key: where
//! `for_each` asks for several, nobody knows by what expression they are to come about.

mod block;

use crate::load::{Evaluation, Loaded, load};
use crate::plan::{PlanOptions, PlanOutcome, plan_untold, plan_with};
use crate::session::Session;
use crate::state::{Held, hold};
use block::resource_block;
use formwork_addresses::{AbsResource, AbsResourceInstance, InstanceKey, ModulePath, ResourceMode};
use formwork_configuration::{ImportBlock, SourceReader};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::ImportBy;
use formwork_plan::Plan;
use formwork_planner::{Found, Needed, configure_provider, find, objects_of_state};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Blocks that were generated.
pub(crate) struct Generated {
    /// The file of the root module in which they stand while planning.
    name: String,
    /// Each with the id that it was generated from.
    blocks: BTreeMap<AbsResource, (String, String)>,
    /// The objects that they were generated from.
    found: Arc<BTreeMap<AbsResourceInstance, Found>>,
}

/// What was found in the world for blocks that are lacking.
#[derive(Default)]
struct Looked {
    blocks: BTreeMap<AbsResource, (String, String)>,
    found: BTreeMap<AbsResourceInstance, Found>,
    said: Diagnostics,
}

impl Generated {
    /// The objects that the blocks were generated from: none is asked for twice.
    pub(crate) fn found(&self) -> Arc<BTreeMap<AbsResourceInstance, Found>> {
        self.found.clone()
    }

    /// Puts the blocks to their changes, and takes their file out of the plan's.
    pub(crate) fn tell(&self, plan: &mut Plan) {
        plan.sources.retain(|s| !self.is_named(Path::new(&s.name)));
        for change in &mut plan.changes {
            if let Some(importing) = &mut change.importing
                && let Some((_, block)) = self.blocks.get(&change.address.abs_resource())
            {
                importing.generated = Some(block.clone());
            }
        }
    }

    fn is_named(&self, file: &Path) -> bool {
        let within: PathBuf = file
            .components()
            .skip_while(|c| c.as_os_str() == ".")
            .collect();
        within == Path::new(&self.name)
    }

    /// The file's text.
    fn text(&self) -> String {
        let mut text = "# __generated__ by Formwork\n# Look these blocks over, and move them to where they belong.\n"
            .to_owned();
        for (by, block) in self.blocks.values() {
            text.push_str(&format!(
                "\n# __generated__ by Formwork from {by}\n{block}\n"
            ));
        }
        text
    }
}

/// The files of a configuration, and one more in the root module.
struct Beside {
    inner: Arc<dyn SourceReader + Send + Sync>,
    file: Generated,
}

impl SourceReader for Beside {
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = self.inner.list(directory)?;
        if directory.components().all(|c| c.as_os_str() == ".") {
            names.push(self.file.name.clone());
        }
        Ok(names)
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        if self.file.is_named(file) {
            Ok(self.file.text().into_bytes())
        } else {
            self.inner.read(file)
        }
    }
}

/// The session with the blocks beside its configuration.
fn beside(session: &Session, file: Generated) -> Session {
    Session {
        reader: Arc::new(Beside {
            inner: session.reader.clone(),
            file,
        }),
        read: None,
        ..session.clone()
    }
}

/// Plans with blocks that are generated where imports have none.
pub(crate) async fn plan_generating(
    session: &Session,
    options: &PlanOptions,
    file: &str,
) -> PlanOutcome {
    let (written, said) = load(session);
    let wanted = lacking(&written);
    if said.has_errors() || wanted.is_empty() {
        return plan_untold(session, options).await;
    }
    let named = Path::new(file).file_name().map(|n| n.to_string_lossy());
    let mut name = named.map_or_else(String::new, std::borrow::Cow::into_owned);
    if !name.ends_with(".tf") {
        name.push_str(".tf");
    }
    let listed = session.reader.list(Path::new(".")).unwrap_or_default();
    while listed.contains(&name) {
        name.insert(0, '_');
    }
    let looked = match generate(session, &name, &wanted).await {
        Ok(looked) => looked,
        Err(said) => {
            let mut outcome = plan_untold(session, options).await;
            outcome.plan = None;
            outcome.diagnostics = said;
            return outcome;
        }
    };
    let found = Arc::new(looked.found);
    let file = |blocks| Generated {
        name: name.clone(),
        blocks,
        found: found.clone(),
    };
    let generated = file(looked.blocks.clone());
    let session = beside(session, file(looked.blocks));
    let mut outcome = plan_with(&session, options, Some(&generated)).await;
    outcome.diagnostics.append(looked.said);
    outcome.loaded.configuration = written.configuration;
    outcome.generated = Some(generated.text());
    outcome.diagnostics.push(Diagnostic::warning(
        "Config generation is experimental",
        "The generated blocks say what the objects are like, as far as that can be told from outside. Look them over \
         before they are relied on: arguments that exclude each other, or that hold secrets, need a decision.",
    ));
    outcome
}

/// The import blocks whose resource is nowhere configured, and can be generated.
fn lacking(loaded: &Loaded) -> Vec<ImportBlock> {
    let Some(root) = loaded.configuration.root() else {
        return Vec::new();
    };
    let lacks = |i: &&ImportBlock| {
        let to = &i.to_resource;
        to.module.is_root()
            && to.resource.mode == ResourceMode::Managed
            && i.for_each.is_none()
            && i.provider.as_ref().is_none_or(|p| p.key.is_none())
            && !root.resources.contains_key(&to.resource)
    };
    root.imports.iter().filter(lacks).cloned().collect()
}

/// The argument that names another than the default provider configuration.
fn provider_of(import: &ImportBlock) -> Option<String> {
    let local = &import.provider.as_ref()?.local;
    Some(match &local.alias {
        Some(alias) => format!("{}.{alias}", local.name),
        None => local.name.to_string(),
    })
}

async fn generate(
    session: &Session,
    name: &str,
    wanted: &[ImportBlock],
) -> Result<Looked, Diagnostics> {
    // Empty blocks tell which providers they need.
    let empty = wanted.iter().map(|i| {
        let resource = &i.to_resource.resource;
        let provider = provider_of(i).map_or_else(String::new, |p| format!("  provider = {p}\n"));
        let block = format!(
            "resource \"{}\" \"{}\" {{\n{provider}}}",
            resource.kind, resource.name
        );
        (i.to_resource.clone(), (String::new(), block))
    });
    let file = Generated {
        name: name.to_owned(),
        blocks: empty.collect(),
        found: Arc::default(),
    };
    let session = beside(session, file);
    let (mut loaded, said) = load(&session);
    if said.has_errors() {
        return Err(said);
    }
    let operation = "OperationTypePlan";
    let (held, _) = hold(&session, operation).await?;
    let result = read_all(&session, &mut loaded, &held, wanted).await;
    let released = held.release(&session).await;
    if released.has_errors() {
        return Err(released);
    }
    result
}

async fn read_all(
    session: &Session,
    loaded: &mut Loaded,
    held: &Held,
    wanted: &[ImportBlock],
) -> Result<Looked, Diagnostics> {
    let (variables, said) = loaded.variables(session);
    if said.has_errors() {
        return Err(said);
    }
    let state = &held.view().state;
    let (providers, said) = loaded.launch(session, Some(state)).await;
    if said.has_errors() {
        return Err(said);
    }
    let evaluation = Evaluation::at_rest(session, &loaded.configuration, &providers);
    let known = objects_of_state(state, &providers, Needed::Everything).await;
    let evaluator = evaluation.over(known, variables);
    let mut looked = Looked::default();
    for import in wanted {
        let (asked, mut said) = evaluator.imports(import).await;
        said.append(asked.unknown);
        if said.has_errors() {
            return Err(said);
        }
        let resource = &import.to_resource.resource;
        let root = ModulePath::root();
        let module = loaded.configuration.module(&root);
        let Some(block) = module.and_then(|m| m.resource(resource)) else {
            continue;
        };
        let config = loaded.configuration.provider_of(&root, block).config;
        for one in asked.known.iter().filter(|a| a.to.key == InstanceKey::None) {
            let (_, said) = configure_provider(&evaluator, &providers, &config).await;
            if said.has_errors() {
                return Err(said);
            }
            let (Some(schema), Some(provider)) = (
                providers.schema_of(&config.provider, resource),
                providers.configured(&config),
            ) else {
                let d = providers.unknown_type(&config.provider, resource);
                return Err(d.at(import.range).into());
            };
            let identities = providers.identity_of(&config.provider, resource);
            let schemas = (&*schema, identities.as_deref());
            let (found, said) = find(&*provider, schemas, &one.to, &one.by, |_| {})
                .await
                .map_err(|mut said| {
                    said.default_subject(one.id_range);
                    said
                })?;
            looked.said.append(said);
            let provider = provider_of(import);
            let text = resource_block(resource, provider.as_deref(), &schema, &found.value);
            let by = match &one.by {
                ImportBy::Id(id) => formwork_syntax::quote(id),
                ImportBy::Identity(_) => one.by.to_string(),
            };
            let block = (by, text);
            looked.blocks.insert(import.to_resource.clone(), block);
            looked.found.insert(one.to.clone(), found);
        }
    }
    Ok(looked)
}
