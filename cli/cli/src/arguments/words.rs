//! Text taken apart: the words of `TF_CLI_ARGS`, and values with rules of their own.

/// Splits text into words as a shell does: at spaces, with single and double quotes and backslashes.
/// Nothing is expanded.
pub(super) fn shell_words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote is not closed".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some('\\') => match characters.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some('\n') => {}
                            Some(c) => word.extend(['\\', c]),
                            None => return Err("a double quote is not closed".to_owned()),
                        },
                        Some(c) => word.push(c),
                        None => return Err("a double quote is not closed".to_owned()),
                    }
                }
            }
            '\\' => match characters.next() {
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("it ends with a backslash".to_owned()),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What of the world is read before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Every object of the state.
    All,
    /// Only what the plan touches.
    Changed,
    /// Nothing.
    Nothing,
}

/// Reads the value of `-refresh`.
pub(super) fn refresh(text: &str) -> Result<Refresh, String> {
    match text {
        "true" | "1" | "t" | "T" | "TRUE" | "True" => Ok(Refresh::All),
        "false" | "0" | "f" | "F" | "FALSE" | "False" => Ok(Refresh::Nothing),
        "changed" => Ok(Refresh::Changed),
        _ => Err("it must be true, false or changed".to_owned()),
    }
}

/// How many operations run at a time where nothing else is said.
pub(super) const PARALLELISM: usize = 10;

/// Reads the value of `-parallelism`. 0 leaves it as it is without the flag, as Terraform has it.
pub(super) fn parallelism(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Ok(PARALLELISM),
        Ok(n) => Ok(n),
        Err(_) => Err("it must be a whole number, 1 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let check = |text: &str, want: &[&str]| {
            assert_eq!(
                shell_words(text).expect("words"),
                want.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "{text}"
            );
        };
        check("", &[]);
        check("  -no-color  -input=false ", &["-no-color", "-input=false"]);
        check(
            "-var 'a=b c' \"-var=x=\\\"y\\\"\"",
            &["-var", "a=b c", "-var=x=\"y\""],
        );
        check("a\\ b ''", &["a b", ""]);
        check("'a'\"b\"c", &["abc"]);
        for bad in ["'a", "\"a", "a\\"] {
            assert!(shell_words(bad).is_err(), "{bad}");
        }
    }
}
