//! Reading a configuration: files to modules, modules to a tree.

use crate::computed::resolved;
use crate::configuration::Configuration;
use crate::language::LanguageLevel;
use crate::lock::{DependencyLock, LOCK_FILE};
use crate::module::{Module, TOP_LEVEL};
use crate::module_call::{ModuleCall, ModuleSource};
use crate::reader::{ModuleFetcher, ModuleRequest, SourceReader, normalised};
use crate::statics::{StaticInputs, Statics};
use crate::{overrides, static_checks};
use formwork_addresses::ModulePath;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, FileId, SourceMap};
use formwork_syntax::Block;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What loading needs besides the directory.
pub struct Loading<'a> {
    /// Where files come from.
    pub reader: &'a dyn SourceReader,
    /// Where modules other than local paths come from.
    pub fetcher: &'a dyn ModuleFetcher,
    /// What we claim to be.
    pub level: LanguageLevel,
    /// What is known before anything is planned, for sources, versions and their like.
    pub statics: StaticInputs<'a>,
}

/// How deep module calls may go. A module that calls itself through changing paths ends here.
const MAX_DEPTH: usize = 100;

/// Reads the configuration of a directory, its modules included, and checks what can be checked
/// without values and schemas. Files are added to `sources` in the order in which they are read.
///
/// The result is as complete as can be; after an error it must not be acted on.
pub fn load(
    directory: &Path,
    with: &Loading<'_>,
    sources: &mut SourceMap,
) -> Checked<Configuration> {
    let mut diagnostics = Diagnostics::new();
    let root = normalised(directory);
    let mut configuration = Configuration {
        level: with.level.clone(),
        ..Configuration::default()
    };
    let mut read: BTreeMap<PathBuf, Arc<Module>> = BTreeMap::new();
    match load_module(&root, with, sources, &mut diagnostics) {
        Ok(module) => {
            read.insert(root.clone(), Arc::new(module));
        }
        Err(why) => {
            diagnostics.push(Diagnostic::error(
                "Failed to read module directory",
                format!("The directory {} cannot be read: {why}.", root.display()),
            ));
            return (configuration, diagnostics);
        }
    }

    let mut statics = Statics::new(with.statics);
    // The tree grows level by level, so that the modules of a level can be fetched together.
    let mut level = vec![(ModulePath::root(), root.clone())];
    // The package that each fetched module, and what is below it, is a part of.
    let mut packages: BTreeMap<ModulePath, PathBuf> = BTreeMap::new();
    while !level.is_empty() {
        let mut callers: Vec<(ModulePath, PathBuf, Arc<Module>)> = Vec::new();
        for (path, directory) in level.drain(..) {
            let Some(mut module) = read.get(&directory).cloned() else {
                continue;
            };
            configuration.modules.insert(path.clone(), module.clone());
            if module.has_static_places(&path) {
                if let Some(root) = configuration.root() {
                    statics.read_inputs(root, sources);
                }
                let mut said = Diagnostics::new();
                let copy = resolved(&configuration, &path, &module, &statics, &mut said);
                add_new(&mut diagnostics, said);
                module = Arc::new(copy);
                configuration.modules.insert(path.clone(), module.clone());
            }
            callers.push((path, directory, module));
        }
        let requests: Vec<ModuleRequest<'_>> = callers
            .iter()
            .flat_map(|(caller, _, module)| {
                module
                    .calls
                    .values()
                    .filter_map(move |call| match &call.source {
                        ModuleSource::Local(_) => None,
                        source if source.is_none() => None,
                        source => Some(ModuleRequest {
                            caller,
                            call,
                            source,
                            version: call.version.as_ref(),
                        }),
                    })
            })
            .collect();
        if !requests.is_empty() {
            with.fetcher.prepare(&requests);
        }
        let mut requests = requests.into_iter();
        for (path, directory, module) in &callers {
            for call in module.calls.values() {
                let child = path.child(&call.name);
                let target = match &call.source {
                    ModuleSource::Local(relative) => {
                        let target = normalised(&directory.join(&**relative));
                        if let Some(package) = packages.get(path) {
                            if !target.starts_with(package) {
                                diagnostics.push(placed(escaping(call), call));
                                continue;
                            }
                            packages.insert(child.clone(), package.clone());
                        }
                        target
                    }
                    source if source.is_none() => continue,
                    _ => {
                        let Some(request) = requests.next() else {
                            continue;
                        };
                        match with.fetcher.directory(&request) {
                            Ok(d) => {
                                if let Some(package) = with.fetcher.package(&request) {
                                    packages.insert(child.clone(), normalised(&package));
                                }
                                normalised(&d)
                            }
                            Err(d) => {
                                diagnostics.push(placed(*d, call));
                                continue;
                            }
                        }
                    }
                };
                if path.names().len() >= MAX_DEPTH || is_own_ancestor(&configuration, path, &target)
                {
                    let detail = format!(
                        "The module \"{}\" is read from {}, which is one of the modules that call \
                         it, so that it would contain itself without end.",
                        call.name,
                        target.display()
                    );
                    diagnostics.push(placed(Diagnostic::error("Module call cycle", detail), call));
                    continue;
                }
                if !read.contains_key(&target) {
                    match load_module(&target, with, sources, &mut diagnostics) {
                        Ok(m) if m.has_files => {
                            read.insert(target.clone(), Arc::new(m));
                        }
                        other => {
                            let detail = match other {
                                Ok(_) => format!(
                                    "The directory {} holds no configuration files (.tf).",
                                    target.display()
                                ),
                                Err(why) if why.kind() == io::ErrorKind::NotFound => format!(
                                    "There is no directory {}. The source of a local module is a \
                                     path from the module that calls it.",
                                    target.display()
                                ),
                                Err(why) => format!(
                                    "The directory {} cannot be read: {why}.",
                                    target.display()
                                ),
                            };
                            diagnostics.push(placed(
                                Diagnostic::error("Unreadable module directory", detail),
                                call,
                            ));
                            continue;
                        }
                    }
                }
                level.push((child, target));
            }
        }
    }

    diagnostics.append(with.fetcher.remarks());

    let lock_file = root.join(LOCK_FILE);
    match with.reader.read(&normalised(&lock_file)) {
        Ok(bytes) => {
            configuration.lock =
                diagnostics.take(DependencyLock::parse(&shown(&lock_file), &bytes, sources));
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(why) => diagnostics.push(Diagnostic::error(
            "Failed to read dependency lock file",
            format!("{} cannot be read: {why}.", shown(&lock_file)),
        )),
    }

    // What references mean is only asked of text that could be read: after a syntax error half of
    // the declarations may be missing, and each would be reported again at every use.
    configuration.is_readable = read.values().all(|m| m.is_readable);
    if configuration.is_readable {
        let mut found = Diagnostics::new();
        static_checks::check(&configuration, &mut found);
        add_new(&mut diagnostics, found);
    }
    (configuration, diagnostics)
}

fn escaping(call: &ModuleCall) -> Diagnostic {
    Diagnostic::error(
        "Local module path escapes module package",
        format!(
            "The source \"{}\" leads out of the package that the calling module was fetched with. What is \
             there belongs to this machine, not to the package.",
            call.source
        ),
    )
    .hint("Name the other module by an address of its own, or by a path within the package.")
}

/// Adds what has not been said yet: what a static place has come upon is found again where it stands,
/// and what holds at one path of a module may hold at others.
fn add_new(diagnostics: &mut Diagnostics, said: Diagnostics) {
    for d in said {
        if !diagnostics.iter().any(|before| *before == d) {
            diagnostics.push(d);
        }
    }
}

/// At the source of a call, if it names no place of its own.
fn placed(d: Diagnostic, call: &ModuleCall) -> Diagnostic {
    if d.subject.is_some() {
        d
    } else {
        d.at(call.source_range).within(call.range)
    }
}

fn is_own_ancestor(configuration: &Configuration, path: &ModulePath, target: &Path) -> bool {
    let mut at = Some(path.clone());
    while let Some(p) = at {
        if configuration
            .module(&p)
            .is_some_and(|m| m.directory == target)
        {
            return true;
        }
        at = p.parent();
    }
    false
}

/// A path as diagnostics show it.
fn shown(path: &Path) -> String {
    normalised(path).display().to_string()
}

fn is_override(name: &str) -> bool {
    let stem = name
        .strip_suffix(".tf")
        .or_else(|| name.strip_suffix(".tf.json"))
        .unwrap_or(name);
    stem == "override" || stem.ends_with("_override")
}

fn is_configuration(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || name.starts_with('#');
    !hidden && (name.ends_with(".tf") || name.ends_with(".tf.json"))
}

/// Reads one directory.
fn load_module(
    directory: &Path,
    with: &Loading<'_>,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> io::Result<Module> {
    let mut names = with.reader.list(directory)?;
    names.retain(|n| is_configuration(n));
    names.sort();
    let mut decoding = Diagnostics::new();
    let mut base: Vec<Block> = Vec::new();
    let mut overrides: Vec<Vec<Block>> = Vec::new();
    // Whether something stands at the top that means nothing there, such as a misspelt block.
    let mut stray = false;
    // Where the text of a file stops making sense, for files where it does.
    let mut broken: BTreeMap<FileId, u32> = BTreeMap::new();
    for name in &names {
        let path = normalised(&directory.join(name));
        let bytes = with.reader.read(&path)?;
        let file = sources.add(shown(&path), &bytes[..]);
        let (body, said) = formwork_syntax::parse_named(file, name, &bytes);
        if said.has_errors() {
            let errors = said.iter().filter(|d| d.is_error());
            let first = errors.filter_map(|d| d.subject).map(|r| r.start).min();
            broken.insert(file, first.unwrap_or(0));
        }
        diagnostics.append(said);
        let errors = decoding.error_count();
        let body = TOP_LEVEL.read(&body, body.range(), &mut decoding);
        stray |= decoding.error_count() > errors;
        if is_override(name) {
            overrides.push(body.blocks().to_vec());
        } else {
            base.extend(body.blocks().iter().cloned());
        }
    }
    for over in &overrides {
        overrides::apply(&mut base, over, &mut decoding);
    }
    let mut module = Module::decode(&base, &with.level, sources, &mut decoding);
    // What comes after a syntax error may only seem wrong: a brace that is missing makes blocks of a
    // module into blocks of a block. The syntax error alone is told.
    diagnostics.extend(decoding.into_iter().filter(|d| {
        let subject = d.subject.and_then(|r| Some((r, broken.get(&r.file)?)));
        subject.is_none_or(|(r, from)| r.start < *from)
    }));
    module.directory = directory.to_path_buf();
    module.has_files = !names.is_empty();
    module.is_readable &= broken.is_empty() && !stray;
    Ok(module)
}
