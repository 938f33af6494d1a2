//! Results of conditions and check blocks.

/// What kind of object a condition belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CheckKind {
    /// A resource or data source with pre- or postconditions.
    Resource,
    /// An output with preconditions.
    Output,
    /// A check block.
    Check,
    /// A variable with validations.
    Variable,
}

impl CheckKind {
    /// The word of the plan JSON: `resource`, `output_value`, `check`, `var`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Output => "output_value",
            Self::Check => "check",
            Self::Variable => "var",
        }
    }

    /// The word of the state file, which differs for outputs: `output`.
    pub fn state_word(self) -> &'static str {
        match self {
            Self::Output => "output",
            other => other.word(),
        }
    }

    /// The kind that a word of either format means.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Resource, Self::Output, Self::Check, Self::Variable]
            .into_iter()
            .find(|k| k.word() == word || k.state_word() == word)
    }
}

/// How a condition came out; the worst of several counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CheckStatus {
    /// All hold.
    Pass,
    /// Not known yet.
    #[default]
    Unknown,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
}

impl CheckStatus {
    /// The word of state and JSON: `pass`, `unknown`, `fail`, `error`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Unknown => "unknown",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }

    /// The status that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Pass, Self::Unknown, Self::Fail, Self::Error]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// The results of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckObject {
    /// Address of the instance, such as `terraform_data.a[0]`, `output.x`, `check.health`.
    pub address: String,
    /// The worst status of its conditions.
    pub status: CheckStatus,
    /// What failed, each as the configuration words it.
    pub failures: Vec<String>,
}

/// The results of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// What it belongs to.
    pub kind: CheckKind,
    /// Address of the block without instance keys.
    pub address: String,
    /// The worst status of its instances; pass if there are none.
    pub status: CheckStatus,
    /// Its instances.
    pub objects: Vec<CheckObject>,
}

impl CheckResult {
    /// The result of a block from those of its instances.
    pub fn of(kind: CheckKind, address: String, objects: Vec<CheckObject>) -> Self {
        let status = objects
            .iter()
            .map(|o| o.status)
            .max()
            .unwrap_or(CheckStatus::Pass);
        Self {
            kind,
            address,
            status,
            objects,
        }
    }
}
