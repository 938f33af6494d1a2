//! What is left to a later round: changes that cannot be planned before something else is applied.

use crate::change::ResourceInstanceChange;
use formwork_addresses::ResourceMode;

/// Why something cannot be planned yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeferredReason {
    /// How many instances there are is not known: count, for_each or enabled, of the block or of a
    /// module call around it.
    InstanceCountUnknown,
    /// Its configuration is not known enough for its provider.
    ResourceConfigUnknown,
    /// The configuration of its provider is not known enough.
    ProviderConfigUnknown,
    /// Its provider misses something that does not exist yet.
    AbsentPrerequisite,
    /// Something that it depends on is deferred.
    DeferredPrerequisite,
}

impl DeferredReason {
    const ALL: [Self; 5] = [
        Self::InstanceCountUnknown,
        Self::ResourceConfigUnknown,
        Self::ProviderConfigUnknown,
        Self::AbsentPrerequisite,
        Self::DeferredPrerequisite,
    ];

    /// The word used in files and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::InstanceCountUnknown => "instance_count_unknown",
            Self::ResourceConfigUnknown => "resource_config_unknown",
            Self::ProviderConfigUnknown => "provider_config_unknown",
            Self::AbsentPrerequisite => "absent_prereq",
            Self::DeferredPrerequisite => "deferred_prereq",
        }
    }

    /// The reason that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.word() == word)
    }
}

/// A change that is left to a later round, as far as it can be foreseen.
#[derive(Clone, Debug, PartialEq)]
pub struct DeferredChange {
    /// The address as people read it: `[*]` stands for keys that are not known yet.
    pub address: String,
    /// The address of its module in the same form; empty for the root module.
    pub module: String,
    /// Whether its own key is one of those that are not known.
    pub key_unknown: bool,
    /// Why it is deferred.
    pub reason: DeferredReason,
    /// What it waits for: attributes, blocks or a provider configuration, as people write them.
    /// Empty where that cannot be told.
    pub waits_for: Vec<String>,
    /// What would be done. Its address has no keys where they are not known.
    pub change: ResourceInstanceChange,
}

impl DeferredChange {
    /// Why it is deferred and what it waits for, as a clause that follows its address.
    pub fn why(&self) -> String {
        const NAMED: usize = 3;
        let mut names = self
            .waits_for
            .iter()
            .take(NAMED)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if self.waits_for.len() > NAMED {
            names.push_str(" and others");
        }
        let named = |with: &str, without: &str| {
            if names.is_empty() {
                without.to_owned()
            } else {
                format!("{with} {names}")
            }
        };
        match self.reason {
            DeferredReason::InstanceCountUnknown => named(
                "how many there are depends on",
                "how many there are is not known yet",
            ),
            DeferredReason::ResourceConfigUnknown => named(
                "its configuration depends on",
                "its provider needs more of its configuration to be known",
            ),
            DeferredReason::ProviderConfigUnknown => named(
                "its provider is configured by",
                "the configuration of its provider is not known yet",
            ),
            DeferredReason::AbsentPrerequisite => named(
                "it needs",
                "its provider misses something that does not exist yet",
            ),
            DeferredReason::DeferredPrerequisite => {
                named("it depends on", "it depends on what is deferred")
            }
        }
    }

    /// Whether it is about something that is only read.
    pub fn is_read(&self) -> bool {
        self.change.address.resource.mode == ResourceMode::Data
    }
}
