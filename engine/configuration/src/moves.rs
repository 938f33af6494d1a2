//! What `moved` blocks, and the two moves that need no block, do to the addresses in a state.
//!
//! A statement stands in a module and applies in every instance of it. Facts, observed on terraform
//! 1.11.4:
//!
//! - Without a key on either end a whole resource or module call moves, and instances keep their
//!   keys. With a key on one end the other end's missing key means the instance without a key.
//! - Keys of modules on the way to the object must match as written; a missing key is no wildcard.
//! - Moves chain, whatever the order in which the blocks stand: `x` to `y` and `y` to `z` bring `x`
//!   to `z`, and a module's move is followed by moves within it.
//! - An object does not move to an address where another object stays: that is a warning, and it
//!   stays where it is.
//! - An object without a key moves to `[0]` when its resource has come to set `count`, and back when
//!   it no longer does. Nothing like it happens for modules.
//!
//! This is a pure function of addresses: objects are moved by the planner, which also knows which
//! instances exist, and so finds the moves from what still exists by a key.

use crate::configuration::Configuration;
use crate::refactoring::{MoveTarget, MovedForEach};
use crate::resource::Repetition;
use crate::static_checks::path_within;
use formwork_addresses::{
    AbsResourceInstance, InstanceKey, ModuleInstance, ModuleInstanceStep, ModulePath, Resource,
};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange};
use std::collections::{BTreeMap, BTreeSet};

/// The moves of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    statements: Vec<Statement>,
    /// Statements by the resource that moves, and the module it is in.
    of_resources: BTreeMap<(ModulePath, Resource), Vec<usize>>,
    /// Statements by the module that moves.
    of_modules: BTreeMap<ModulePath, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Statement {
    /// The module in which the block stands.
    within: ModulePath,
    from: MoveTarget,
    to: MoveTarget,
    range: SourceRange,
}

/// Where objects have moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveResults {
    /// Old address by new address, of those that have moved.
    pub moved: BTreeMap<AbsResourceInstance, AbsResourceInstance>,
    /// Moves that could not be made because another object stays at the new address: old and new.
    pub blocked: Vec<(AbsResourceInstance, AbsResourceInstance)>,
}

