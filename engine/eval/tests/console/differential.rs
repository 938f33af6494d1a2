//! Odd expressions and regular expressions, evaluated here and by the `terraform` binary, compared as
//! the console prints them: types, unknown values and marks included.
//!
//! Skips with a word if there is no such binary. Each round is a configuration whose local value
//! `results` holds many expressions, each as `try(x, "#ERR")`, with a marker before each;
//! `FORMWORK_TEST_BUDGET` is the time in seconds of each test, the seeds are fixed and printed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use formwork_diagnostics::SourceMap;
use formwork_eval::{Builtins, MapScope, evaluate};
use formwork_syntax::{OffsetMap, quote};
use formwork_values::{Value, print};

use super::odd::Odd;
use super::pools::NAMES;

const PER_ROUND: usize = 300;

/// Whether there is a binary to ask; says so if not.
pub fn is_there() -> bool {
    let there = Command::new("terraform").arg("version").output().is_ok();
    if !there {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::stderr().write_all(b"skipped: there is no terraform here to ask\n");
    }
    there
}

/// For how long, and how many at most: a faster machine compares nothing that a slower one did not.
fn budget(a_second: usize) -> (Duration, usize) {
    let seconds = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok());
    let seconds: usize = seconds.unwrap_or(10);
    let time = Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX));
    (time, seconds.saturating_mul(a_second))
}

/// Another beginning, for long runs.
fn seed_or(by_default: u64) -> u64 {
    let seed = std::env::var("FORMWORK_TEST_SEED").ok();
    seed.and_then(|s| s.parse().ok()).unwrap_or(by_default)
}

/// The names that expressions refer to, with their values.
pub fn scope(functions: &Builtins) -> MapScope {
    let terraform_data = Value::object([("u", Value::dynamic())]);
    let mut scope: MapScope = [(Arc::from("terraform_data"), terraform_data)]
        .into_iter()
        .collect();
    let locals: Vec<(&str, Value)> = NAMES
        .iter()
        .map(|(name, text)| {
            let (value, failed) = value_of(text, &scope, functions);
            assert!(!failed, "{text}");
            (*name, value)
        })
        .collect();
    scope.insert(Arc::from("local"), Value::object(locals));
    scope
}

fn value_of(text: &str, scope: &MapScope, functions: &Builtins) -> (Value, bool) {
    let mut sources = SourceMap::new();
    let file = sources.add("here", text.as_bytes());
    let (expression, said) =
        formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
    let evaluated = evaluate(&expression, scope, functions);
    let failed = said.has_errors() || evaluated.diagnostics.has_errors();
    (evaluated.value, failed)
}

fn tried(expression: &str) -> String {
    format!("try({expression}, \"#ERR\")")
}

/// What the binary prints for each; or that it cannot evaluate the whole, why, and which expression is
/// at fault if it says so.
fn theirs(
    folder: &Path,
    expressions: &[String],
    forgiving: bool,
) -> Result<Vec<String>, (String, Option<usize>)> {
    let other = |why: String| (why, None);
    let mut lines = Vec::new();
    let mut text = String::from("resource \"terraform_data\" \"u\" {}\nlocals {\n");
    for (name, value) in NAMES {
        text.push_str(&format!("  {name} = {value}\n"));
    }
    text.push_str("  results = [\n");
    for (at, expression) in expressions.iter().enumerate() {
        let expression = if forgiving {
            tried(expression)
        } else {
            expression.clone()
        };
        lines.push(text.matches('\n').count() + 1);
        text.push_str(&format!("    \"#{at}#\", {expression},\n"));
    }
    text.push_str("  ]\n}\n");
    std::fs::write(folder.join("main.tf"), text).expect("written");
    let mut child = Command::new("terraform")
        .arg("console")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("CHECKPOINT_DISABLE", "1")
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| other(e.to_string()))?;
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"local.results\n").expect("asked");
    drop(input);
    let output = child.wait_with_output().map_err(|e| other(e.to_string()))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || !printed.starts_with('[') {
        let why = format!("{}{printed}", String::from_utf8_lossy(&output.stderr));
        let line = why.split_once("main.tf line ").and_then(|(_, rest)| {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<usize>().ok()
        });
        let at = line.map(|line| lines.partition_point(|l| *l <= line));
        return Err((why, at.and_then(|at| at.checked_sub(1))));
    }
    let mut rest = printed.as_str();
    let mut answers = Vec::new();
    for at in 0..expressions.len() {
        let begin = format!("  \"#{at}#\",\n");
        let (_, after) = rest
            .split_once(&begin)
            .ok_or_else(|| other("a marker is missing".to_owned()))?;
        let end = format!("  \"#{}#\",\n", at + 1);
        let answer = match after.find(&end) {
            Some(at) => &after[..at],
            None => after.strip_suffix("]\n").unwrap_or(after),
        };
        answers.push(answer.to_owned());
        rest = after;
    }
    Ok(answers)
}

