//! A provider that is not there: it has a real one's schemas and makes up what the real one would
//! compute.
//!
//! What the configuration leaves out and a provider may set is taken from the test's values, or made up
//! where they say nothing: eight random letters and digits for a text, 0, false, and empty collections.
//! Objects stay as they were made: nothing is read and nothing ever has to be replaced.

use async_trait::async_trait;
use formwork_configuration::MockProvider;
use formwork_diagnostics::Diagnostic;
use formwork_diagnostics::Diagnostics;
use formwork_environment::Randomness;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, MoveRequest, MoveResponse, OpenRequest, OpenResponse,
    OperationLog, PendingOperation, PlanRequest, PlanResponse, Provider, ReadDataRequest,
    ReadDataResponse, ReadRequest, ReadResponse, Reported, Settlement, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateRequest, unsupported,
};
use formwork_provider_schema::{Block, Field, NestedBlock, Schema, SchemaSource};
use formwork_values::{Kind, Path, Type, Value, convert};
use std::sync::Arc;

/// Where made-up values come from.
pub(super) enum Values {
    /// A mocked provider's defaults, by type.
    Defaults(Arc<MockProvider>),
    /// The values of one override.
    Override {
        /// An object.
        values: Value,
        /// Whether they are known when planning.
        during_plan: bool,
    },
}

/// Stands in for a provider, or for one instance of what it handles.
pub(super) struct Mocked {
    /// The provider that it stands in for, not configured.
    pub real: Arc<dyn Provider>,
    pub schemas: Arc<dyn SchemaSource>,
    pub values: Values,
    pub randomness: Arc<dyn Randomness>,
}

/// Which computed attributes are filled in, and with what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// Those that are null, with unknown values.
    Unknown,
    /// Those that are null, with values.
    Null,
    /// Those that are unknown, with values.
    Missing,
}

impl Mocked {
    /// The values for objects of a type, and whether they are known when planning.
    fn given(&self, data: bool, kind: &str) -> (Option<&Value>, bool) {
        match &self.values {
            Values::Override {
                values,
                during_plan,
            } => (Some(values), *during_plan),
            Values::Defaults(mock) => {
                let all = if data { &mock.data } else { &mock.resources };
                match all.get(kind) {
                    Some(d) => (Some(&d.values), d.during_plan.unwrap_or(mock.during_plan)),
                    None => (None, mock.during_plan),
                }
            }
        }
    }

    fn fill(
        &self,
        block: &Block,
        value: &Value,
        given: Option<&Value>,
        fill: Fill,
        at: &Path,
    ) -> Result<Value, Box<Reported>> {
        let Kind::Object(ty, values) = value.kind() else {
            return Ok(value.clone());
        };
        // What is of any type in the schema has a type of its own in the value.
        if ty.names() != block.object_type().names() {
            return Ok(value.clone());
        }
        let mut filled = Vec::with_capacity(values.len());
        for ((name, field), value) in block.iter().zip(values) {
            let given = given.and_then(|g| entry(g, name));
            let at = at.clone().attribute(&**name);
            filled.push(match field {
                Field::Attribute(a) => {
                    let wanted = match fill {
                        Fill::Unknown | Fill::Null => value.is_known() && value.is_null(),
                        Fill::Missing => !value.is_known(),
                    };
                    match a.as_nested() {
                        _ if a.write_only => value.clone(),
                        _ if a.computed && wanted => match fill {
                            Fill::Unknown => Value::unknown(a.ty().without_optional()),
                            _ => self
                                .make(&a.ty().without_optional(), given)
                                .map_err(|why| failed(&at, &why))?,
                        },
                        Some(nested) if value.is_known() && !value.is_null() => {
                            let one = |v: &Value, g: Option<&Value>| {
                                self.fill(&nested.object, v, g, fill, &at)
                            };
                            each(value, given, &nested.object.ty(), one)?
                        }
                        _ => value.clone(),
                    }
                }
                Field::Block(nested) => self.fill_blocks(nested, value, given, fill, &at)?,
            });
        }
        if *ty == *block.object_type() {
            return Ok(Value::object_of(ty.clone(), filled));
        }
        let names = ty.names().iter().cloned();
        Ok(Value::object(names.zip(filled).collect::<Vec<_>>()))
    }

