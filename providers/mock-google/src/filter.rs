//! The `filter` of list methods: both of compute's dialects, as far as clients use them.
//!
//! The newer one: `name = "x"`, `labels.env = prod`, `status != RUNNING`, `AND`, `OR`, `NOT`, brackets;
//! terms side by side are ANDed. The older: `name eq 'regex'`, `name ne 'regex'`. What neither knows
//! is refused, since a filter that is ignored answers with objects nobody asked for.

use regex::Regex;
use serde_json::Value;

use crate::checking::Body;
use crate::links::path_of;

/// A filter that was understood.
#[derive(Debug)]
pub(crate) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    Compare {
        field: Vec<String>,
        operator: Operator,
        value: String,
    },
    Matches {
        field: Vec<String>,
        pattern: Regex,
        wanted: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Has,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

impl Filter {
    /// Reads a filter. The error says what it stumbled over.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser {
            tokens,
            at: 0,
            depth: 0,
        };
        let filter = parser.any()?;
        if parser.at < parser.tokens.len() {
            return Err(format!("it does not go on with {}", parser.peek_text()));
        }
        Ok(filter)
    }

    /// Whether an object passes.
    pub(crate) fn accepts(&self, body: &Body) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.accepts(body)),
            Filter::Any(parts) => parts.iter().any(|part| part.accepts(body)),
            Filter::Not(part) => !part.accepts(body),
            Filter::Compare {
                field,
                operator,
                value,
            } => {
                let found = values(body, field);
                match operator {
                    Operator::NotEqual => !found.iter().any(|own| equal(own, value)),
                    Operator::Equal => found.iter().any(|own| equal(own, value)),
                    Operator::Has => {
                        if value == "*" {
                            !found.is_empty()
                        } else {
                            found
                                .iter()
                                .any(|own| equal(own, value) || own.contains(value.as_str()))
                        }
                    }
                    _ => found.iter().any(|own| ordered(own, *operator, value)),
                }
            }
            Filter::Matches {
                field,
                pattern,
                wanted,
            } => values(body, field).iter().any(|own| pattern.is_match(own)) == *wanted,
        }
    }
}

/// The texts that a field path leads to; lists are looked through.
fn values(body: &Body, field: &[String]) -> Vec<String> {
    let Some((first, rest)) = field.split_first() else {
        return Vec::new();
    };
    let mut found: Vec<&Value> = body.get(first).into_iter().collect();
    for name in rest {
        found = found
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().filter_map(|item| item.get(name)).collect(),
                other => other.get(name).into_iter().collect::<Vec<_>>(),
            })
            .collect();
    }
    found
        .into_iter()
        .flat_map(|value| match value {
            Value::Array(items) => items.iter().collect(),
            other => vec![other],
        })
        .filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
            _ => None,
        })
        .collect()
}

fn equal(own: &str, wanted: &str) -> bool {
    if own == wanted {
        return true;
    }
    if wanted.contains('*') {
        let pattern = wanted
            .split('*')
            .map(regex::escape)
            .collect::<Vec<_>>()
            .join(".*");
        return Regex::new(&format!("^{pattern}$")).is_ok_and(|pattern| pattern.is_match(own));
    }
    // a link may be written with any host and version
    own.contains("/projects/") && path_of(own).is_some() && path_of(own) == path_of(wanted)
}

