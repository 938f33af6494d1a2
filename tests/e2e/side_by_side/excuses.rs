//! Differences that are meant.

use super::compare::Difference;

/// A difference that is meant, and why.
#[derive(Debug)]
pub struct Excuse {
    /// The story, or `*`.
    story: &'static str,
    /// The beginning of the command.
    command: &'static str,
    /// The place: its parts, `*` for any one of them or the middle of one, `**` for any number of them.
    at: &'static str,
    /// What stands there on one of the sides.
    holds: &'static str,
    why: &'static str,
    /// Whether Terraform itself answers now so, now otherwise: there need not be a case in each run.
    pub by_chance: bool,
}

impl Excuse {
    const fn by_chance(self) -> Self {
        Self {
            by_chance: true,
            ..self
        }
    }

    pub fn is_for(&self, story: &str, words: &str, difference: &Difference) -> bool {
        debug_assert!(!self.why.is_empty());
        (self.story == "*" || self.story == story)
            && words.starts_with(self.command)
            && fits(self.at, &difference.at)
            && difference.holds(self.holds)
    }
}

fn fits(pattern: &str, at: &str) -> bool {
    let (pattern, at): (Vec<&str>, Vec<&str>) =
        (pattern.split('.').collect(), at.split('.').collect());
    parts_fit(&pattern, &at)
}

fn parts_fit(pattern: &[&str], at: &[&str]) -> bool {
    match (pattern.split_first(), at.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=at.len()).any(|n| parts_fit(rest, &at[n..])),
        (Some((wanted, pattern)), Some((part, at))) => {
            let is_it = match wanted.split_once('*') {
                Some((start, end)) => part.starts_with(start) && part.ends_with(end),
                None => wanted == part,
            };
            is_it && parts_fit(pattern, at)
        }
        _ => false,
    }
}

const fn everywhere(command: &'static str, at: &'static str, why: &'static str) -> Excuse {
    Excuse {
        story: "*",
        command,
        at,
        holds: "",
        why,
        by_chance: false,
    }
}

const fn story(
    story: &'static str,
    command: &'static str,
    at: &'static str,
    holds: &'static str,
    why: &'static str,
) -> Excuse {
    Excuse {
        story,
        command,
        at,
        holds,
        why,
        by_chance: false,
    }
}

const SAID_AT_ONCE: &str =
    "what planning warns of is said before anything is applied, by whoever approves";
const ONCE: &str =
    "what holds of several instances is said once; what planning said is not said again by apply";
const THE_RULE: &str = "the condition that fails is pointed at, not the variable";
const JUDGED: &str =
    "what was judged is kept as it was judged, also where a run fails or data are not read again";
const READ_LATER: &str =
    "FIXME: a data source of a check that cannot be read is put off by -refresh-only too";
const WHOLE_HEADER: &str = "a block's whole header is marked, not its brace alone";
const AS_IT_WAS: &str =
    "outputs of the prior state are those that it had, not those that it will have";