    fn fill_blocks(
        &self,
        nested: &NestedBlock,
        value: &Value,
        given: Option<&Value>,
        fill: Fill,
        at: &Path,
    ) -> Result<Value, Box<Reported>> {
        let one = |v: &Value, g: Option<&Value>| self.fill(&nested.block, v, g, fill, at);
        each(value, given, &nested.block.ty(), one)
    }

    /// A value of a type: what is given, as far as it goes, and made up for the rest.
    fn make(&self, ty: &Type, given: Option<&Value>) -> Result<Value, String> {
        let Some(given) = given else {
            return Ok(self.make_up(ty));
        };
        if given.is_null() {
            return Ok(Value::null(ty.clone()));
        }
        let elements = || given.elements().map(|e| e.into_iter().map(|(_, v)| v));
        let many = |element: &Type| -> Option<Result<Vec<Value>, String>> {
            matches!(element, Type::Object(_)).then_some(())?;
            let elements = elements()?;
            Some(elements.map(|v| self.make(element, Some(&v))).collect())
        };
        match ty {
            Type::Object(object) if keyed(given) => {
                let mut values = Vec::with_capacity(object.names().len());
                for (name, ty) in object.names().iter().zip(object.types()) {
                    values.push(self.make(ty, entry(given, name))?);
                }
                Ok(Value::object_of(object.clone(), values))
            }
            Type::List(element) | Type::Set(element) if !keyed(given) => match many(element) {
                Some(values) if matches!(ty, Type::List(_)) => {
                    Ok(Value::list((**element).clone(), values?))
                }
                Some(values) => Ok(Value::set((**element).clone(), values?)),
                None => convert(given.clone(), ty).map_err(|e| e.to_string()),
            },
            _ => convert(given.clone(), ty).map_err(|e| e.to_string()),
        }
    }

    fn make_up(&self, ty: &Type) -> Value {
        match ty {
            Type::String => Value::string(self.text()),
            Type::Number => Value::int(0),
            Type::Bool => Value::bool(false),
            Type::List(element) => Value::list((**element).clone(), Vec::new()),
            Type::Set(element) => Value::set((**element).clone(), Vec::new()),
            Type::Map(element) => Value::map((**element).clone(), Vec::<(Arc<str>, Value)>::new()),
            Type::Object(object) => Value::object_of(
                object.clone(),
                object.types().iter().map(|t| self.make_up(t)).collect(),
            ),
            Type::Tuple(types) => Value::tuple(types.iter().map(|t| self.make_up(t)).collect()),
            other => Value::null(other.clone()),
        }
    }

    /// Eight letters and digits.
    fn text(&self) -> String {
        const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut bytes = [0u8; 8];
        self.randomness.fill(&mut bytes);
        bytes
            .iter()
            .filter_map(|b| ALPHABET.get(usize::from(*b) % ALPHABET.len()))
            .map(|b| char::from(*b))
            .collect()
    }

    fn schema(&self, data: bool, kind: &str) -> Option<Arc<Schema>> {
        if data {
            self.schemas.data_source(kind)
        } else {
            self.schemas.resource(kind)
        }
    }
}

