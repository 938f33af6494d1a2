//! Root variables: from the places where values are given to one value each.
//!
//! Values come in layers; a later layer wins over an earlier one. Terraform's order, which the caller
//! keeps, is: the environment (`TF_VAR_name`), `terraform.tfvars`, `terraform.tfvars.json`,
//! `*.auto.tfvars` and `*.auto.tfvars.json` in order of their names, then `-var` and `-var-file` in
//! the order given. A value for a variable that does not exist is nothing when it stands in the
//! environment, a warning when in a file, and an error on the command line.

use crate::module::Module;
use crate::shape::suggest;
use crate::tfvars::{GivenValue, Unsuitable};
use crate::variable::InputVariable;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Where the values of a layer were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputOrigin {
    /// `TF_VAR_*` in the environment.
    Environment,
    /// A file of values that is read unasked, by its name.
    File(String),
    /// A file of values that `-var-file` names.
    NamedFile(String),
    /// `-var`.
    CommandLine,
    /// An answer at a prompt.
    Prompt,
}

/// A value as it was given. Its debug form shows none: whether it is sensitive is only known where
/// its variable is.
#[derive(Clone)]
pub enum Given {
    /// Read from a file.
    Value(GivenValue),
    /// Text, whose meaning depends on the variable's type.
    Text(String),
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "Value(..)",
            Self::Text(_) => "Text(..)",
        })
    }
}

/// Values given in one place.
#[derive(Clone, Debug)]
pub struct InputLayer {
    /// Where.
    pub origin: InputOrigin,
    /// What, by name.
    pub values: BTreeMap<Arc<str>, Given>,
}

/// The values of the root module's variables.
#[derive(Clone, Debug, Default)]
pub struct RootVariables {
    /// By name: given values and defaults, converted, not yet marked.
    pub values: BTreeMap<Arc<str>, Value>,
    /// Required variables for which there is no value: to be asked for, or an error
    /// ([`missing_variable`]).
    pub missing: Vec<Arc<str>>,
}

/// How many undeclared names of files are told one by one.
const TOLD_ONE_BY_ONE: usize = 2;

/// Brings the layers, lowest first, to one value per variable of the root module.
pub fn root_variables(
    module: &Module,
    layers: &[InputLayer],
    sources: &mut SourceMap,
) -> Checked<RootVariables> {
    let mut diagnostics = Diagnostics::new();
    let mut all = RootVariables::default();
    disclose_undecided(module, sources);
    for v in module.variables.values() {
        match root_value(v, layers, sources, &mut diagnostics) {
            Some(value) => {
                all.values.insert(v.name.clone(), value);
            }
            None => all.missing.push(v.name.clone()),
        }
    }
    undeclared(module, layers, sources, &mut diagnostics);
    (all, diagnostics)
}

/// Discloses what files of values say of variables that are no secrets, where it could not be understood.
pub fn disclose_undecided(module: &Module, sources: &mut SourceMap) {
    sources.decide(|name| {
        let variable = module.variables.get(name);
        variable.is_some_and(|v| !v.may_be_secret())
    });
}

/// The value of one root variable, converted but not marked; `None` if none is given and there is no
/// default.
pub(crate) fn root_value(
    v: &InputVariable,
    layers: &[InputLayer],
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    let given = layers
        .iter()
        .rev()
        .find_map(|l| l.values.get(&v.name).map(|g| (&l.origin, g)));
    match given {
        Some((origin, given)) => Some(accept(v, origin, given, sources, diagnostics)),
        None => v.default.clone(),
    }
}

/// The error for a required variable without a value.
pub fn missing_variable(v: &InputVariable) -> Diagnostic {
    Diagnostic::error(
        "No value for required variable",
        format!(
            "The variable \"{}\" has no default, and no value is given for it. Give one with \
             -var=\"{}=...\", in a file named by -var-file or called terraform.tfvars, or in the \
             environment as TF_VAR_{}.",
            v.name, v.name, v.name
        ),
    )
    .at(v.range)
    .about(format_args!("var.{}", v.name))
}

/// The value, or an unknown of the variable's type where it is not suitable, which is said.
fn accept(
    v: &InputVariable,
    origin: &InputOrigin,
    given: &Given,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Value {
    let stand_in = || Value::unknown(v.constraint.ty.without_optional());
    let (value, range) = match given {
        Given::Value(g) => {
            if !v.may_be_secret() {
                sources.disclose(g.name_range.to(g.range));
            }
            (g.value.clone(), g.range)
        }
        Given::Text(text) => {
            let (value, said) = v.value_from_text(text, sources);
            let failed = said.has_errors();
            diagnostics.append(said);
            if failed {
                return stand_in();
            }
            (value, v.range)
        }
    };
    let place = match origin {
        InputOrigin::Environment => format!("the environment variable TF_VAR_{}", v.name),
        InputOrigin::File(name) | InputOrigin::NamedFile(name) => name.clone(),
        InputOrigin::CommandLine => "the command line".to_owned(),
        InputOrigin::Prompt => "the answer".to_owned(),
    };
    match v.accept(value) {
        Ok(value) => value,
        Err(Unsuitable::Null) => {
            diagnostics.push(
                Diagnostic::error(
                    "Required variable not set",
                    format!(
                        "{place} sets var.{} to null, but the variable has no default and says \
                         nullable = false.",
                        v.name
                    ),
                )
                .at(range)
                .about(format_args!("var.{}", v.name)),
            );
            stand_in()
        }
        Err(why @ Unsuitable::Type(_)) => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid value for input variable",
                    format!(
                        "The value given by {place} does not fit the type {} of var.{}: {why}.",
                        v.constraint.ty, v.name
                    ),
                )
                .at(range)
                .about(format_args!("var.{}", v.name)),
            );
            stand_in()
        }
    }
}

