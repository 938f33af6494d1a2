//! Trees drawn with lines, as `modules` and `providers` print them.

use formwork_syntax::on_deep_stack;

/// A line of a tree, with what hangs below it.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    /// The text of the line.
    pub text: String,
    /// What hangs below, in order.
    pub below: Vec<Branch>,
}

impl Branch {
    /// A line with nothing below it.
    pub fn leaf(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            below: Vec::new(),
        }
    }
}

/// The tree, below a point that stands for its root.
pub fn tree_text(branches: &[Branch]) -> String {
    let mut out = String::from(".\n");
    draw(branches, "", &mut out);
    out
}

fn draw(branches: &[Branch], lead: &str, out: &mut String) {
    let mut branches = branches.iter().peekable();
    while let Some(branch) = branches.next() {
        let (here, below) = match branches.peek() {
            // blanks that do not break, as Terraform has them
            Some(_) => ("├── ", "│\u{a0}\u{a0} "),
            None => ("└── ", "    "),
        };
        for part in [lead, here, &branch.text, "\n"] {
            out.push_str(part);
        }
        on_deep_stack(|| draw(&branch.below, &format!("{lead}{below}"), out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let mut a = Branch::leaf("a");
        a.below = vec![Branch::leaf("b"), Branch::leaf("c")];
        let mut d = a.clone();
        d.text = "d".into();
        assert_eq!(
            tree_text(&[a, d]),
            ".\n├── a\n│\u{a0}\u{a0} ├── b\n│\u{a0}\u{a0} └── c\n└── d\n    ├── b\n    └── c\n"
        );
        assert_eq!(tree_text(&[]), ".\n");
    }
}
