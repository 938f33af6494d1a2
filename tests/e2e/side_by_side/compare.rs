//! Two documents compared, key by key.

use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

/// One place at which two documents differ.
#[derive(Debug)]
pub struct Difference {
    /// The place: names and numbers of elements, joined by dots.
    pub at: String,
    ours: String,
    theirs: String,
}

impl Difference {
    pub fn new(at: &str, ours: &impl fmt::Debug, theirs: &impl fmt::Debug) -> Self {
        Self {
            at: at.to_owned(),
            ours: format!("{ours:?}"),
            theirs: format!("{theirs:?}"),
        }
    }

    fn of(at: &str, ours: Option<&Value>, theirs: Option<&Value>) -> Self {
        let text = |v: Option<&Value>| v.map_or_else(|| "(absent)".to_owned(), Value::to_string);
        Self {
            at: at.to_owned(),
            ours: text(ours),
            theirs: text(theirs),
        }
    }

    /// What stands there, on one of the sides.
    pub fn holds(&self, text: &str) -> bool {
        self.ours.contains(text) || self.theirs.contains(text)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |t: &str| t.chars().take(700).collect::<String>();
        write!(
            f,
            "at {}\n    ours   {}\n    theirs {}",
            self.at,
            cut(&self.ours),
            cut(&self.theirs)
        )
    }
}

/// Everything in which two documents differ. Elements of arrays are compared by their place; where the
/// same elements stand in another order, that is the one difference.
pub fn differences(at: &str, ours: &Value, theirs: &Value, found: &mut Vec<Difference>) {
    let below = |name: &str| match at.is_empty() {
        true => name.to_owned(),
        false => format!("{at}.{name}"),
    };
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, ours) in a {
                match b.get(key) {
                    Some(theirs) => differences(&below(key), ours, theirs, found),
                    None => found.push(Difference::of(&below(key), Some(ours), None)),
                }
            }
            for (key, theirs) in b.iter().filter(|(k, _)| !a.contains_key(*k)) {
                found.push(Difference::of(&below(key), None, Some(theirs)));
            }
        }
        (Value::Array(a), Value::Array(b)) if key_of_element(at).is_some() => {
            by_key(at, a, b, found);
        }
        (Value::Array(a), Value::Array(b)) => {
            let sorted = |all: &[Value]| {
                let mut texts: Vec<String> = all.iter().map(Value::to_string).collect();
                texts.sort();
                texts
            };
            if a != b && sorted(a) == sorted(b) {
                found.push(Difference::of(&below("order"), Some(ours), Some(theirs)));
                return;
            }
            for i in 0..a.len().max(b.len()) {
                match (a.get(i), b.get(i)) {
                    (Some(a), Some(b)) => differences(&below(&i.to_string()), a, b, found),
                    (a, b) => found.push(Difference::of(&below(&i.to_string()), a, b)),
                }
            }
        }
        (a, b) if a != b => found.push(Difference::of(at, Some(a), Some(b))),
        _ => {}
    }
}

/// What tells elements of an array apart whose order is not Terraform's own, as it differs from run to run.
fn key_of_element(at: &str) -> Option<fn(&Value) -> String> {
    fn diagnostic(d: &Value) -> String {
        let d = d.get("diagnostic").unwrap_or(d);
        format!("{}@{}", d["summary"], d["range"]["start"]["line"])
    }
    match at.rsplit('.').next()? {
        "modules" | "relevant_attributes" | "sensitive_attributes" => Some(Value::to_string),
        "planned_change" | "resource_drift" if at.starts_with("stream") => {
            Some(|l| l["change"]["resource"]["addr"].to_string())
        }
        "check_results" => Some(|c| c["config_addr"].to_string()),
        "checks" => Some(|c| c["address"]["to_display"].to_string()),
        "objects" => Some(|o| o["object_addr"].to_string()),
        // one more or less is one difference
        "resources" if at.starts_with("prior_state") || at.starts_with("values") => {
            Some(|r| format!("{}{}", r["address"], r["deposed_key"]))
        }
        "resources" if at.starts_with("statefile") => {
            Some(|r| format!("{}{}{}", r["module"], r["type"], r["name"]))
        }
        "diagnostic" | "diagnostics" => Some(diagnostic),
        _ => None,
    }
}

fn by_key(at: &str, ours: &[Value], theirs: &[Value], found: &mut Vec<Difference>) {
    let Some(key) = key_of_element(at) else {
        return;
    };
    let named = |all: &[Value]| {
        let mut all: Vec<(String, Value)> = all.iter().map(|v| (key(v), v.clone())).collect();
        all.sort_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| a.1.to_string().cmp(&b.1.to_string()))
        });
        all
    };
    let (mut a, mut b) = (
        named(ours).into_iter().peekable(),
        named(theirs).into_iter().peekable(),
    );
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.0.cmp(&b.0),
        };
        let ours = if order.is_le() { a.next() } else { None };
        let theirs = if order.is_ge() { b.next() } else { None };
        let name = ours
            .as_ref()
            .or(theirs.as_ref())
            .map(|e| e.0.clone())
            .unwrap_or_default();
        let name = format!("{at}.<{}>", name.replace('.', ","));
        match (ours, theirs) {
            (Some((_, a)), Some((_, b))) => differences(&name, &a, &b, found),
            (a, b) => found.push(Difference::of(
                &name,
                a.map(|a| a.1).as_ref(),
                b.map(|b| b.1).as_ref(),
            )),
        }
    }
}

/// The document without what differs from run to run, what is another's to say (details are in our own
/// words), and what is ours alone.
pub fn settled(mut document: Value) -> Value {
    settle(&mut document);
    document
}

fn expressions() -> &'static [(Regex, &'static str)] {
    static ALL: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    ALL.get_or_init(|| {
        [
            (
                r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
                "UUID",
            ),
            (
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
                "TIME",
            ),
            (r"\bafter \d+s\b", "after Ns"),
            (r"\[\d+s elapsed\]", "[Ns elapsed]"),
        ]
        .into_iter()
        .map(|(e, to)| (Regex::new(e).expect("an expression"), to))
        .collect()
    })
}

fn settle(value: &mut Value) {
    match value {
        Value::String(text) => {
            for (expression, to) in expressions() {
                if expression.is_match(text) {
                    *text = expression.replace_all(text, *to).into_owned();
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(fields) => {
            fields.remove("formwork");
            for (key, value) in fields.iter_mut() {
                match (key.as_str(), &mut *value) {
                    ("detail", Value::String(text)) if !text.is_empty() => *text = "...".into(),
                    ("deposed" | "deposed_key" | "lineage", Value::String(text)) => {
                        *text = "KEY".into();
                    }
                    ("elapsed_seconds", v) => *v = Value::Null,
                    (_, v) => settle(v),
                }
            }
        }
        _ => {}
    }
}
