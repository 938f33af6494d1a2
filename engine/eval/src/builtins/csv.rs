//! `csvdecode`: a table with a header line as a list of objects of text.

use formwork_values::{ObjectType, Type, Value};
use std::sync::Arc;

use super::{Answer, Given};
use crate::functions::CallError;

pub(super) fn csvdecode(given: &Given<'_>) -> Answer {
    let records = records(given.text(0))
        .map_err(|(line, problem)| CallError::call(format!("On line {line}, {problem}.")))?;
    let mut records = records.into_iter();
    let Some((_, names)) = records.next() else {
        return Err(CallError::call(
            "The header line, which names the columns, is missing.",
        ));
    };
    let ty = ObjectType::new(
        names
            .iter()
            .map(|n| (formwork_values::normalise(n).into_owned(), Type::String)),
    );
    if ty.len() != names.len() {
        return Err(CallError::call(
            "Two columns have the same name in the header line.",
        ));
    }
    let ty = Arc::new(ty);
    let mut rows = Vec::new();
    for (line, fields) in records {
        if fields.len() != names.len() {
            return Err(CallError::call(format!(
                "On line {line} there are {} fields, but the header line names {} columns.",
                fields.len(),
                names.len()
            )));
        }
        rows.push(Value::object(
            names
                .iter()
                .cloned()
                .zip(fields.into_iter().map(Value::string)),
        ));
    }
    Ok(Value::list(Type::Object(ty), rows))
}

type Records = Vec<(usize, Vec<String>)>;

/// Records with the line each begins on; empty lines are no records.
fn records(text: &str) -> Result<Records, (usize, String)> {
    let mut all = Vec::new();
    let mut fields: Vec<String> = Vec::new();
    let mut line = 1;
    let mut rest = text;
    let mut begun = line;
    loop {
        if fields.is_empty() {
            begun = line;
            // an empty line, or the end
            if let Some(after) = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')) {
                line += 1;
                rest = after;
                continue;
            }
            if rest.is_empty() || rest == "\r" {
                return Ok(all);
            }
        }
        let (field, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_field(quoted, &mut line)?
        } else {
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            let mut field = &rest[..end];
            if rest[end..].starts_with('\n') || end == rest.len() {
                field = field.strip_suffix('\r').unwrap_or(field);
            }
            if field.contains('"') {
                return Err((
                    line,
                    "a double quote stands in a field without quotes".to_owned(),
                ));
            }
            (field.to_owned(), &rest[end..])
        };
        fields.push(field);
        if let Some(more) = after.strip_prefix(',') {
            rest = more;
            if rest.is_empty() {
                fields.push(String::new());
                all.push((begun, std::mem::take(&mut fields)));
            }
            continue;
        }
        all.push((begun, std::mem::take(&mut fields)));
        rest = after.strip_prefix('\n').map_or(after, |next| {
            line += 1;
            next
        });
    }
}

/// The text of a field after its opening quote, and what follows the closing one.
fn quoted_field<'t>(text: &'t str, line: &mut usize) -> Result<(String, &'t str), (usize, String)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let Some(at) = rest.find('"') else {
            return Err((*line, "a field in double quotes is not closed".to_owned()));
        };
        let part = &rest[..at];
        *line += part.matches('\n').count();
        field.push_str(&part.replace("\r\n", "\n"));
        let after = &rest[at + 1..];
        if let Some(more) = after.strip_prefix('"') {
            field.push('"');
            rest = more;
            continue;
        }
        let after = after
            .strip_prefix('\r')
            .filter(|a| a.starts_with('\n'))
            .unwrap_or(after);
        if after.is_empty() || after.starts_with([',', '\n']) {
            return Ok((field, after));
        }
        return Err((*line, "text follows a field's closing quote".to_owned()));
    }
}
