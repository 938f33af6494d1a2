//! Made-up configuration: a seeded source of choices, a writer of random text in the language, and the
//! budget of the harnesses.

use std::time::{Duration, Instant};

/// A small generator of numbers (xorshift): the same seed gives the same text everywhere.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// Calls `case` with rising seeds, so many for a second of the budget, at least once. The time itself
/// only ends it early: a faster machine tries nothing that a slower one did not.
pub fn within_budget(harness: &str, a_second: u64, case: impl FnMut(u64)) {
    within_budget_from(harness, 1, a_second, case);
}

/// The same with seeds from `first`.
pub fn within_budget_from(harness: &str, first: u64, a_second: u64, mut case: impl FnMut(u64)) {
    let seconds: u64 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(10);
    let last = first.saturating_add((seconds * a_second).max(1) - 1);
    let start = Instant::now();
    let mut seed = first;
    loop {
        case(seed);
        if seed == last || start.elapsed() >= Duration::from_secs(seconds) {
            println!("{harness}: seeds {first} to {seed}");
            return;
        }
        seed += 1;
    }
}

/// A random file that is valid.
pub fn file(choices: &mut Choices) -> String {
    let mut out = String::new();
    body(choices, 0, &mut out);
    out
}

fn blank(choices: &mut Choices, out: &mut String) {
    out.push_str(choices.of(&["", " ", " ", "  ", "\t", " /* c */ "]));
}

/// Blanks where a line break means nothing.
fn gap(choices: &mut Choices, out: &mut String) {
    out.push_str(choices.of(&["", " ", " ", " ", "\n", " # c\n", "  // c\n", "/* c\n */"]));
}

fn name<'a>(choices: &mut Choices) -> &'a str {
    choices.of(&[
        "a", "b2", "_c", "d-e", "größe", "for_each", "in", "if", "endif", "x",
    ])
}

fn body(choices: &mut Choices, depth: usize, out: &mut String) {
    for index in 0..choices.below(5) {
        out.push_str(choices.of(&["", "  ", "\t", "\n", "# c\n", "/* c */"]));
        if choices.one_in(3) && depth < 4 {
            out.push_str(name(choices));
            for _ in 0..choices.below(3) {
                out.push(' ');
                out.push_str(choices.of(&["\"l\"", "l", "\"a b\\n\"", "\"\""]));
            }
            match choices.below(3) {
                0 => out.push_str(" {}"),
                1 => {
                    out.push_str(" { n = ");
                    expression(choices, 3, out);
                    out.push_str(" }");
                }
                _ => {
                    out.push_str(" {\n");
                    body(choices, depth + 1, out);
                    out.push('}');
                }
            }
        } else {
            // A name of its own: no argument may be set twice.
            out.push_str(&format!("n{index}"));
            blank(choices, out);
            out.push('=');
            blank(choices, out);
            expression(choices, 0, out);
            if out.ends_with("\nE") {
                out.push('\n');
                continue;
            }
        }
        out.push_str(choices.of(&["\n", "\n", " # c\n", "\t// c\n", "\r\n", " \n\n"]));
    }
}

