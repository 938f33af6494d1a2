//! Depth and length: a thousand levels of anything, chains of ten thousand links, and what lies beyond
//! the limit, through every walk there is, on the stack of a small thread too.

use formwork_diagnostics::FileId;
use formwork_syntax::{MAX_NESTING, format, parse};
use std::time::{Duration, Instant};

/// A text that nests one form `depth` times.
type Nest = fn(usize) -> String;

fn around(open: &str, close: &str, inner: &str, depth: usize) -> String {
    format!("a = {}{inner}{}\n", open.repeat(depth), close.repeat(depth))
}

const NESTS: &[(&str, Nest)] = &[
    ("parentheses", |n| around("(", ")", "1", n)),
    ("lists", |n| around("[", "]", "1", n)),
    ("objects", |n| around("{ k = ", " }", "1", n)),
    ("calls", |n| around("f(", ")", "1", n)),
    ("conditionals", |n| around("b ? 1 : ", "", "1", n)),
    ("conditions within", |n| around("b ? ", " : 1", "1", n)),
    ("templates", |n| around("\"x${", "}\"", "1", n)),
    ("minus", |n| around("- ", "", "1", n)),
    ("not", |n| around("!", "", "b", n)),
    ("for", |n| around("[for x in b : ", "]", "1", n)),
    ("for of for", |n| around("[for x in ", " : 1]", "b", n)),
    ("index", |n| around("b[", "]", "1 + 1", n)),
    ("full splats", |n| format!("a = b{}\n", "[*]".repeat(n))),
    ("blocks", |n| {
        format!("{}{}", "b {\n".repeat(n), "}\n".repeat(n))
    }),
    ("directives", |n| {
        around("%{ if b }", "%{ endif }", "x", n)
            .replacen("a = ", "a = \"", 1)
            .replace('\n', "\"\n")
    }),
];

/// Chains are no nesting: they may be as long as one likes.
const CHAINS: &[(&str, Nest)] = &[
    ("or", |n| format!("a = b{}\n", " || b".repeat(n))),
    ("plus", |n| format!("a = 1{}\n", " + 1".repeat(n))),
    ("mixed", |n| {
        format!("a = 1{}\n", " + 1 * 2 == 3 && b || c".repeat(n / 5))
    }),
    ("names", |n| format!("a = b{}\n", ".c".repeat(n))),
    ("literal indexes", |n| format!("a = b{}\n", "[0]".repeat(n))),
    ("old indexes", |n| format!("a = b{}\n", ".0.c".repeat(n))),
    ("computed indexes", |n| {
        format!("a = b{}\n", "[c]".repeat(n))
    }),
    ("attribute splats", |n| {
        format!("a = b{}\n", ".*.c[0]".repeat(n))
    }),
    ("after a call", |n| {
        format!("a = f(){}\n", "[c].d".repeat(n))
    }),
    ("interpolations", |n| {
        format!("a = \"{}\"\n", "x${b}".repeat(n))
    }),
    ("directives", |n| {
        format!("a = \"{}\"\n", "%{ if b }x%{ else }y%{ endif }".repeat(n))
    }),
    ("elements", |n| format!("a = [{}]\n", "1, ".repeat(n))),
    ("keys", |n| {
        let keys: String = (0..n).map(|i| format!("  k{i} = {i}\n")).collect();
        format!("a = {{\n{keys}}}\n")
    }),
    ("arguments", |n| {
        (0..n).map(|i| format!("a{i} = {i}\n")).collect()
    }),
    ("blocks", |n| "b \"c\" {\n  d = 1\n}\n".repeat(n)),
    ("lines of a heredoc", |n| {
        format!("a = <<-E\n{}  E\n", "    x ${b}\n".repeat(n))
    }),
    ("comments", |n| format!("a = 1\n{}", "# c\n".repeat(n))),
    ("words", |n| format!("{}{{}}\n", "b ".repeat(n))),
];

/// Every walk of this crate over the text; whether it was accepted.
fn through(text: &str) -> bool {
    let (body, said) = parse(FileId(0), text.as_bytes());
    body.debug_text();
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        for a in body.attributes() {
            a.expression.variables();
            let _ = a.expression.as_constant();
        }
        open.extend(body.blocks().iter().map(|b| b.body.clone()));
    }
    let (out, again) = format(FileId(0), text.as_bytes());
    assert_eq!(said.has_errors(), again.has_errors());
    if !said.has_errors() {
        let (_, wrong) = parse(FileId(0), &out);
        assert!(!wrong.has_errors(), "{wrong:?}");
    }
    !said.has_errors()
}

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    thread
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no panic");
}

#[test]
fn a_thousand_levels_are_fine_and_more_is_an_error() {
    let work = || {
        for (name, nest) in NESTS {
            assert!(through(&nest(MAX_NESTING as usize - 5)), "{name}");
            for beyond in [MAX_NESTING as usize + 100, 50_000] {
                let text = nest(beyond);
                let (_, said) = parse(FileId(0), text.as_bytes());
                let first = said.iter().next().map(|d| d.summary.clone());
                assert_eq!(
                    first.as_deref(),
                    Some("Nesting too deep"),
                    "{name} {beyond}"
                );
                assert_eq!(said.len(), 1, "{name} {beyond}");
                assert!(!through(&text), "{name}");
            }
        }
    };
    work();
    on_small_stack(work);
}

#[test]
fn chains_of_ten_thousand_links_cost_what_they_are_long() {
    on_small_stack(|| {
        for (name, chain) in CHAINS {
            // the best of some, since others use the machine too
            let time = |n: usize| {
                let text = chain(n);
                let once = || {
                    let begun = Instant::now();
                    assert!(through(&text), "{name}");
                    begun.elapsed()
                };
                (0..3).map(|_| once()).min().unwrap_or_default()
            };
            let (short, long) = (time(2_500), time(20_000));
            // Eight times the length; a square would be sixty-four times. Small times are noise.
            let most = short.max(Duration::from_millis(20)) * 30;
            assert!(long < most, "{name}: {short:?}, then {long:?}");
        }
    });
}