impl Moves {
    /// The moves of a configuration, and what is wrong with them. What a block with `for_each` says
    /// in a module must be evaluated: from and to, for each element.
    pub fn of(
        configuration: &Configuration,
        mut elements: impl FnMut(&ModulePath, &MovedForEach) -> Checked<Vec<(MoveTarget, MoveTarget)>>,
    ) -> Checked<Self> {
        let mut moves = Self::default();
        let mut diagnostics = Diagnostics::new();
        for (path, module) in configuration.modules() {
            for block in &module.moved {
                let all = match &block.for_each {
                    None => vec![(block.from.clone(), block.to.clone())],
                    Some(each) => diagnostics.take(elements(path, each)),
                };
                for (from, to) in all {
                    let statement = Statement {
                        within: path.clone(),
                        from,
                        to,
                        range: block.range,
                    };
                    moves.add(configuration, statement, &mut diagnostics);
                }
            }
        }
        for i in 0..moves.statements.len() {
            if let Some(d) = moves.cycle_from(i) {
                diagnostics.push(d);
                // One error explains the whole cycle.
                break;
            }
        }
        (moves, diagnostics)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    fn add(
        &mut self,
        configuration: &Configuration,
        statement: Statement,
        diagnostics: &mut Diagnostics,
    ) {
        let error =
            |summary: &str, detail: String| Diagnostic::error(summary, detail).at(statement.range);
        let (within, from, to) = (&statement.within, &statement.from, &statement.to);
        if from == to {
            diagnostics.push(error(
                "Redundant move statement",
                format!("This moves {from} to where it is. Remove the block."),
            ));
            return;
        }
        for s in self.statements.iter().filter(|s| s.within == *within) {
            if s.from == *from && s.to == *to {
                return; // Said twice, meant once.
            }
            if s.from == *from {
                diagnostics.push(error(
                    "Ambiguous move statements",
                    format!(
                        "{from} is moved to {} by one block and to {to} by this one. It can only \
                         have gone to one of them.",
                        s.to
                    ),
                ));
                return;
            }
            if s.to == *to {
                diagnostics.push(error(
                    "Ambiguous move statements",
                    format!(
                        "{} is moved to {to} by one block and {from} by this one. Only one of them \
                         can have gone there.",
                        s.from
                    ),
                ));
                return;
            }
        }
        if still_declared(configuration, within, from, to) {
            diagnostics.push(statement.still_exists(from));
            return;
        }
        let number = self.statements.len();
        match from {
            MoveTarget::Resource(r) => self
                .of_resources
                .entry((path_within(within, &r.module), r.resource.clone()))
                .or_default()
                .push(number),
            MoveTarget::Module(m) => self
                .of_modules
                .entry(path_within(within, m))
                .or_default()
                .push(number),
        }
        self.statements.push(statement);
    }

    /// The block that moves an object away from where the state has it.
    pub fn range_of(&self, address: &AbsResourceInstance) -> Option<SourceRange> {
        let mut statements = self.statements.iter();
        let found = statements.find(|s| s.moved(address).is_some());
        found.map(|s| s.range)
    }

    /// Where one address moves in one step.
    fn step(&self, address: &AbsResourceInstance) -> Option<AbsResourceInstance> {
        let path = address.module.path();
        // The more special statement goes first: that of the resource, then of the innermost module.
        let own = self
            .of_resources
            .get(&(path.clone(), address.resource.clone()));
        let mut modules = Vec::new();
        let mut at = Some(path);
        while let Some(p) = at.filter(|p| !p.is_root()) {
            modules.extend(self.of_modules.get(&p).into_iter().flatten());
            at = p.parent();
        }
        own.into_iter()
            .flatten()
            .chain(modules)
            .filter_map(|i| self.statements.get(*i))
            .find_map(|s| s.moved(address))
    }

    /// Where an address ends up, if it moves at all.
    pub fn target(&self, address: &AbsResourceInstance) -> Option<AbsResourceInstance> {
        let mut at = self.step(address)?;
        // No chain is longer than there are statements, unless it goes in circles.
        for _ in 0..self.statements.len() {
            match self.step(&at) {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(at)
    }

    /// Where all objects of a state end up. The configuration says which resources have come to set
    /// `count`, or no longer do.
    pub fn apply(
        &self,
        configuration: &Configuration,
        addresses: &BTreeSet<AbsResourceInstance>,
    ) -> MoveResults {
        let mut results = MoveResults::default();
        // Mostly nothing moves, and a large state is looked at once for it.
        if self.statements.is_empty()
            && addresses
                .iter()
                .all(|a| implied(configuration, a).is_none())
        {
            return results;
        }
        let mut moving: Vec<(&AbsResourceInstance, AbsResourceInstance)> = Vec::new();
        let mut taken: BTreeSet<AbsResourceInstance> = BTreeSet::new();
        for address in addresses {
            match self.target(address) {
                Some(to) if to != *address => moving.push((address, to)),
                _ => {
                    taken.insert(address.clone());
                }
            }
        }
        // What stays has its place first, and of two that go to one place the first.
        for (from, to) in moving {
            if taken.contains(&to) {
                results.blocked.push((from.clone(), to));
                taken.insert(from.clone());
            } else {
                taken.insert(to.clone());
                results.moved.insert(to, from.clone());
            }
        }
        let unkeyed: Vec<_> = taken
            .iter()
            .filter_map(|a| implied(configuration, a).map(|to| (a.clone(), to)))
            .collect();
        for (from, to) in unkeyed {
            if taken.contains(&to) {
                continue; // Both are there; the one with the wrong form of key is an orphan.
            }
            let origin = results.moved.remove(&from).unwrap_or(from);
            taken.insert(to.clone());
            results.moved.insert(to, origin);
        }
        results
    }

    fn cycle_from(&self, number: usize) -> Option<Diagnostic> {
        let s = self.statements.get(number)?;
        let start = sample(&s.within, &s.from);
        let mut at = self.step(&start)?;
        let mut way = vec![start.to_string(), at.to_string()];
        for _ in 0..self.statements.len() {
            if at == start {
                return Some(
                    Diagnostic::error(
                        "Cyclic dependency in move statements",
                        format!(
                            "These blocks move objects in a circle: {}. There is no address at which \
                             they could end up; remove the move that was undone.",
                            way.join(" to ")
                        ),
                    )
                    .at(s.range),
                );
            }
            at = self.step(&at)?;
            way.push(at.to_string());
        }
        None
    }
}

impl Moves {
    /// What is said to have moved and is there nevertheless, which is only seen once count and for_each
    /// are known: `modules` gives the instances of a module, `has` says whether there is an instance of
    /// a resource, or of a module.
    pub fn still_there(
        &self,
        modules: impl Fn(&ModulePath) -> Vec<ModuleInstance>,
        has: impl Fn(&MoveTarget) -> bool,
    ) -> Diagnostics {
        let mut said = Diagnostics::new();
        for statement in &self.statements {
            let found = modules(&statement.within)
                .into_iter()
                .map(|within| statement.from.within(&within))
                .find(|from| has(from));
            said.extend(found.map(|from| statement.still_exists(&from)));
        }
        said
    }
}

impl MoveTarget {
    /// The same seen from the root, where this is named in an instance of a module.
    fn within(&self, module: &ModuleInstance) -> Self {
        let at = |inner: &ModuleInstance| instance(module.steps().iter().chain(inner.steps()));
        match self {
            Self::Module(m) => Self::Module(at(m)),
            Self::Resource(r) => Self::Resource(AbsResourceInstance {
                module: at(&r.module),
                ..r.clone()
            }),
        }
    }
}

impl MoveResults {
    /// The warning about moves that could not be made, if there are any.
    pub fn warning(&self) -> Option<Diagnostic> {
        if self.blocked.is_empty() {
            return None;
        }
        let all: Vec<_> = self
            .blocked
            .iter()
            .map(|(from, to)| format!("{from} could not become {to}"))
            .collect();
        Some(Diagnostic::warning(
            "Unresolved resource instance address changes",
            format!(
                "Objects in the state could not be moved as the configuration says, because there \
                 is another object at the new address: {}. They are treated as no longer \
                 configured.",
                all.join("; ")
            ),
        ))
    }
}

impl Statement {
    fn still_exists(&self, from: &MoveTarget) -> Diagnostic {
        Diagnostic::error(
            "Moved object still exists",
            format!(
                "This says that {from} is now {}, but {from} is still declared. Remove its \
                 declaration, or this block.",
                self.to
            ),
        )
        .at(self.range)
    }

    /// Where the statement moves an address, if it does.
    fn moved(&self, address: &AbsResourceInstance) -> Option<AbsResourceInstance> {
        let steps = address.module.steps();
        let around = steps.get(..self.within.names().len())?;
        let inner = steps.get(self.within.names().len()..)?;
        match (&self.from, &self.to) {
            (MoveTarget::Resource(from), MoveTarget::Resource(to)) => {
                let whole = from.key == InstanceKey::None && to.key == InstanceKey::None;
                if inner != from.module.steps()
                    || address.resource != from.resource
                    || !(whole || address.key == from.key)
                {
                    return None;
                }
                Some(AbsResourceInstance {
                    module: instance(around.iter().chain(to.module.steps())),
                    resource: to.resource.clone(),
                    key: if whole {
                        address.key.clone()
                    } else {
                        to.key.clone()
                    },
                })
            }
            (MoveTarget::Module(from), MoveTarget::Module(to)) => {
                let (last_from, before_from) = from.steps().split_last()?;
                let (last_to, before_to) = to.steps().split_last()?;
                let whole = last_from.key == InstanceKey::None && last_to.key == InstanceKey::None;
                let (before, rest) = inner.split_at_checked(before_from.len())?;
                let (last, below) = rest.split_first()?;
                if before != before_from
                    || last.name != last_from.name
                    || !(whole || last.key == last_from.key)
                {
                    return None;
                }
                let new_last = ModuleInstanceStep {
                    name: last_to.name.clone(),
                    key: if whole {
                        last.key.clone()
                    } else {
                        last_to.key.clone()
                    },
                };
                Some(AbsResourceInstance {
                    module: instance(
                        around
                            .iter()
                            .chain(before_to)
                            .chain([&new_last])
                            .chain(below),
                    ),
                    ..address.clone()
                })
            }
            _ => None,
        }
    }
}

fn instance<'a>(steps: impl Iterator<Item = &'a ModuleInstanceStep>) -> ModuleInstance {
    steps.fold(ModuleInstance::root(), |m, s| {
        m.child(&s.name, s.key.clone())
    })
}

/// An address that a statement's end names, in an instance without keys of the module around.
fn sample(within: &ModulePath, target: &MoveTarget) -> AbsResourceInstance {
    let around = within.unkeyed_instance();
    let (inner, resource, key) = match target {
        MoveTarget::Module(m) => (m, Resource::managed("any", "any"), InstanceKey::None),
        MoveTarget::Resource(r) => (&r.module, r.resource.clone(), r.key.clone()),
    };
    AbsResourceInstance {
        module: instance(around.steps().iter().chain(inner.steps())),
        resource,
        key,
    }
}

/// Whether what is moved from is declared all the same, as far as blocks tell.
fn still_declared(
    configuration: &Configuration,
    within: &ModulePath,
    from: &MoveTarget,
    to: &MoveTarget,
) -> bool {
    match (from, to) {
        (MoveTarget::Resource(from), MoveTarget::Resource(to)) => {
            let whole = from.key == InstanceKey::None && to.key == InstanceKey::None;
            let block = configuration
                .module(&path_within(within, &from.module))
                .and_then(|m| m.resources.get(&from.resource));
            block.is_some_and(|b| {
                whole || from.key == InstanceKey::None && !b.repetition.is_repeated()
            })
        }
        (MoveTarget::Module(from), MoveTarget::Module(to)) => {
            let whole = *from.key() == InstanceKey::None && *to.key() == InstanceKey::None;
            configuration
                .call_of(&path_within(within, from))
                .is_some_and(|(_, call)| {
                    whole || *from.key() == InstanceKey::None && !call.repetition.is_repeated()
                })
        }
        _ => false,
    }
}

/// Where an object goes whose resource has come to set `count`, or no longer does.
fn implied(
    configuration: &Configuration,
    address: &AbsResourceInstance,
) -> Option<AbsResourceInstance> {
    let block = configuration
        .module(&address.module.path())?
        .resources
        .get(&address.resource)?;
    let key = match (&block.repetition, &address.key) {
        (Repetition::Count(_), InstanceKey::None) => InstanceKey::Int(0),
        (Repetition::Single | Repetition::Enabled(_), InstanceKey::Int(0)) => InstanceKey::None,
        _ => return None,
    };
    Some(AbsResourceInstance {
        key,
        ..address.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LanguageLevel, Loading, LocalModulesOnly, MemoryReader, load};
    use formwork_diagnostics::SourceMap;
    use std::path::Path;

    /// Moves a state's addresses by a configuration; tells the moves, what is blocked, and errors.
    #[track_caller]
    fn check(files: &[(&str, &str)], state: &[&str], expected: &[&str]) {
        let reader: MemoryReader = files.iter().copied().collect();
        let mut sources = SourceMap::new();
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: crate::StaticInputs::default(),
        };
        let (c, d) = load(Path::new("."), &with, &mut sources);
        assert!(d.is_empty(), "{d:?}");
        let (moves, d) = Moves::of(&c, |_, _| (Vec::new(), Diagnostics::new()));
        let state = state.iter().map(|a| a.parse().expect("address")).collect();
        let results = moves.apply(&c, &state);
        let mut told: Vec<String> = d
            .iter()
            .map(|d| format!("{} {}", sources.place(d.subject.expect("range")), d.summary))
            .collect();
        told.extend(
            results
                .moved
                .iter()
                .map(|(to, from)| format!("{from} -> {to}")),
        );
        told.extend(
            results
                .blocked
                .iter()
                .map(|(from, to)| format!("{from} stays, not {to}")),
        );
        assert_eq!(told, expected);
    }

    const MOVE: &str = "moved {\n from=a_b.x\n to=a_b.y\n}\n";

    fn moved(pairs: &[(&str, &str)]) -> String {
        pairs
            .iter()
            .map(|(a, b)| format!("moved {{\n from={a}\n to={b}\n}}\n"))
            .collect()
    }

    #[test]
    fn resources() {
        check(&[("main.tf", MOVE)], &["a_b.x"], &["a_b.x -> a_b.y"]);
        check(
            &[("main.tf", MOVE)],
            &["a_b.x[0]", "a_b.x[\"k\"]"],
            &["a_b.x[0] -> a_b.y[0]", "a_b.x[\"k\"] -> a_b.y[\"k\"]"],
        );
        check(
            &[("main.tf", &moved(&[("a_b.x[1]", "a_b.y")]))],
            &["a_b.x[0]", "a_b.x[1]"],
            &["a_b.x[1] -> a_b.y"],
        );
        check(
            &[("main.tf", &moved(&[("a_b.x", "a_b.y[\"k\"]")]))],
            &["a_b.x"],
            &["a_b.x -> a_b.y[\"k\"]"],
        );
        check(
            &[("main.tf", MOVE)],
            &["a_b.x", "a_b.y"],
            &["a_b.x stays, not a_b.y"],
        );
        check(
            &[("main.tf", &moved(&[("a_b.y", "a_b.z"), ("a_b.x", "a_b.y")]))],
            &["a_b.x"],
            &["a_b.x -> a_b.z"],
        );
        check(
            &[(
                "main.tf",
                &moved(&[("a_b.y", "a_b.z"), ("a_b.x", "module.m.a_b.y")]),
            )],
            &["a_b.x", "a_b.y"],
            &["a_b.y -> a_b.z", "a_b.x -> module.m.a_b.y"],
        );
    }

    #[test]
    fn modules() {
        let with = |moves: &[(&str, &str)],
                    calls: &str,
                    child: &str,
                    state: &[&str],
                    expected: &[&str]| {
            let main = format!("{calls}{}", moved(moves));
            check(&[("main.tf", &main), ("m/a.tf", child)], state, expected);
        };
        let child = "resource \"a_b\" \"x\" {}\n";
        with(
            &[("module.a", "module.b")],
            "module \"b\" {\n source=\"./m\"\n count=2\n}\n",
            child,
            &["module.a[0].a_b.x", "module.a[1].a_b.x"],
            &[
                "module.a[0].a_b.x -> module.b[0].a_b.x",
                "module.a[1].a_b.x -> module.b[1].a_b.x",
            ],
        );
        with(
            &[("module.a", "module.b[\"k\"]")],
            "",
            child,
            &["module.a.module.i.a_b.x"],
            &["module.a.module.i.a_b.x -> module.b[\"k\"].module.i.a_b.x"],
        );
        // A key that is missing on the way is no wildcard.
        with(
            &[("module.a.a_b.x", "module.a.a_b.y")],
            "module \"a\" {\n source=\"./m\"\n count=1\n}\n",
            "resource \"a_b\" \"y\" {}\n",
            &["module.a[0].a_b.x"],
            &[],
        );
        // A module's move is followed by moves within it, in every instance.
        with(
            &[("module.a", "module.b")],
            "module \"b\" {\n source=\"./m\"\n}\n",
            "resource \"a_b\" \"y\" {}\nmoved {\n from=a_b.x\n to=a_b.y\n}\n",
            &["module.a.a_b.x"],
            &["module.a.a_b.x -> module.b.a_b.y"],
        );
        with(
            &[("module.a", "module.b")],
            "module \"a\" {\n source=\"./m\"\n}\n",
            child,
            &[],
            &["main.tf:4:1 Moved object still exists"],
        );
    }

    #[test]
    fn count_comes_and_goes() {
        let counted = [("main.tf", "resource \"a_b\" \"x\" {\n count=2\n}")];
        check(&counted, &["a_b.x"], &["a_b.x -> a_b.x[0]"]);
        check(&counted, &["a_b.x", "a_b.x[0]"], &[]);
        let single = [("main.tf", "resource \"a_b\" \"x\" {}")];
        check(&single, &["a_b.x[0]", "a_b.x[1]"], &["a_b.x[0] -> a_b.x"]);
        let each = [("main.tf", "resource \"a_b\" \"x\" {\n for_each={}\n}")];
        check(&each, &["a_b.x"], &[]);
        let main = format!("resource \"a_b\" \"y\" {{\n count=1\n}}\n{MOVE}");
        check(&[("main.tf", &main)], &["a_b.x"], &["a_b.x -> a_b.y[0]"]);
    }

    #[test]
    fn mistakes() {
        let check = |text: &str, expected: &str| check(&[("main.tf", text)], &[], &[expected]);
        check(
            &moved(&[("a_b.x", "a_b.x")]),
            "main.tf:1:1 Redundant move statement",
        );
        check(
            &moved(&[("a_b.x", "a_b.y"), ("a_b.w", "a_b.y")]),
            "main.tf:5:1 Ambiguous move statements",
        );
        check(
            &moved(&[("a_b.x", "a_b.y"), ("a_b.x", "a_b.z")]),
            "main.tf:5:1 Ambiguous move statements",
        );
        check(
            &moved(&[("a_b.x", "a_b.y"), ("a_b.y", "a_b.x")]),
            "main.tf:1:1 Cyclic dependency in move statements",
        );
        check(
            &format!("{MOVE}resource \"a_b\" \"x\" {{}}"),
            "main.tf:1:1 Moved object still exists",
        );
    }
}