fn expression(choices: &mut Choices, depth: usize, out: &mut String) {
    let leaf = depth > 3 || choices.one_in(3);
    match if leaf {
        choices.below(5)
    } else {
        choices.below(16)
    } {
        0 => out.push_str(choices.of(&["0", "1", "1.5", "2e3", "1.25E-2", "12345678901234567890"])),
        1 => out.push_str(choices.of(&["true", "false", "null"])),
        2 => {
            out.push_str(choices.of(&["\"\"", "\"x\"", "\"a\\n\\\"\\u00e9$${b}%%{\"", "\"$ % é\""]))
        }
        3 => out.push_str(name(choices)),
        4 => {
            out.push_str(name(choices));
            for _ in 0..choices.below(3) {
                out.push_str(choices.of(&[".b", "[0]", "[\"k\"]", ".0.f", "[*]", ".*", ".c[x]"]));
                // A splat of the old form takes no second one.
                if out.ends_with(".*") {
                    out.push_str(choices.of(&["", ".d", ".d.0"]));
                    return;
                }
            }
        }
        5 => inner(choices, depth, "(", ")", out),
        6 => {
            out.push_str(choices.of(&["-", "!", "- "]));
            out.push('(');
            expression(choices, depth + 1, out);
            out.push(')');
        }
        7 | 8 => {
            expression(choices, depth + 1, out);
            out.push_str(choices.of(&[
                " + ", " - -", " *", "/ ", " % ", "==", " != ", " < ", ">=", " && ", " || ",
            ]));
            expression(choices, depth + 1, out);
        }
        9 => {
            expression(choices, depth + 1, out);
            out.push_str(" ? ");
            expression(choices, depth + 1, out);
            out.push_str(" : ");
            expression(choices, depth + 1, out);
        }
        10 => {
            out.push_str(choices.of(&["f", "max", "provider::a::b"]));
            out.push('(');
            let count = choices.below(3);
            list(choices, depth, count, out);
            if count > 0 {
                out.push_str(choices.of(&["", "", "...", ","]));
            }
            out.push(')');
        }
        11 => {
            out.push('[');
            let count = choices.below(4);
            list(choices, depth, count, out);
            out.push_str(if count > 0 {
                choices.of(&["", ",", ",\n"])
            } else {
                ""
            });
            out.push(']');
        }
        12 => object(choices, depth, out),
        13 => {
            out.push_str("[for ");
            out.push_str(choices.of(&["v", "k, v"]));
            out.push_str(" in ");
            expression(choices, depth + 1, out);
            out.push_str(" : ");
            expression(choices, depth + 1, out);
            out.push_str(choices.of(&["", " if v"]));
            out.push(']');
        }
        14 => {
            out.push_str("{ for k, v in ");
            expression(choices, depth + 1, out);
            gap(choices, out);
            out.push_str(": k => ");
            expression(choices, depth + 1, out);
            out.push_str(choices.of(&["", "...", " if k"]));
            out.push('}');
        }
        _ => template(choices, depth, out),
    }
}

fn inner(choices: &mut Choices, depth: usize, open: &str, close: &str, out: &mut String) {
    out.push_str(open);
    gap(choices, out);
    expression(choices, depth + 1, out);
    gap(choices, out);
    out.push_str(close);
}

fn list(choices: &mut Choices, depth: usize, count: usize, out: &mut String) {
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        gap(choices, out);
        expression(choices, depth + 1, out);
    }
}

fn object(choices: &mut Choices, depth: usize, out: &mut String) {
    out.push('{');
    for index in 0..choices.below(4) {
        out.push_str(choices.of(&["", "\n", " ", "\n\n"]));
        match choices.below(3) {
            0 => out.push_str(&format!("k{index}")),
            1 => out.push_str(&format!("\"k{index}\"")),
            _ => {
                out.push('(');
                expression(choices, depth + 2, out);
                out.push(')');
            }
        }
        out.push_str(choices.of(&["=", " = ", ":", " : "]));
        expression(choices, depth + 1, out);
        out.push_str(choices.of(&[",", "\n", " # c\n", ",\n"]));
    }
    out.push('}');
}

fn template(choices: &mut Choices, depth: usize, out: &mut String) {
    let heredoc = depth == 0 && choices.one_in(2);
    out.push_str(if heredoc {
        choices.of(&["<<E\n", "<<-E\n  "])
    } else {
        "\""
    });
    for _ in 0..choices.below(4) {
        match choices.below(5) {
            0 | 1 => out.push_str(choices.of(&["text ", "é", "$ ", "$${", "%%{x", "50% "])),
            2 => {
                out.push_str(choices.of(&["${", "${~ ", "${ "]));
                expression(choices, depth.max(2) + 1, out);
                out.push_str(choices.of(&["}", " ~}", " }"]));
            }
            3 => {
                out.push_str("%{ if a ~}yes");
                out.push_str(choices.of(&["", "%{ else }no", "%{~else~} no"]));
                out.push_str("%{ endif }");
            }
            _ => out.push_str(if heredoc { "\n    line\n\n" } else { "\\t" }),
        }
    }
    out.push_str(if heredoc { "\nE" } else { "\"" });
}