fn undeclared(
    module: &Module,
    layers: &[InputLayer],
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) {
    let mut in_files = 0usize;
    for layer in layers {
        for (name, given) in &layer.values {
            if module.variables.contains_key(name) {
                continue;
            }
            let names = || module.variables.keys().map(|k| &**k);
            match &layer.origin {
                InputOrigin::Environment | InputOrigin::Prompt => {}
                InputOrigin::File(file) | InputOrigin::NamedFile(file) => {
                    in_files += 1;
                    if in_files > TOLD_ONE_BY_ONE {
                        continue;
                    }
                    let d = Diagnostic::warning(
                        "Value for undeclared variable",
                        format!(
                            "{file} gives a value for \"{name}\", but the root module declares no \
                             such variable, so it has no effect."
                        ),
                    );
                    let d = match given {
                        Given::Value(g) => {
                            sources.disclose(g.name_range);
                            d.at(g.name_range)
                        }
                        Given::Text(_) => d,
                    };
                    diagnostics.push(suggest(d, name, names()));
                }
                InputOrigin::CommandLine => {
                    let d = Diagnostic::error(
                        "Value for undeclared variable",
                        format!(
                            "The command line gives a value for \"{name}\", but the root module \
                             declares no such variable."
                        ),
                    );
                    diagnostics.push(suggest(d, name, names()));
                }
            }
        }
    }
    if in_files > TOLD_ONE_BY_ONE {
        diagnostics.push(Diagnostic::warning(
            "Values for undeclared variables",
            format!(
                "{} more values are given in files for variables that the root module does not \
                 declare.",
                in_files - TOLD_ONE_BY_ONE
            ),
        ));
    }
}

/// Of a directory's file names, those whose values are read without being asked for, lowest first.
pub fn automatic_value_files<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let rank = |name: &str| match name {
        "terraform.tfvars" => Some(0),
        "terraform.tfvars.json" => Some(1),
        _ if name.starts_with('.') => None,
        _ if name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json") => Some(2),
        _ => None,
    };
    let mut found: Vec<(u8, &str)> = names
        .into_iter()
        .filter_map(|n| rank(n).map(|r| (r, n)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, n)| n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LanguageLevel, Loading, LocalModulesOnly, MemoryReader, load, parse_tfvars};
    use std::path::Path;

    fn check(text: &str, layers: &[(InputOrigin, &str)], expected: &[&str]) {
        let reader: MemoryReader = [("main.tf", text)].into_iter().collect();
        let mut sources = SourceMap::new();
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: crate::StaticInputs::default(),
        };
        let (c, d) = load(Path::new("."), &with, &mut sources);
        assert!(d.is_empty(), "{d:?}");
        let layers: Vec<_> = layers
            .iter()
            .map(|(origin, text)| {
                let values = match origin {
                    InputOrigin::File(name) => parse_tfvars(name, text.as_bytes(), &mut sources)
                        .0
                        .into_iter()
                        .map(|(k, v)| (k, Given::Value(v)))
                        .collect(),
                    _ => text
                        .split(';')
                        .filter_map(|p| p.split_once('='))
                        .map(|(k, v)| (Arc::from(k), Given::Text(v.to_owned())))
                        .collect(),
                };
                InputLayer {
                    origin: origin.clone(),
                    values,
                }
            })
            .collect();
        let root = c.root().expect("root");
        let (all, d) = root_variables(root, &layers, &mut sources);
        let mut told: Vec<String> = all
            .values
            .iter()
            .filter(|(_, v)| v.is_known())
            .map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or("?")))
            .collect();
        told.extend(all.missing.iter().map(|m| format!("missing {m}")));
        told.extend(d.iter().map(|d| {
            let place = d.subject.map_or(String::new(), |r| sources.place(r));
            format!("{place} {}", d.summary).trim().to_owned()
        }));
        assert_eq!(told, expected);
    }

    #[test]
    fn layers() {
        use InputOrigin::{CommandLine, Environment};
        let file = || InputOrigin::File("t.tfvars".to_owned());
        let text = "variable \"a\" {\n type=string\n}\nvariable \"b\" {\n default=\"d\"\n nullable=false\n}\nvariable \"l\" {\n type=list(number)\n default=[]\n}";
        check(text, &[], &["b=d", "l=?", "missing a"]);
        check(
            text,
            &[
                (Environment, "a=env;b=env;zz=1"),
                (file(), "a=\"file\"\nb=null\n"),
                (CommandLine, "l=[1]"),
            ],
            &["a=file", "b=d", "l=?"],
        );
        check(
            text,
            &[(file(), "a=[]\nq=1\nr=2\ns=3\n"), (CommandLine, "aa=1;l=x")],
            &[
                "b=d",
                "t.tfvars:1:3 Invalid value for input variable",
                "<value for var.l>:1:1 Variables not allowed",
                "t.tfvars:2:1 Value for undeclared variable",
                "t.tfvars:3:1 Value for undeclared variable",
                "Value for undeclared variable",
                "Values for undeclared variables",
            ],
        );
        check(
            "variable \"n\" {\n nullable=false\n}",
            &[(file(), "n=null")],
            &["t.tfvars:1:3 Required variable not set"],
        );
    }

    #[test]
    fn files_in_order() {
        assert_eq!(
            automatic_value_files([
                "z.auto.tfvars",
                "a.auto.tfvars.json",
                "x.tfvars",
                "terraform.tfvars.json",
                "terraform.tfvars",
                ".b.auto.tfvars"
            ]),
            [
                "terraform.tfvars",
                "terraform.tfvars.json",
                "a.auto.tfvars.json",
                "z.auto.tfvars"
            ]
        );
    }
}