/// Every element of what a nested block or attribute holds, done by `one`.
fn each(
    value: &Value,
    given: Option<&Value>,
    ty: &Type,
    one: impl Fn(&Value, Option<&Value>) -> Result<Value, Box<Reported>>,
) -> Result<Value, Box<Reported>> {
    // What is given for one object is given for each of them; a list is given in its order.
    let of = |index: usize| match given {
        Some(g) if keyed(g) => Some(g.clone()),
        Some(g) => g
            .elements()
            .and_then(|e| e.into_iter().nth(index).map(|(_, v)| v)),
        None => None,
    };
    let all = |values: &[Value]| -> Result<Vec<Value>, Box<Reported>> {
        let indexed = values.iter().enumerate();
        indexed.map(|(i, v)| one(v, of(i).as_ref())).collect()
    };
    Ok(match value.kind() {
        Kind::List(values) => Value::list(ty.clone(), all(values)?),
        Kind::Set(values) => {
            let values = values.to_vec();
            Value::set(ty.clone(), all(&values)?)
        }
        Kind::Tuple(values) => Value::tuple(all(values)?),
        Kind::Map(entries) => {
            let mut made = Vec::with_capacity(entries.len());
            for (key, v) in entries.iter() {
                let of_key = given.and_then(|g| entry(g, key));
                made.push((key.clone(), one(v, of_key)?));
            }
            Value::map(ty.clone(), made)
        }
        Kind::Object(..) => one(value, given)?,
        _ => value.clone(),
    })
}

/// Whether a value has entries by name.
fn keyed(value: &Value) -> bool {
    matches!(value.kind(), Kind::Object(..) | Kind::Map(_))
}

/// What an object or a map of values has under a name.
fn entry<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value.kind() {
        Kind::Map(entries) => entries.iter().find(|(k, _)| &**k == name).map(|(_, v)| v),
        _ => value.attribute(name),
    }
}

fn failed(at: &Path, why: &str) -> Box<Reported> {
    let name = at.to_string();
    Box::new(Reported::whole(Diagnostic::error(
        "Failed to compute attribute",
        format!(
            "The test gives {} a value that does not fit its type in the schema: {why}.",
            name.trim_start_matches('.')
        ),
    )))
}

fn no_type(kind: &str) -> Reported {
    unsupported("mocking", kind)
}