pub const EXCUSES: &[Excuse] = &[
    everywhere(
        "",
        "statefile.serial",
        "Terraform counts each of its writes, we count each run",
    ),
    everywhere(
        "",
        "statefile.resources.*.instances.*.dependencies.**",
        "only the nearest objects are kept, so that states grow with objects, not with their pairs",
    ),
    everywhere("show -json", "**.depends_on.*", "the same"),
    everywhere(
        "metadata",
        "function_signatures.**.description",
        "their sentences are not ours",
    ),
    story(
        "answers",
        "metadata",
        "function_signatures.*",
        "(absent)",
        "functions beyond Terraform's",
    ),
    everywhere(
        "",
        "stream.diagnostic.*.diagnostic.address",
        "the object is named as well",
    ),
    everywhere("", "**.snippet.values.*.statement", "in our own words"),
    everywhere("init -json", "stream.init_output.4", "no advice after init"),
    everywhere(
        "show -json",
        "prior_state.values.outputs.*.value",
        AS_IT_WAS,
    ),
    everywhere("show -json", "prior_state.values.outputs", AS_IT_WAS),
    story("*", "show -json", "prior_state", "\"outputs\":", AS_IT_WAS),
    story(
        "*",
        "apply -json -",
        "phases",
        "diagnostic working diagnostic",
        SAID_AT_ONCE,
    ),
    story(
        "refresh",
        "destroy -json",
        "phases",
        "diagnostic working diagnostic",
        SAID_AT_ONCE,
    ),
    story(
        "everything",
        "apply -json -",
        "stream.diagnostic.*",
        "",
        SAID_AT_ONCE,
    ),
    story(
        "refresh",
        "destroy -json",
        "stream.reading.*.*",
        "(absent)",
        "what is not destroyed need not be read",
    ),
    story(
        "refresh",
        "refresh",
        "statefile",
        "null",
        "nothing is written where nothing was found",
    ),
    story(
        "refresh",
        "refresh",
        "**",
        "Empty or non-existent state",
        "there is nothing wrong in it",
    ),
    story(
        "refresh",
        "refresh",
        "phases",
        "version outputs",
        "the same",
    ),
    everywhere("", "**.description", "descriptions are in our own words"),
    everywhere("", "**.description_kind", "the same"),
    everywhere("", "**.functions.*.summary", "the same"),
    everywhere(
        "test -json",
        "**.@message",
        "the same; but for the first line, which is held below",
    ),
    everywhere(
        "",
        "**.failure_messages.0",
        "messages of data sources, the same",
    ),
    everywhere("show -json", "**.problems.0.message", "the same"),
    story("checks", "", "**.range.end.*", "", WHOLE_HEADER),
    story("checks", "", "**.range.start.*", "", WHOLE_HEADER),
    story(
        "checks",
        "",
        "**.snippet.highlight_start_offset",
        "",
        WHOLE_HEADER,
    ),
    story(
        "checks",
        "",
        "**.snippet.highlight_end_offset",
        "",
        WHOLE_HEADER,
    ),
    story("failures", "", "**.range.end.*", "", WHOLE_HEADER),
    story("failures", "", "**.range.start.*", "", WHOLE_HEADER),
    story(
        "failures",
        "",
        "**.snippet.highlight_start_offset",
        "",
        WHOLE_HEADER,
    ),
    story(
        "failures",
        "",
        "**.snippet.highlight_end_offset",
        "",
        WHOLE_HEADER,
    ),
    story(
        "ephemeral",
        "show -json",
        "variables.*",
        "",
        "no value of an ephemeral variable is kept",
    ),
    story(
        "*",
        "show -json",
        "variables.*.value",
        "(absent)",
        "nor is its default",
    ),
    everywhere(
        "",
        "stream.diagnostic.<\"Check block assertion failed\"@*>",
        ONCE,
    ),
    everywhere(
        "",
        "stream.diagnostic.<\"Check block assertion known after apply\"@*>",
        ONCE,
    ),
    everywhere(
        "",
        "stream.diagnostic.<\"Resource precondition failed\"@*>",
        ONCE,
    ),
    everywhere(
        "",
        "stream.diagnostic.<\"Resource postcondition failed\"@*>",
        ONCE,
    ),
    story(
        "checks",
        "apply -json -",
        "stream.diagnostic.<\"Unable to find remote state\"@*>",
        "",
        SAID_AT_ONCE,
    ),
    story(
        "checks",
        "plan",
        "stream.diagnostic.<\"Invalid value for variable\"@*>",
        "",
        THE_RULE,
    ),
    story(
        "checks",
        "plan -json -out=q",
        "stream.reading.**",
        "(absent)",
        "what can be read is read",
    ),
    story(
        "checks",
        "show -json q",
        "relevant_attributes",
        "(absent)",
        "the same",
    ),
    story(
        "checks",
        "",
        "**.problems",
        "not a known text",
        "that its message is not known is said",
    ),
    story(
        "checks",
        "",
        "**.failure_messages",
        "not a known text",
        "the same",
    ),
    story(
        "checks",
        "show -json",
        "prior_state.values.root_module.resources.*",
        "data.terraform_remote_state.gone",
        "what could not be read was not there before",
    ),
    story(
        "checks",
        "",
        "statefile.resources.*",
        "\"gone\"",
        "the same",
    ),
    story("*", "", "statefile.check_results.**", "\"unknown\"", JUDGED),
    story("*", "show -json", "checks.**", "\"unknown\"", JUDGED),
    story(
        "everything",
        "show -json",
        "output_changes.*.before",
        "",
        AS_IT_WAS,
    ),
    story(
        "sensitive",
        "show -json",
        "prior_state.values.outputs.*.sensitive",
        "",
        AS_IT_WAS,
    ),
    story(
        "moves",
        "show -json",
        "planned_values.**",
        "",
        "what is forgotten is not planned to be there",
    ),
    story(
        "drift",
        "show -json",
        "applyable",
        "",
        "an output that goes is something to record",
    ),
    story(
        "generated",
        "plan",
        "**",
        "Config generation is experimental",
        "said in any case; Terraform says it if the last of the changes, in no order, is such a one",
    )
    .by_chance(),
    story("generated", "plan", "phases", "diagnostic", "the same").by_chance(),
    story(
        "tests",
        "test -json -filter=none",
        "**",
        "diagnostic",
        "a filter that finds nothing is told of",
    ),
    story(
        "configuration",
        "",
        "**",
        "Duplicate required provider",
        "two names of one provider do no harm",
    ),
    story("configuration", "validate", "warning_count", "", "the same"),
    story(
        "configuration",
        "show",
        "**.provider_config_key",
        "other",
        "the other name of the same provider",
    ),
    story(
        "ephemeral",
        "plan",
        "**.snippet.values.0",
        "has an ephemeral value",
        "as for sensitive values",
    ),
    story(
        "answers",
        "modules",
        "modules",
        "null",
        "a list without elements is a list",
    ),
    story(
        "broken_check",
        "",
        "**",
        "",
        "a check never stops a run, not even one that cannot be judged",
    ),
    story(
        "wrong",
        "",
        "**",
        "",
        "more is found at once, and it is said where",
    ),
    story(
        "checks",
        "apply -json -",
        "phases",
        "diagnostic working reading diagnostic",
        SAID_AT_ONCE,
    ),
    story(
        "checks",
        "",
        "**.failure_messages",
        "Unable to find remote state",
        JUDGED,
    ),
    story(
        "checks",
        "show -json",
        "**.problems",
        "Unable to find remote state",
        JUDGED,
    ),
    story(
        "checks",
        "",
        "statefile.resources.*",
        "\"instances\":[]",
        "blocks without objects leave nothing",
    ),
    story(
        "checks",
        "",
        "values.root_module.resources.*",
        "data.terraform_remote_state.gone",
        READ_LATER,
    ),
    story(
        "checks",
        "plan -json -refresh-only",
        "phases",
        "planned_change",
        READ_LATER,
    ),
    story(
        "checks",
        "plan -json -",
        "stream.**",
        "data.terraform_remote_state.gone",
        READ_LATER,
    ),
    story(
        "checks",
        "show -json u",
        "**",
        "data.terraform_remote_state.gone",
        READ_LATER,
    ),
    story(
        "checks",
        "show -json u",
        "relevant_attributes.*",
        "",
        "a plan that only refreshes has no objects to take keys from",
    ),
];
