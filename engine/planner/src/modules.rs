//! [`ModuleSet`]: instances of modules, and everything below them.

use formwork_addresses::{InstanceKey, ModuleInstance, ModuleInstanceStep, ModulePath};
use std::collections::BTreeMap;

/// A set of module instances that holds with each what lies below it. A step without a key stands for
/// all instances of its call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleSet {
    whole: bool,
    below: BTreeMap<ModuleInstanceStep, ModuleSet>,
}

impl ModuleSet {
    /// Puts one in; whether it was not there.
    pub(crate) fn insert(&mut self, module: &ModuleInstance) -> bool {
        let mut set = self;
        for step in module.steps() {
            if set.whole {
                return false;
            }
            set = set.below.entry(step.clone()).or_default();
        }
        set.below.clear();
        !std::mem::replace(&mut set.whole, true)
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        !self.whole && self.below.is_empty()
    }

    /// Whether it holds an instance.
    pub(crate) fn contains(&self, module: &ModuleInstance) -> bool {
        let mut sets = vec![self];
        for step in module.steps() {
            if sets.iter().any(|s| s.whole) {
                return true;
            }
            let any = without_key(&step.name);
            let keyed = step.key != InstanceKey::None;
            let mut next = Vec::new();
            for set in sets {
                next.extend(set.below.get(step));
                next.extend(set.below.get(&any).filter(|_| keyed));
            }
            sets = next;
        }
        sets.iter().any(|s| s.whole)
    }

    /// Whether it holds all instances of a module.
    pub(crate) fn covers(&self, path: &ModulePath) -> bool {
        let mut set = self;
        for name in path.names() {
            match set.below.get(&without_key(name)) {
                _ if set.whole => return true,
                Some(below) => set = below,
                None => return false,
            }
        }
        set.whole
    }
}

fn without_key(name: &str) -> ModuleInstanceStep {
    ModuleInstanceStep {
        name: name.into(),
        key: InstanceKey::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_and_what_lies_below() {
        let instance = |text: &str| -> ModuleInstance {
            if text.is_empty() {
                return ModuleInstance::root();
            }
            text.parse().expect("a module")
        };
        let check = |inside: &[&str], module: &str, contains: bool, covers: bool| {
            let mut set = ModuleSet::default();
            for text in inside {
                set.insert(&instance(text));
            }
            let module = instance(module);
            assert_eq!(set.contains(&module), contains, "{inside:?} {module}");
            assert_eq!(set.covers(&module.path()), covers, "{inside:?} {module}");
            assert_eq!(set.is_empty(), inside.is_empty());
        };
        check(&[], "", false, false);
        check(&[""], "module.a[1].module.b", true, true);
        check(&["module.a"], "module.a[1].module.b[\"x\"]", true, true);
        check(&["module.a[1]"], "module.a[1].module.b", true, false);
        check(&["module.a[1]"], "module.a[0].module.b", false, false);
        check(&["module.a[1]"], "", false, false);
        check(&["module.a[1]", "module.a"], "module.a[2]", true, true);
        check(
            &["module.a.module.b[0]"],
            "module.a[7].module.b[0]",
            true,
            false,
        );
        check(
            &["module.a.module.b[0]"],
            "module.a[7].module.b[1]",
            false,
            false,
        );
        let mut set = ModuleSet::default();
        assert!(set.insert(&instance("module.a[1]")));
        assert!(!set.insert(&instance("module.a[1].module.b")));
        assert!(set.insert(&instance("module.a")));
        assert!(set.insert(&instance("")));
        assert!(!set.insert(&instance("module.c")));
    }
}