#[async_trait]
impl Provider for Mocked {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(self.schemas.clone())
    }

    fn version(&self) -> String {
        self.real.version()
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, _request: ConfigureRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        self.real.validate_resource_config(request).await
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        self.real.validate_data_config(request).await
    }

    async fn validate_ephemeral_config(&self, request: ValidateRequest) -> Vec<Reported> {
        self.real.validate_ephemeral_config(request).await
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let mut response = PlanResponse {
            planned: request.proposed.clone(),
            requires_replace: Vec::new(),
            private: Bytes::from([]),
            legacy_type_system: false,
            deferred: None,
            reported: Vec::new(),
            identity: None,
        };
        // Of what is there, everything that is computed stays.
        if request.proposed.is_null() || !request.prior.is_null() {
            return response;
        }
        let Some(schema) = self.schema(false, &request.kind) else {
            response.reported.push(no_type(&request.kind));
            return response;
        };
        let (given, during_plan) = self.given(false, &request.kind);
        let fill = if during_plan {
            Fill::Null
        } else {
            Fill::Unknown
        };
        match self.fill(&schema.block, &request.proposed, given, fill, &Path::ROOT) {
            Ok(planned) => response.planned = planned,
            Err(why) => response.reported.push(*why),
        }
        response
    }

    fn keeps_notes(&self) -> bool {
        true
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        _log: &dyn OperationLog,
    ) -> ApplyResponse {
        let mut response = ApplyResponse {
            new: request.planned.clone(),
            private: Bytes::from([]),
            legacy_type_system: false,
            outcome_unknown: false,
            reported: Vec::new(),
            identity: None,
        };
        if request.planned.is_null() {
            return response;
        }
        let Some(schema) = self.schema(false, &request.kind) else {
            response.reported.push(no_type(&request.kind));
            return response;
        };
        let (given, _) = self.given(false, &request.kind);
        let missing = Fill::Missing;
        match self.fill(&schema.block, &request.planned, given, missing, &Path::ROOT) {
            Ok(new) => response.new = new,
            Err(why) => {
                response.new = request.prior;
                response.reported.push(*why);
            }
        }
        response
    }

    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        // Nothing that it does outlives the call.
        Settlement::NotDone
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        ReadResponse {
            new: request.current,
            private: request.private,
            deferred: None,
            reported: Vec::new(),
            identity: None,
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let mut response = ReadDataResponse {
            state: request.config.clone(),
            deferred: None,
            reported: Vec::new(),
        };
        let Some(schema) = self.schema(true, &request.kind) else {
            response.reported.push(no_type(&request.kind));
            return response;
        };
        let (given, _) = self.given(true, &request.kind);
        match self.fill(
            &schema.block,
            &request.config,
            given,
            Fill::Null,
            &Path::ROOT,
        ) {
            Ok(state) => response.state = state,
            Err(why) => response.reported.push(*why),
        }
        response
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        let Some(schema) = self.schemas.ephemeral_resource(&request.kind) else {
            return OpenResponse::unsupported(&request.kind);
        };
        match self.fill(
            &schema.block,
            &request.config,
            None,
            Fill::Null,
            &Path::ROOT,
        ) {
            Ok(result) => OpenResponse {
                result,
                private: Bytes::from([]),
                renew_at: None,
                reported: Vec::new(),
            },
            Err(why) => OpenResponse {
                reported: vec![*why],
                ..OpenResponse::unsupported(&request.kind)
            },
        }
    }

    async fn close_ephemeral_resource(&self, _kind: &str, _private: Bytes) -> Vec<Reported> {
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        self.real.upgrade_resource_state(request).await
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        Err(vec![unsupported("importing", &request.kind)])
    }

    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> UpgradeIdentityResponse {
        self.real.upgrade_resource_identity(request).await
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.real.move_resource_state(request).await
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        self.real.call_function(request).await
    }

    fn function_warnings(&self, request: &CallFunctionRequest) -> Diagnostics {
        self.real.function_warnings(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_builtin::BuiltinProvider;
    use formwork_environment::{Environment, Fixed};
    use formwork_provider_schema::{Attribute, AttributeNesting, BlockNesting, ProviderSchema};
    use formwork_state::{RawJson, StateBytes, StateReadError, StateReader};

    struct NoStates;

    #[async_trait]
    impl StateReader for NoStates {
        async fn read_state(
            &self,
            _backend: &str,
            _workspace: Option<&str>,
            _config: &RawJson,
        ) -> Result<Option<StateBytes>, StateReadError> {
            Ok(None)
        }
    }

    fn mocked(values: Values) -> Mocked {
        let fixed = Arc::new(Fixed::new(0, 1));
        let environment = Environment {
            variables: Default::default(),
            home: None,
            working: "/w".into(),
            temporary: "/t".into(),
            who: String::new(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed.clone(),
        };
        Mocked {
            real: Arc::new(BuiltinProvider::new(environment, Arc::new(NoStates))),
            schemas: Arc::new(ProviderSchema::default()),
            values,
            randomness: fixed,
        }
    }

    fn given(values: Value) -> Mocked {
        mocked(Values::Override {
            values,
            during_plan: false,
        })
    }

    /// A schema with everything in it that is filled in differently.
    fn block() -> Block {
        let inner = Arc::new(Block::of_attributes([
            ("on", Attribute::new(Type::Bool).optional()),
            ("port", Attribute::new(Type::Number).computed()),
        ]));
        let pair = Type::Object(Arc::new(formwork_values::ObjectType::new([
            (Arc::from("a"), Type::String),
            (Arc::from("b"), Type::Number),
        ])));
        let computed = |ty| Attribute::new(ty).computed();
        Block::new(
            [
                ("name", Attribute::new(Type::String).required()),
                ("id", computed(Type::String)),
                ("size", Attribute::new(Type::Number).optional().computed()),
                ("flag", computed(Type::Bool)),
                ("list", computed(Type::list(Type::String))),
                ("pairs", computed(Type::list(pair.clone()))),
                ("pair", computed(pair)),
                ("any", computed(Type::Dynamic)),
                (
                    "nested",
                    Attribute::nested(AttributeNesting::List, inner.clone()).optional(),
                ),
            ],
            [("door", NestedBlock::new(BlockNesting::List, inner))],
        )
    }

    fn config(block: &Block, door: bool) -> Value {
        let one = Value::object([
            ("on", Value::bool(true)),
            ("port", Value::null(Type::Number)),
        ]);
        let empty = block.empty_value();
        let Kind::Object(ty, values) = empty.kind() else {
            panic!("an object");
        };
        let values = ty
            .names()
            .iter()
            .zip(values.iter())
            .map(|(name, v)| match &**name {
                "name" => Value::string("n"),
                "nested" | "door" if door => Value::list(one.type_of(), vec![one.clone()]),
                _ => v.clone(),
            });
        Value::object_of(ty.clone(), values.collect())
    }

    fn shown(value: &Value, name: &str) -> String {
        formwork_values::print::console(value.attribute(name).expect("an attribute"))
    }

    #[test]
    fn what_nothing_is_said_of_is_made_up() {
        let block = block();
        let mock = given(Value::object(Vec::<(Arc<str>, Value)>::new()));
        let config = config(&block, true);
        let planned = mock.fill(&block, &config, None, Fill::Unknown, &Path::ROOT);
        let planned = planned.map_err(|_| ()).expect("planned");
        for unknown in ["id", "size", "flag", "list", "pairs", "pair", "any"] {
            assert_eq!(shown(&planned, unknown), "(known after apply)", "{unknown}");
        }
        assert_eq!(shown(&planned, "name"), "\"n\"");
        let made = mock.fill(&block, &planned, None, Fill::Missing, &Path::ROOT);
        let made = made.map_err(|_| ()).expect("made");
        assert!(made.is_wholly_known());
        let id = made
            .attribute("id")
            .and_then(Value::as_str)
            .expect("a text");
        assert!(
            id.len() == 8
                && id
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        );
        for (name, want) in [
            ("size", "0"),
            ("flag", "false"),
            ("list", "tolist([])"),
            ("any", "null"),
        ] {
            assert_eq!(shown(&made, name), want, "{name}");
        }
        // Within what is configured, what is computed is filled in too.
        for name in ["nested", "door"] {
            let text = shown(&made, name).replace([' ', '\n'], "");
            assert_eq!(text, "tolist([{\"on\"=true\"port\"=0},])", "{name}");
        }
    }

    #[test]
    fn what_is_given_comes_first() {
        let block = block();
        let pair = Value::object([("a", Value::string("x"))]);
        let values = Value::object([
            ("id", Value::string("i")),
            ("size", Value::string("12")),
            ("pair", pair.clone()),
            ("pairs", Value::tuple(vec![pair.clone(), pair])),
            ("door", Value::object([("port", Value::int(80))])),
            ("name", Value::string("ignored")),
        ]);
        let mock = given(values.clone());
        let config = config(&block, true);
        let made = mock.fill(&block, &config, Some(&values), Fill::Null, &Path::ROOT);
        let made = made.map_err(|_| ()).expect("made");
        assert_eq!(shown(&made, "id"), "\"i\"");
        assert_eq!(shown(&made, "size"), "12");
        assert_eq!(shown(&made, "name"), "\"n\"");
        // The rest of an object is made up.
        let of_pair = made.attribute("pair").expect("a pair");
        assert_eq!(
            (&*shown(of_pair, "a"), &*shown(of_pair, "b")),
            ("\"x\"", "0")
        );
        let pairs = made.attribute("pairs").expect("pairs");
        assert_eq!(pairs.as_sequence().map(<[Value]>::len), Some(2));
        // What is given for a block is given for each.
        assert!(shown(&made, "door").contains("80"));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let block = block();
        let values = Value::object([("size", Value::string("twelve"))]);
        let mock = given(values.clone());
        let config = config(&block, false);
        let made = mock.fill(&block, &config, Some(&values), Fill::Null, &Path::ROOT);
        let said = made.map(|_| ()).expect_err("it does not fit").diagnostic;
        assert_eq!(said.summary, "Failed to compute attribute");
        assert!(
            said.detail.contains("gives size a value"),
            "{}",
            said.detail
        );
    }
}
