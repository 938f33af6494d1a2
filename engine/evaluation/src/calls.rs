//! Provider functions: answers that must be fetched, remembered for the run.

use crate::reading::Reading;
use crate::terraform_functions;
use async_trait::async_trait;
use formwork_addresses::ProviderAddr;
use formwork_configuration::Module;
use formwork_diagnostics::Diagnostics;
use formwork_eval::{Builtins, Call, CallError, CallId, Functions, Outcome, Parameter, Signature};
use formwork_provider_schema::{FunctionParameter, FunctionSignature};
use formwork_values::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Who answers calls of provider functions: planner, apply and ops hand one in.
#[async_trait]
pub trait ProviderFunctions: Send + Sync {
    /// The signature of a function; `None` if the provider or the function is not there.
    fn signature(&self, provider: &ProviderAddr, name: &str) -> Option<Arc<FunctionSignature>>;

    /// Names of a provider's functions.
    fn names(&self, provider: &ProviderAddr) -> Vec<Arc<str>>;

    /// Calls a function; arguments are converted and without marks.
    ///
    /// # Errors
    /// Why it failed, and with which argument.
    async fn call(
        &self,
        provider: &ProviderAddr,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<(Value, Diagnostics), (Option<usize>, String)>;
}

/// No providers at all.
#[async_trait]
impl ProviderFunctions for () {
    fn signature(&self, _provider: &ProviderAddr, _name: &str) -> Option<Arc<FunctionSignature>> {
        None
    }

    fn names(&self, _provider: &ProviderAddr) -> Vec<Arc<str>> {
        Vec::new()
    }

    async fn call(
        &self,
        _provider: &ProviderAddr,
        _name: &str,
        _arguments: Vec<Value>,
    ) -> Result<(Value, Diagnostics), (Option<usize>, String)> {
        Err((None, "There are no providers here.".to_owned()))
    }
}

type Question = (ProviderAddr, Arc<str>, Vec<Value>);

#[derive(Clone)]
enum Answer {
    Value(Value, Diagnostics),
    Failed(CallError),
}

#[derive(Default)]
struct Table {
    ids: HashMap<Question, CallId>,
    questions: Vec<Question>,
    answers: HashMap<CallId, Answer>,
    /// Whether a call's warnings have been handed out: they are said once.
    warned: std::collections::HashSet<CallId>,
}

/// The calls of a run and their answers. The same question always has the same answer.
pub struct Calls {
    providers: Arc<dyn ProviderFunctions>,
    table: Mutex<Table>,
}

impl Calls {
    /// Nothing asked yet.
    pub fn new(providers: Arc<dyn ProviderFunctions>) -> Self {
        Self {
            providers,
            table: Mutex::default(),
        }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, question: Question) -> Outcome {
        let mut table = self.table();
        let id = match table.ids.get(&question) {
            Some(id) => *id,
            None => {
                let id = CallId(table.questions.len() as u64);
                table.questions.push(question.clone());
                table.ids.insert(question, id);
                id
            }
        };
        let answer = table.answers.get(&id).cloned();
        match answer {
            None => Outcome::Pending(id),
            Some(Answer::Failed(e)) => Outcome::Failed(e),
            Some(Answer::Value(value, warnings)) => {
                let warnings = if warnings.is_empty() || table.warned.contains(&id) {
                    Diagnostics::new()
                } else {
                    warnings
                };
                Outcome::Value(value, warnings)
            }
        }
    }

    /// Fetches the answers of these calls.
    pub async fn fetch(&self, ids: &[CallId]) {
        for id in ids {
            let question = {
                let table = self.table();
                if table.answers.contains_key(id) {
                    continue;
                }
                usize::try_from(id.0)
                    .ok()
                    .and_then(|i| table.questions.get(i).cloned())
            };
            let Some((provider, name, arguments)) = question else {
                continue;
            };
            let answer = match self.providers.call(&provider, &name, arguments).await {
                Ok((value, warnings)) => Answer::Value(value, warnings),
                Err((argument, detail)) => Answer::Failed(CallError { argument, detail }),
            };
            self.table().answers.insert(*id, answer);
        }
    }

    /// Reads until nothing is pending, and gives the last reading.
    pub async fn settled<T>(&self, mut read: impl FnMut(&mut Reading) -> T) -> (T, Diagnostics) {
        loop {
            let mut reading = Reading::new();
            let value = read(&mut reading);
            if reading.pending.is_empty() {
                return (value, reading.diagnostics);
            }
            self.fetch(&reading.pending).await;
        }
    }
}

/// The functions that can be called in a module: the language's, and those of the providers that it
/// requires, by their local names.
pub struct ModuleFunctions<'e> {
    builtins: &'e Builtins,
    calls: &'e Calls,
    module: &'e Module,
}

impl<'e> ModuleFunctions<'e> {
    pub(crate) fn new(builtins: &'e Builtins, calls: &'e Calls, module: &'e Module) -> Self {
        Self {
            builtins,
            calls,
            module,
        }
    }

    /// The provider and function that `provider::LOCAL::NAME` means.
    fn provider_function<'n>(&self, name: &'n str) -> Option<(ProviderAddr, &'n str)> {
        let (local, function) = name.strip_prefix("provider::")?.split_once("::")?;
        Some((self.module.provider_of_name(local), function))
    }
}

impl Functions for ModuleFunctions<'_> {
    fn signature(&self, name: &str) -> Option<Arc<Signature>> {
        let Some((provider, function)) = self.provider_function(name) else {
            return self.builtins.signature(name);
        };
        self.calls
            .providers
            .signature(&provider, function)
            .map(|s| Arc::new(signature(name, &s)))
    }

    fn call(&self, call: &Call<'_>) -> Outcome {
        match self.provider_function(call.name) {
            None => self.builtins.call(call),
            Some((provider, function)) => {
                if provider.to_string() == terraform_functions::PROVIDER
                    && let Some(answer) = terraform_functions::call(function, call.arguments)
                {
                    return answer;
                }
                self.calls
                    .ask((provider, Arc::from(function), call.arguments.to_vec()))
            }
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        let mut names = self.builtins.names();
        for local in self.module.requirements.keys() {
            let provider = self.module.provider_of_name(local);
            names.extend(
                self.calls
                    .providers
                    .names(&provider)
                    .iter()
                    .map(|f| Arc::from(format!("provider::{local}::{f}"))),
            );
        }
        names
    }
}

fn signature(name: &str, s: &FunctionSignature) -> Signature {
    Signature {
        name: Arc::from(name),
        parameters: s.parameters.iter().map(parameter).collect(),
        variadic: s.variadic.as_ref().map(parameter),
        returns: s.return_type.clone(),
        may_answer_null: true,
    }
}

fn parameter(p: &FunctionParameter) -> Parameter {
    Parameter {
        name: p.name.clone(),
        ty: p.ty.clone(),
        nullable: p.allow_null,
        takes_unknown: p.allow_unknown,
        takes_marks: false,
    }
}
