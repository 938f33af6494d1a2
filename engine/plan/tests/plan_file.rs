//! The plan file: what is written is read back exactly, and nothing else is read at all.
//!
//! Plans are generated from a fixed seed; how many follows `FORMWORK_TEST_BUDGET` (seconds, default
//! 10, of which this takes a small share).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)] // a test

use formwork_addresses::{AbsProviderConfig, AbsResourceInstance, DeposedKey};
use formwork_plan::{
    Action, ActionReason, Alternative, CheckKind, CheckObject, CheckResult, CheckStatus,
    DeferredChange, DeferredReason, ExecutionGraph, FORMAT_VERSION, FilesRead, Identities,
    Importing, ModuleFolder, NodeId, OperationKind, OutputChange, Plan, PlanFileError, PlanMode,
    PlannedKeys, PlannedProvider, PlannedVariable, Prior, ResourceInstanceChange, SourceText,
    decode, encode,
};
use formwork_values::{Deprecation, Mark, Marks, Number, Origin, Path, Refinement, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A small deterministic generator (xorshift), so that a failure names its seed.
struct Source(u64);

impl Source {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    fn some<T>(&mut self, most: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> String {
        self.pick(&["a", "b", "c", "größe", "a b", "", "1", "\"${x}\n"])
            .to_owned()
    }

    fn bytes(&mut self) -> Arc<[u8]> {
        self.some(40, |s| s.next() as u8).into()
    }

    fn address(&mut self) -> AbsResourceInstance {
        let module = self.pick(&["", "module.m.", "module.m[3].module.n[\"a.[\\\"]\"]."]);
        let mode = self.pick(&["", "data."]);
        let key = self.pick(&["", "[0]", "[-3]", "[\"\"]", "[\"é $${x} \\n\"]"]);
        format!("{module}{mode}google_compute_network.n-1{key}")
            .parse()
            .unwrap()
    }

    fn provider(&mut self) -> AbsProviderConfig {
        self.pick(&[
            "provider[\"registry.terraform.io/hashicorp/google\"]",
            "provider[\"registry.terraform.io/hashicorp/google\"].east",
            "module.a.module.b.provider[\"terraform.io/builtin/terraform\"]",
            "provider[\"registry.terraform.io/hashicorp/google\"].in[\"a \\\"].b\"]",
        ])
        .parse()
        .unwrap()
    }

    fn number(&mut self) -> Number {
        match self.below(8) {
            0 => Number::literal(self.next() as i64 >> self.below(60)),
            1 => Number::from_f64(f64::from_bits(self.next())).unwrap_or(Number::ONE),
            2 => Number::parse(&format!("{}.{}", self.below(1000), self.next())).unwrap(),
            3 => Number::parse(&format!("-{}{}", self.next(), self.next())).unwrap(),
            4 => Number::parse(&format!("{}e-{}", self.next(), self.below(300))).unwrap(),
            5 => Number::from(self.below(5) as i64),
            6 => Number::parse("-0").unwrap(),
            _ => Number::infinity(),
        }
    }

    fn ty(&mut self, depth: u32) -> Type {
        let n = if depth == 0 { 5 } else { 10 };
        match self.below(n) {
            0 => Type::Bool,
            1 | 2 => Type::String,
            3 => Type::Number,
            4 => Type::Dynamic,
            5 => Type::list(self.ty(depth - 1)),
            6 => Type::set(self.ty(depth - 1)),
            7 => Type::map(self.ty(depth - 1)),
            8 => {
                let all = self.some(4, |s| (s.name(), s.ty(depth - 1)));
                Type::object(all)
            }
            _ => Type::tuple(self.some(4, |s| s.ty(depth - 1))),
        }
    }

    fn path(&mut self, depth: u32) -> Path {
        let mut path = Path::ROOT;
        for _ in 0..self.below(4) {
            path = match self.below(4) {
                0 => path.attribute(self.name()),
                1 => path.position(self.below(300) as usize),
                2 => path.key(self.name()),
                _ => path.index(self.value_of_any(depth)),
            };
        }
        path
    }

    fn value_of_any(&mut self, depth: u32) -> Value {
        let ty = self.ty(depth.min(2));
        self.value(&ty, depth)
    }

    fn refinement(&mut self) -> Refinement {
        match self.below(3) {
            0 => Refinement::NONE,
            1 => Refinement::NOT_NULL,
            _ => Refinement {
                not_null: self.coin(),
                prefix: self.maybe(|s| s.pick(&["pre-", "größe"]).into()),
                lower: self.maybe(|s| (s.number(), s.coin())),
                upper: self.maybe(|s| (s.number(), s.coin())),
                min_length: self.below(3),
                max_length: self.maybe(|s| s.below(300)),
            },
        }
    }

    /// `depth` bounds the values inside paths of origins inside values.
    fn value(&mut self, ty: &Type, depth: u32) -> Value {
        let value = match self.below(10) {
            0 => Value::null(ty.clone()),
            1 | 2 => {
                let value = Value::unknown_with(ty.clone(), self.refinement());
                if depth > 0 && self.coin() {
                    value.with_origin(&Arc::new(Origin {
                        address: self.address().into(),
                        path: self.path(depth - 1),
                    }))
                } else {
                    value
                }
            }
            _ => match ty {
                Type::Dynamic => {
                    let ty = self.ty(1);
                    if ty.has_dynamic() {
                        Value::dynamic()
                    } else {
                        self.value(&ty, depth)
                    }
                }
                Type::Bool => Value::bool(self.coin()),
                Type::Number => Value::number(self.number()),
                Type::String => Value::string(self.name()),
                Type::List(e) => Value::list((**e).clone(), self.some(3, |s| s.value(e, depth))),
                Type::Set(e) => Value::set((**e).clone(), self.some(3, |s| s.value(e, depth))),
                Type::Map(e) => Value::map(
                    (**e).clone(),
                    self.some(3, |s| (s.name(), s.value(e, depth))),
                ),
                Type::Object(o) => Value::object_of(
                    o.clone(),
                    o.types().iter().map(|t| self.value(t, depth)).collect(),
                ),
                Type::Tuple(ts) => Value::tuple(ts.iter().map(|t| self.value(t, depth)).collect()),
            },
        };
        match self.below(8) {
            0 => value.sensitive(),
            1 => value.mark(Mark::Deprecated(Arc::new(Deprecation {
                source: self.name().into(),
                message: self.name().into(),
            }))),
            _ => value,
        }
    }

    fn change(&mut self) -> ResourceInstanceChange {
        let ty = self.ty(3);
        let before = self.value(&ty, 2);
        ResourceInstanceChange {
            address: self.address(),
            previous_address: self.maybe(Self::address),
            deposed: self.maybe(|s| DeposedKey::from_bytes((s.next() as u32).to_be_bytes())),
            provider: self.provider(),
            action: self.pick(&Action::ALL),
            reason: self.maybe(|s| s.pick(&ActionReason::ALL)),
            after: if self.coin() {
                before.clone()
            } else {
                self.value(&ty, 2)
            },
            before,
            replace_paths: self.some(2, |s| s.path(1)),
            planned_private: self.bytes(),
            schema_version: self.below(3),
            dependencies: self.some(3, |s| s.address().abs_resource()),
            create_before_destroy: self.coin(),
            importing: self.maybe(|s| Importing {
                id: s.name(),
                identity: s.maybe(Self::name),
                generated: s.maybe(Self::name),
            }),
            legacy_type_system: self.coin(),
            identity: Identities {
                before: self.maybe(Self::name).map(Arc::from),
                after: self.maybe(Self::name).map(Arc::from),
            },
        }
    }

    fn status(&mut self) -> CheckStatus {
        self.pick(&[
            CheckStatus::Pass,
            CheckStatus::Unknown,
            CheckStatus::Fail,
            CheckStatus::Error,
        ])
    }

    fn keys(&mut self) -> PlannedKeys {
        match self.below(4) {
            0 => PlannedKeys::Single,
            3 => PlannedKeys::Disabled,
            1 => PlannedKeys::Count(self.next() >> self.below(64)),
            _ => PlannedKeys::Keys(self.some(3, |s| s.name().into())),
        }
    }

    fn operation(&mut self) -> OperationKind {
        let (address, name) = (self.address(), self.name());
        match self.below(11) {
            0 => OperationKind::Join(name),
            1 => OperationKind::ConfigureProvider(self.provider()),
            2 => OperationKind::ReadData(address),
            3 => OperationKind::Make(address),
            4 => OperationKind::Destroy(address),
            5 => OperationKind::DestroyDeposed(address, DeposedKey::from_bytes([1, 2, 3, 4])),
            6 => OperationKind::Forget(address),
            7 => OperationKind::OpenEphemeral("ephemeral.a.b[0]".parse().unwrap()),
            8 => OperationKind::CloseEphemeral("ephemeral.a.b[0]".parse().unwrap()),
            9 => OperationKind::Check(name),
            _ => OperationKind::Output(name),
        }
    }

    fn plan(&mut self) -> Plan {
        let mut plan = Plan {
            mode: self.pick(&[PlanMode::Normal, PlanMode::Destroy, PlanMode::RefreshOnly]),
            targets: self.some(2, Self::name),
            sources: self.some(2, |s| SourceText {
                name: s.name(),
                bytes: s.bytes(),
            }),
            folders: self.some(2, |s| ModuleFolder {
                module: s
                    .pick(&[&[][..], &["a"], &["a", "b-1"]])
                    .iter()
                    .copied()
                    .collect(),
                folder: s.name(),
            }),
            files: FilesRead {
                contents: self
                    .some(2, |s| (s.name(), s.bytes()))
                    .into_iter()
                    .collect(),
                exists: self.some(2, |s| (s.name(), s.coin())).into_iter().collect(),
                listings: self
                    .some(2, |s| {
                        let entries = s.some(2, |s| (s.name(), s.coin(), s.coin()));
                        (s.name(), entries)
                    })
                    .into_iter()
                    .collect(),
            },
            variables: BTreeMap::new(),
            providers: self.some(2, |s| PlannedProvider {
                config: s.provider(),
                version: s.name(),
                schema_hash: s.name(),
            }),
            lock_file: self.maybe(Self::bytes),
            prior: Prior {
                lineage: self.name(),
                serial: self.next(),
                cloud: self.maybe(Self::name),
                refreshed: self.bytes().to_vec().into(),
                hash: self.name(),
            },
            tool_version: self.name(),
            language_version: self.name(),
            timestamp: self.name(),
            complete: self.coin(),
            applyable: self.coin(),
            errored: self.coin(),
            changes: self.some(4, Self::change),
            not_read: self.maybe(Self::next),
            deferred: self.some(2, |s| DeferredChange {
                address: s.name(),
                module: s.name(),
                key_unknown: s.coin(),
                reason: s.pick(&[
                    DeferredReason::InstanceCountUnknown,
                    DeferredReason::ResourceConfigUnknown,
                    DeferredReason::ProviderConfigUnknown,
                    DeferredReason::AbsentPrerequisite,
                    DeferredReason::DeferredPrerequisite,
                ]),
                waits_for: s.some(2, Self::name),
                change: s.change(),
            }),
            deferred_outputs: self.some(2, Self::name),
            drift: self.some(2, Self::change),
            outputs: self.some(3, |s| OutputChange {
                name: s.name(),
                before: s.maybe(|s| s.value_of_any(2)),
                after: s.maybe(|s| s.value_of_any(2)),
                sensitive: s.coin(),
            }),
            checks: self.some(2, |s| CheckResult {
                kind: s.pick(&[
                    CheckKind::Resource,
                    CheckKind::Output,
                    CheckKind::Check,
                    CheckKind::Variable,
                ]),
                address: s.name(),
                status: s.status(),
                objects: s.some(2, |s| CheckObject {
                    address: s.name(),
                    status: s.status(),
                    failures: s.some(2, Self::name),
                }),
            }),
            graph: ExecutionGraph::default(),
            resource_keys: BTreeMap::new(),
            call_keys: BTreeMap::new(),
            alternatives: Vec::new(),
        };
        for _ in 0..self.below(3) {
            let variable = match self.below(3) {
                0 => PlannedVariable::Ephemeral,
                _ => PlannedVariable::Value(self.value_of_any(2)),
            };
            plan.variables.insert(self.name(), variable);
            let resource = self.address().abs_resource();
            plan.resource_keys.insert(resource, self.keys());
            let call = (self.address().module, self.name().into());
            plan.call_keys.insert(call, self.keys());
            plan.alternatives.push(Alternative {
                pinned: [(self.name(), self.value_of_any(2))].into(),
                envelope: self.some(2, Self::change),
            });
        }
        let count = self.below(8) as u32;
        for _ in 0..count {
            let change = self.maybe(|s| s.below(9) as u32);
            let kind = self.operation();
            plan.graph.add(kind, change);
        }
        if count > 0 {
            for _ in 0..self.below(9) {
                let (a, b) = (self.below(count.into()), self.below(count.into()));
                plan.graph.order(NodeId(a as u32), NodeId(b as u32));
            }
        }
        plan
    }
}

/// Every unknown value's origin and every number's precision in a plan's changes: what `==` on
/// values does not look at.
fn beside(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    for change in plan.changes.iter().chain(&plan.drift) {
        for value in [&change.before, &change.after] {
            value.walk(&mut |_, part| {
                if let Some(origin) = part.origin() {
                    found.push(format!("{origin:?}"));
                }
                if let Some(n) = part.unmarked().as_number() {
                    found.push(format!("{n} {} {}", n.precision(), n.is_negative()));
                }
                true
            });
        }
    }
    found
}

#[test]
fn generated_plans_round_trip() {
    let seconds: u64 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(10);
    let end = Instant::now() + Duration::from_millis(seconds * 100);
    for seed in 1u64.. {
        println!("seed {seed}");
        let plan = Source(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).plan();
        let file = encode(&plan).unwrap();
        let back = decode(&file).unwrap();
        assert_eq!(back, plan);
        assert_eq!(back.debug_text(), plan.debug_text());
        assert_eq!(beside(&back), beside(&plan));
        assert_eq!(
            encode(&back).unwrap(),
            file,
            "the same plan, the same bytes"
        );
        if seed > 100 && Instant::now() > end {
            break;
        }
    }
}

fn change(address: &str, before: Value, after: Value) -> ResourceInstanceChange {
    ResourceInstanceChange {
        address: address.parse().unwrap(),
        previous_address: None,
        deposed: None,
        provider: "provider[\"registry.terraform.io/hashicorp/google\"]"
            .parse()
            .unwrap(),
        action: Action::Create,
        reason: None,
        before,
        after,
        replace_paths: Vec::new(),
        planned_private: [].into(),
        schema_version: 0,
        dependencies: Vec::new(),
        create_before_destroy: false,
        importing: None,
        legacy_type_system: false,
        identity: Default::default(),
    }
}

fn small() -> Plan {
    let network = Origin {
        address: Arc::new("google_compute_network.n".parse().unwrap()),
        path: Path::ROOT.attribute("id"),
    };
    let subnetwork = Value::object([
        ("id", Value::unknown(Type::String)),
        ("name", "s".into()),
        (
            "network",
            Value::unknown(Type::String).with_origin(&network.into()),
        ),
        ("secret", Value::string("hush").sensitive()),
    ]);
    let before = Value::null(subnetwork.type_of());
    let mut plan = Plan {
        complete: true,
        applyable: true,
        tool_version: "0.1.0".into(),
        language_version: "1.12.2".into(),
        timestamp: "2026-01-01T00:00:00Z".into(),
        changes: vec![change("google_compute_subnetwork.s", before, subnetwork)],
        ..Plan::default()
    };
    let make = OperationKind::Make(plan.changes[0].address.clone());
    plan.graph.add(make, Some(0));
    plan
}

#[test]
fn every_flipped_bit_is_refused() {
    let file = encode(&small()).unwrap();
    decode(&file).unwrap();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut altered = file.clone();
            altered[at] ^= 1 << bit;
            assert!(decode(&altered).is_err(), "byte {at} bit {bit}");
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    let file = encode(&small()).unwrap();
    for length in 0..file.len() {
        let error = decode(&file[..length]).expect_err("cut off");
        match error {
            PlanFileError::Truncated { have, .. } => assert_eq!(have, length as u64),
            PlanFileError::NotAPlan { .. } => assert_eq!(length, 0),
            other => panic!("{length}: {other}"),
        }
    }
    let mut longer = file.clone();
    longer.push(b'\n');
    assert_eq!(
        decode(&longer).expect_err("too long").to_string(),
        format!(
            "The plan file is damaged in its end, which begins at byte {}: 1 bytes follow that do not belong to it. It was altered after it was written; nothing of it is used. Plan again.",
            file.len()
        )
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let file = encode(&small()).unwrap();
    let text = String::from_utf8_lossy(&file);
    let newer = text.replacen("formwork-plan 2 ", "formwork-plan 7 ", 1);
    let newer = newer.replacen("\"tool\":\"0.1.0\"", "\"tool\":\"3.2.1\",\"new\":[]", 1);
    let mut last = file.clone();
    *last.last_mut().unwrap() ^= 1;
    for (bytes, begins) in [
        (
            &b""[..],
            "The file is not a plan written by Formwork: it looks like an empty file.",
        ),
        (b"hello", "The file is not a plan written by Formwork."),
        (
            b"PK\x03\x04...",
            "The file is not a plan written by Formwork: it looks like a plan of Terraform or OpenTofu (a zip archive).",
        ),
        (
            b"\n {\"version\": 4}",
            "The file is not a plan written by Formwork: it looks like JSON, perhaps a state or a shown plan.",
        ),
        (
            newer.as_bytes(),
            "The plan has version 7 of the plan file, written by Formwork 3.2.1, but this build reads version 2 only.",
        ),
        (
            b"formwork-plan x y\n",
            "The plan file is damaged in its first line, which begins at byte 0: its version is no number.",
        ),
        (
            &file[..file.len() - 1],
            "The plan file ends too early: it has ",
        ),
        (
            &last,
            "The plan file is damaged in its content, which begins at byte ",
        ),
    ] {
        let error = decode(bytes).expect_err(begins);
        assert!(error.to_string().starts_with(begins), "{error}");
        assert_eq!(
            error.diagnostic("p.plan").summary,
            "Failed to load \"p.plan\" as a plan file"
        );
    }
    assert_eq!(FORMAT_VERSION, 2, "docs/formats/plan-file.md names it");
}

#[test]
fn ephemeral_values_are_refused() {
    let hidden = Value::object([(
        "password",
        Value::list(
            Type::String,
            vec![Value::string("hush").with_marks(&Marks::EPHEMERAL)],
        ),
    )]);
    let null = Value::null(hidden.type_of());
    let in_change = Plan {
        changes: vec![change("a.b[0]", null.clone(), hidden.clone())],
        ..Plan::default()
    };
    let in_drift = Plan {
        drift: vec![change("a.b", hidden.clone(), null)],
        ..Plan::default()
    };
    let in_output = Plan {
        outputs: vec![OutputChange {
            name: "o".into(),
            before: None,
            after: Some(hidden.clone()),
            sensitive: false,
        }],
        ..Plan::default()
    };
    let in_variable = Plan {
        variables: [("v".to_owned(), PlannedVariable::Value(hidden))].into(),
        ..Plan::default()
    };
    for (plan, place) in [
        (in_change, "a.b[0]"),
        (in_drift, "a.b"),
        (in_output, "output o"),
        (in_variable, "variable v"),
    ] {
        assert_eq!(
            encode(&plan).expect_err("ephemeral").to_string(),
            format!(
                "{place}.password[0] cannot be kept in a plan file: the value is ephemeral, and those are never stored"
            )
        );
    }
}

/// An instance of a type with many attributes, as providers have them.
fn wide(ty: &Type, n: usize) -> Value {
    let Type::Object(ty) = ty else { unreachable!() };
    let values = (0..ty.len()).map(|i| {
        if i == 0 {
            Value::string(format!("name-{n}"))
        } else {
            Value::null(Type::String)
        }
    });
    Value::object_of(ty.clone(), values.collect())
}

#[test]
fn cost_is_linear() {
    let ty = Type::object((0..100).map(|i| (format!("attribute_{i:03}"), Type::String)));
    let size = |count: usize| {
        let mut plan = Plan::default();
        for n in 0..count {
            let value = wide(&ty, n);
            // half of them do not change: those cost one value
            let before = if n % 2 == 0 {
                value.clone()
            } else {
                wide(&ty, n + count)
            };
            let mut change = change(&format!("google_compute_instance.vm[{n}]"), before, value);
            change.action = Action::Update;
            plan.changes.push(change);
            let make = OperationKind::Make(plan.changes[n].address.clone());
            plan.graph.add(make, u32::try_from(n).ok());
        }
        let file = encode(&plan).unwrap();
        assert_eq!(decode(&file).unwrap(), plan);
        file.len()
    };
    let (small, large) = (size(1_000), size(8_000));
    assert!(large < small * 9, "{small} bytes became {large}");
    assert!(large / 8_000 < 60, "{} bytes a change", large / 8_000);
}

#[test]
fn secrets_are_stored_but_not_shown() {
    let plan = small();
    let back = decode(&encode(&plan).unwrap()).unwrap();
    let secret = back.changes[0].after.attribute("secret").unwrap().clone();
    assert!(secret.marks().is_sensitive());
    assert_eq!(secret.unmarked().as_str(), Some("hush"));
    assert_eq!(
        back.debug_text(),
        r#"plan normal, complete, applyable
tool 0.1.0 language 1.12.2 at 2026-01-01T00:00:00Z
prior "" serial 0
change google_compute_subnetwork.s create
  before null /* object */
  after {
    "id" = (known after apply)
    "name" = "s"
    "network" = (known after apply)
    "secret" = (sensitive value)
  }
make google_compute_subnetwork.s
"#
    );
    assert!(!format!("{back:?}").contains("hush"));
}