/// What is printed here, in the same place.
pub fn ours(expression: &str, scope: &MapScope, functions: &Builtins, forgiving: bool) -> String {
    let expression = if forgiving {
        tried(expression)
    } else {
        expression.to_owned()
    };
    let (value, failed) = value_of(&expression, scope, functions);
    if failed {
        return "firm error".to_owned();
    }
    let printed = print::console(&Value::tuple(vec![value]));
    let inner = printed.strip_prefix("[\n").unwrap_or(&printed);
    inner.strip_suffix("]").unwrap_or(inner).to_owned()
}

#[allow(clippy::print_stdout)] // shown of tests that fail
fn say(text: &str) {
    println!("{text}");
}

/// Compares until the time is over, or so many have been compared.
fn compare(
    seed: u64,
    a_second: usize,
    mut make: impl FnMut(&mut Odd) -> String,
    excused: impl Fn(&str, &str, &str) -> bool,
) {
    if !is_there() {
        return;
    }
    let (time, limit) = budget(a_second);
    let seed = seed_or(seed);
    let end = Instant::now() + time;
    say(&format!("seed {seed}"));
    let functions = super::recorded::builtins();
    let scope = scope(&functions);
    let mut odd = Odd::new(seed, &functions);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut asked, mut passed, mut failed, mut firm) = (0, 0, 0, 0);
    let mut different = Vec::new();
    while Instant::now() < end && asked < limit {
        let mut expressions: Vec<String> = (0..PER_ROUND).map(|_| make(&mut odd)).collect();
        let answers = loop {
            match theirs(folder.path(), &expressions, true) {
                Ok(answers) => break answers,
                Err((_, Some(at))) if at < expressions.len() => {
                    // a mistake that nothing forgives must be one here too
                    let expression = expressions.remove(at);
                    let here = ours(&expression, &scope, &functions, true);
                    firm += 1;
                    if here != "firm error" {
                        different.push(format!(
                            "{expression}\n    here  {here}    there a firm error"
                        ));
                    }
                }
                Err((why, _)) => {
                    let why: String = why.chars().take(1_500).collect();
                    different.push(format!("a round failed: {why}"));
                    break Vec::new();
                }
            }
        };
        let mut judge = |expression: &str, here: &str, there: &str| {
            if here == there {
                return;
            }
            if excused(expression, here, there) {
                passed += 1;
            } else {
                different.push(format!("{expression}\n    here  {here}    there {there}"));
            }
        };
        // what is not known is not what the wrapper makes of it
        let mut open = Vec::new();
        for (expression, there) in expressions.iter().zip(&answers) {
            asked += 1;
            let here = ours(expression, &scope, &functions, true);
            failed += usize::from(there.contains("#ERR"));
            if there.contains("(known after apply)") && !here.contains("#ERR") {
                open.push(expression.clone());
            } else {
                judge(expression, &here, there);
            }
        }
        while !open.is_empty() {
            match theirs(folder.path(), &open, false) {
                Ok(answers) => {
                    for (expression, there) in open.iter().zip(&answers) {
                        judge(
                            expression,
                            &ours(expression, &scope, &functions, false),
                            there,
                        );
                    }
                    break;
                }
                Err((_, Some(at))) if at < open.len() => {
                    open.remove(at);
                }
                Err((why, _)) => {
                    judge("a round", "", &why.chars().take(1_500).collect::<String>());
                    break;
                }
            }
        }
    }
    say(&format!(
        "{asked} compared, {failed} of them errors, {firm} more not forgiven, {passed} excused"
    ));
    assert!(passed * 40 <= asked, "{passed} excused, more than known");
    assert!(
        different.is_empty(),
        "{} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}

/// Differences that are meant: see the head of the functions' module, and docs/decisions.
fn meant(expression: &str, here: &str, there: &str) -> bool {
    let unknown = "    (known after apply),\n";
    // what is certain is told while something is unknown, a mistake or a value: that it is true is
    // held by `unknown.rs`
    (there.trim() == unknown.trim())
        // one side of a logical operator decides alone
        || expression.contains("&&") || expression.contains("||")
        // what cannot be found for networks at the very beginning of all, or IPv4 within IPv6
        || expression.contains("cidr") && (expression.contains("::") || expression.contains(":ffff:") || expression.contains("\"0.0.0.0/0"))
        // code pages of old
        || ["\"IBM437\"", "\"HZ-GB-2312\"", "\"Shift_JIS\"", "\"EUC-JP\"", "\"ISO-8859-8-I\""].iter().any(|e| expression.contains(e))
        // what is unknown keeps its marks
        || (here.trim() == "(sensitive value)," && expression.contains("coalesce("))
        // what is unknown, or null of no type, is not brought to one type with other things
        || ["local.uo", "local.nm", "local.uset", "local.us"].iter().any(|e| expression.contains(e))
            && ["toset(", "tolist(", "tomap(", "coalescelist("].iter().any(|e| expression.contains(e))
        // elements are counted from the end too
        || (there.contains("#ERR") && expression.contains("element("))
        // what a branch that is not taken would have been, had it been anything, is not asked
        || (there.contains("#ERR") && expression.contains(" ? "))
        // what is made a set keeps the type of its elements while unknown, so that more mistakes are told
        || (here.contains("#ERR") && expression.contains("local.uset"))
        // what may still match is not said to match nothing
        || (here.trim() == unknown.trim() && expression.contains("matchkeys("))
        // `try` keeps marks
        || (here.trim() == "(sensitive value)," && there.trim() == unknown.trim())
        // some mistakes are told only when everything is known
        || (here.trim() == unknown.trim() && there.contains("#ERR"))
        // empty collections of no type are not brought to one type with tuples
        || ["local.es", "local.el", "local.em", "[]", "({})", "null"].iter().any(|e| expression.contains(e))
}

#[test]
fn odd_expressions() {
    compare(
        20_261_130,
        400,
        |odd| {
            let depth = 1 + odd.below(3);
            if odd.below(3) == 0 {
                odd.any(depth)
            } else {
                odd.call(depth - 1)
            }
        },
        meant,
    );
}

#[test]
fn regular_expressions() {
    compare(
        20_261_131,
        600,
        |odd| {
            let pattern = odd.pattern(2);
            let subject = quote(odd.subject());
            match odd.below(4) {
                0 => format!("regex({}, {subject})", quote(&pattern)),
                1 => {
                    let replacement = quote(odd.replacement());
                    format!(
                        "replace({subject}, {}, {replacement})",
                        quote(&format!("/{pattern}/"))
                    )
                }
                _ => format!("regexall({}, {subject})", quote(&pattern)),
            }
        },
        |_, _, _| false,
    );
}