fn ordered(own: &str, operator: Operator, wanted: &str) -> bool {
    let order = match (own.parse::<f64>(), wanted.parse::<f64>()) {
        (Ok(own), Ok(wanted)) => own.partial_cmp(&wanted),
        _ => Some(own.cmp(wanted)),
    };
    order.is_some_and(|order| match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::More => order.is_gt(),
        _ => order.is_ge(),
    })
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Operator(Operator),
    Open,
    Close,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(&c) = rest.peek() {
        match c {
            ' ' | '\t' | '\n' | '\r' => {
                rest.next();
            }
            '(' | ')' => {
                rest.next();
                out.push(if c == '(' { Token::Open } else { Token::Close });
            }
            '"' | '\'' => {
                rest.next();
                let mut word = String::new();
                loop {
                    match rest.next() {
                        Some('\\') => word.extend(rest.next()),
                        Some(end) if end == c => break,
                        Some(other) => word.push(other),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
                out.push(Token::Quoted(word));
            }
            '=' | '!' | '<' | '>' | ':' => {
                rest.next();
                let equals = rest.next_if_eq(&'=').is_some();
                out.push(Token::Operator(match (c, equals) {
                    ('!', true) => Operator::NotEqual,
                    ('!', false) => return Err("\"!\" stands alone".to_owned()),
                    ('<', true) => Operator::LessOrEqual,
                    ('<', false) => Operator::Less,
                    ('>', true) => Operator::MoreOrEqual,
                    ('>', false) => Operator::More,
                    (':', _) => Operator::Has,
                    _ => Operator::Equal,
                }));
            }
            _ => {
                let mut word = String::new();
                // a link as a bare value holds colons; a field name never does
                let value = matches!(out.last(), Some(Token::Operator(_)))
                    || matches!(out.last(), Some(Token::Word(word)) if word == "eq" || word == "ne");
                while let Some(&c) = rest.peek() {
                    let ends = if value {
                        " \t\r\n()".contains(c)
                    } else {
                        " \t\r\n()=!<>:\"'".contains(c)
                    };
                    if ends {
                        break;
                    }
                    word.push(c);
                    rest.next();
                }
                out.push(Token::Word(word));
            }
        }
    }
    Ok(out)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn peek_text(&self) -> String {
        self.peek()
            .map_or("its end".to_owned(), |token| format!("{token:?}"))
    }

    fn word(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word == wanted)
    }

    fn any(&mut self) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > 50 {
            return Err("it nests too deeply".to_owned());
        }
        let mut parts = vec![self.all()?];
        while self.word("OR") {
            self.at += 1;
            parts.push(self.all()?);
        }
        self.depth -= 1;
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Filter::Any(parts)
        })
    }

    fn all(&mut self) -> Result<Filter, String> {
        let mut parts = vec![self.term()?];
        loop {
            if self.word("AND") {
                self.at += 1;
            } else if self.peek().is_none() || self.word("OR") || self.peek() == Some(&Token::Close)
            {
                break;
            }
            parts.push(self.term()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Filter::All(parts)
        })
    }

    fn term(&mut self) -> Result<Filter, String> {
        if self.word("NOT") {
            self.at += 1;
            self.depth += 1;
            if self.depth > 50 {
                return Err("it nests too deeply".to_owned());
            }
            let inner = self.term()?;
            self.depth -= 1;
            return Ok(Filter::Not(Box::new(inner)));
        }
        if self.peek() == Some(&Token::Open) {
            self.at += 1;
            let inner = self.any()?;
            if self.peek() != Some(&Token::Close) {
                return Err("a bracket is not closed".to_owned());
            }
            self.at += 1;
            return Ok(inner);
        }
        let Some(Token::Word(field)) = self.peek().cloned() else {
            return Err(format!(
                "a field name is missing before {}",
                self.peek_text()
            ));
        };
        self.at += 1;
        let field: Vec<String> = field.split('.').map(str::to_owned).collect();
        match self.peek().cloned() {
            Some(Token::Operator(operator)) => {
                self.at += 1;
                let value = self.value()?;
                Ok(Filter::Compare {
                    field,
                    operator,
                    value,
                })
            }
            Some(Token::Word(word)) if word == "eq" || word == "ne" => {
                self.at += 1;
                let value = self.value()?;
                let pattern =
                    Regex::new(&format!("^(?:{value})$")).map_err(|error| error.to_string())?;
                Ok(Filter::Matches {
                    field,
                    pattern,
                    wanted: word == "eq",
                })
            }
            _ => Err(format!(
                "an operator is missing before {}",
                self.peek_text()
            )),
        }
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Word(value) | Token::Quoted(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(format!("a value is missing before {}", self.peek_text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_dialects_are_read() {
        let body = json!({
            "name": "web-1", "status": "RUNNING", "sizeGb": "20", "labels": {"env": "prod"},
            "network": "https://www.googleapis.com/compute/v1/projects/p/global/networks/n",
            "disks": [{"boot": true}], "zone": "z"
        });
        let body = body.as_object().unwrap();
        for (filter, expected) in [
            ("name=web-1", true),
            ("name = \"web-1\"", true),
            ("name != web-1", false),
            ("name = web-*", true),
            ("name eq web-.*", true),
            ("name eq 'web'", false),
            ("name ne web", true),
            ("labels.env=prod status=RUNNING", true),
            ("labels.env=test OR status=RUNNING", true),
            ("(labels.env=test) OR (status=STOPPED)", false),
            ("NOT labels.env=test", true),
            ("labels.env:*", true),
            ("labels.team:*", false),
            ("sizeGb > 10 AND sizeGb<=20", true),
            (
                "network=https://compute.googleapis.com/compute/beta/projects/p/global/networks/n",
                true,
            ),
            ("network=\"projects/p/global/networks/n\"", true),
            ("disks.boot=true", true),
        ] {
            assert_eq!(
                Filter::parse(filter).unwrap().accepts(body),
                expected,
                "{filter}"
            );
        }
        for filter in ["name", "= x", "(name=x", "name = 'x", "name=x)"] {
            assert!(Filter::parse(filter).is_err(), "{filter}");
        }
    }
}
