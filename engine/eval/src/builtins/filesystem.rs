//! Files and paths.

use formwork_values::Value;

use super::files::FileError;
use super::hashing::{base64_of, hex_of};
use super::{Answer, Given};
use crate::functions::CallError;

/// A path with `~` replaced.
pub(super) fn expanded(given: &Given<'_>, path: &str) -> Result<String, CallError> {
    let Some(rest) = path.strip_prefix('~') else {
        return Ok(path.to_owned());
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(CallError::call(format!(
            "The home directory of another user cannot be found: write the path {path:?} in full."
        )));
    }
    match given.surroundings().files.home() {
        Some(home) => Ok(clean(&format!("{home}/{rest}"))),
        None => Err(CallError::call("The home directory is not known.")),
    }
}

/// The contents of the file an argument names.
pub(super) fn contents(given: &Given<'_>, at: usize) -> Result<Vec<u8>, CallError> {
    let path = expanded(given, given.text(at))?;
    given.surroundings().files.read(&path).map_err(|error| {
        let advice = match error {
            FileError::Missing => {
                " Files are read when the configuration is evaluated: one that a resource makes comes \
                 too late for a function; use an attribute of that resource."
            }
            _ => "",
        };
        CallError::argument(at, format!("The file {path:?} cannot be read: {error}.{advice}"))
    })
}

/// The text of the file an argument names.
pub(super) fn text_of(given: &Given<'_>, at: usize) -> Result<String, CallError> {
    String::from_utf8(contents(given, at)?).map_err(|_| {
        CallError::call(format!(
            "The file {:?} is not text in UTF-8. Use filebase64 to get its bytes in base64.",
            given.text(at)
        ))
    })
}

pub(super) fn file(given: &Given<'_>) -> Answer {
    text_of(given, 0).map(Value::string)
}

pub(super) fn filebase64(given: &Given<'_>) -> Answer {
    use base64::Engine as _;
    let bytes = contents(given, 0)?;
    Ok(Value::string(
        base64::engine::general_purpose::STANDARD.encode(bytes),
    ))
}

pub(super) fn filebase64sha256(given: &Given<'_>) -> Answer {
    Ok(Value::string(base64_of::<sha2::Sha256>(&contents(
        given, 0,
    )?)))
}

pub(super) fn filebase64sha512(given: &Given<'_>) -> Answer {
    Ok(Value::string(base64_of::<sha2::Sha512>(&contents(
        given, 0,
    )?)))
}

pub(super) fn filemd5(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<md5::Md5>(&contents(given, 0)?)))
}

pub(super) fn filesha1(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha1::Sha1>(&contents(given, 0)?)))
}

pub(super) fn filesha256(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha2::Sha256>(&contents(given, 0)?)))
}

pub(super) fn filesha512(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha2::Sha512>(&contents(given, 0)?)))
}

pub(super) fn fileexists(given: &Given<'_>) -> Answer {
    let path = expanded(given, given.text(0))?;
    given
        .surroundings()
        .files
        .exists(&path)
        .map(Value::bool)
        .map_err(|error| match error {
            FileError::NotAFile => CallError::call(format!(
                "{path:?} is there, but it is a directory or another thing that is no file."
            )),
            other => CallError::call(format!(
                "Whether {path:?} is a file cannot be said: {other}."
            )),
        })
}

pub(super) fn abspath(given: &Given<'_>) -> Answer {
    Ok(Value::string(
        given.surroundings().files.absolute(given.text(0)),
    ))
}

pub(super) fn pathexpand(given: &Given<'_>) -> Answer {
    expanded(given, given.text(0)).map(Value::string)
}

pub(super) fn basename(given: &Given<'_>) -> Answer {
    let path = given.text(0);
    let trimmed = path.trim_end_matches('/');
    let name = match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        (_, trimmed) => trimmed.rsplit('/').next().unwrap_or(trimmed),
    };
    Ok(Value::string(name))
}

pub(super) fn dirname(given: &Given<'_>) -> Answer {
    let path = given.text(0);
    let directory = path.rfind('/').map_or("", |at| &path[..=at]);
    Ok(Value::string(clean(directory)))
}

/// The shortest path that leads to the same place by its text alone; `.` for an empty one.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}
