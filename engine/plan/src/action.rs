//! What is done to an object, and why.

/// What is done to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Nothing.
    #[default]
    NoOp,
    /// It is made.
    Create,
    /// A data source is read during apply.
    Read,
    /// It is changed in place.
    Update,
    /// It is deleted, then made anew.
    DeleteThenCreate,
    /// It is made anew, then the former object is deleted.
    CreateThenDelete,
    /// It is deleted.
    Delete,
    /// It leaves the state but stays in the world.
    Forget,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoOp,
        Self::Create,
        Self::Read,
        Self::Update,
        Self::DeleteThenCreate,
        Self::CreateThenDelete,
        Self::Delete,
        Self::Forget,
    ];

    /// The words of the JSON plan's `actions`.
    pub fn json_actions(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Read => &["read"],
            Self::Update => &["update"],
            Self::DeleteThenCreate => &["delete", "create"],
            Self::CreateThenDelete => &["create", "delete"],
            Self::Delete => &["delete"],
            Self::Forget => &["forget"],
        }
    }

    /// One word for it, used in files and events: `replace` for both orders in events is the
    /// renderer's business.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoOp => "no-op",
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::DeleteThenCreate => "delete-create",
            Self::CreateThenDelete => "create-delete",
            Self::Delete => "delete",
            Self::Forget => "forget",
        }
    }

    /// The action that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.word() == word)
    }

    /// Whether the object is deleted and made anew.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// Whether an object is deleted by it.
    pub fn deletes(self) -> bool {
        matches!(self, Self::Delete) || self.is_replace()
    }

    /// Whether an object is there afterwards that was made or changed by it.
    pub fn makes(self) -> bool {
        matches!(self, Self::Create | Self::Update) || self.is_replace()
    }

    /// Whether anything happens to objects or state.
    pub fn changes_objects(self) -> bool {
        !matches!(self, Self::NoOp | Self::Read)
    }
}

/// Why an action was chosen, where that is not plain from the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionReason {
    /// The object is tainted.
    ReplaceBecauseTainted,
    /// An attribute cannot be changed in place.
    ReplaceBecauseCannotUpdate,
    /// `-replace` asked for it.
    ReplaceByRequest,
    /// `replace_triggered_by` asked for it.
    ReplaceByTriggers,
    /// The block is gone.
    DeleteBecauseNoResourceConfig,
    /// The module instance is gone.
    DeleteBecauseNoModule,
    /// count or for_each was added or taken away.
    DeleteBecauseWrongRepetition,
    /// The index is not below count.
    DeleteBecauseCountIndex,
    /// The key is not in for_each.
    DeleteBecauseEachKey,
    /// A `moved` block leads to an address that is not configured.
    DeleteBecauseNoMoveTarget,
    /// `enabled` is false.
    DeleteBecauseEnabledFalse,
    /// The data source's configuration is not known yet.
    ReadBecauseConfigUnknown,
    /// Something that the data source depends on changes.
    ReadBecauseDependencyPending,
    /// The data source stands in a check block.
    ReadBecauseCheckNested,
}

impl ActionReason {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::ReplaceBecauseTainted,
        Self::ReplaceBecauseCannotUpdate,
        Self::ReplaceByRequest,
        Self::ReplaceByTriggers,
        Self::DeleteBecauseNoResourceConfig,
        Self::DeleteBecauseNoModule,
        Self::DeleteBecauseWrongRepetition,
        Self::DeleteBecauseCountIndex,
        Self::DeleteBecauseEachKey,
        Self::DeleteBecauseNoMoveTarget,
        Self::DeleteBecauseEnabledFalse,
        Self::ReadBecauseConfigUnknown,
        Self::ReadBecauseDependencyPending,
        Self::ReadBecauseCheckNested,
    ];

    /// The word of the JSON plan's `action_reason`.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReplaceBecauseTainted => "replace_because_tainted",
            Self::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            Self::ReplaceByRequest => "replace_by_request",
            Self::ReplaceByTriggers => "replace_by_triggers",
            Self::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            Self::DeleteBecauseNoModule => "delete_because_no_module",
            Self::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            Self::DeleteBecauseCountIndex => "delete_because_count_index",
            Self::DeleteBecauseEachKey => "delete_because_each_key",
            Self::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            Self::DeleteBecauseEnabledFalse => "delete_because_enabled_false",
            Self::ReadBecauseConfigUnknown => "read_because_config_unknown",
            Self::ReadBecauseDependencyPending => "read_because_dependency_pending",
            Self::ReadBecauseCheckNested => "read_because_check_nested",
        }
    }

    /// The reason that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for a in Action::ALL {
            assert_eq!(Action::from_word(a.word()), Some(a));
        }
        for r in ActionReason::ALL {
            assert_eq!(ActionReason::from_word(r.word()), Some(r));
        }
        assert_eq!(Action::from_word("explode"), None);
    }
}
