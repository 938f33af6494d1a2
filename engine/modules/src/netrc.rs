//! Names and passwords for hosts from `.netrc`, as curl and git read it.

use crate::settings::Settings;
use std::path::PathBuf;

/// A name and a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Login {
    pub name: String,
    pub password: String,
}

/// What the file (of `NETRC`, else `.netrc` in the home directory) has for a host. A file that cannot be
/// read has nothing.
pub(crate) fn login(host: &str, settings: &Settings) -> Option<Login> {
    let environment = &settings.environment;
    let path = environment.variable("NETRC").map(PathBuf::from);
    let path = path.or_else(|| Some(environment.home.as_ref()?.join(".netrc")))?;
    find(&std::fs::read_to_string(path).ok()?, host)
}

/// The entry of a host, or the default one.
fn find(text: &str, host: &str) -> Option<Login> {
    let mut words = words(text).into_iter();
    // none before the first entry
    let mut current: Option<(bool, Login)> = None;
    let mut default = None;
    let finish = |entry: Option<(bool, Login)>, default: &mut Option<Login>| match entry {
        Some((true, login)) => Some(login),
        Some((false, login)) => {
            if default.is_none() {
                *default = Some(login);
            }
            None
        }
        None => None,
    };
    let mut wanted = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "machine" => {
                if let Some(found) = finish(current.take(), &mut default) {
                    return Some(found);
                }
                wanted = words
                    .next()
                    .is_some_and(|name| name.eq_ignore_ascii_case(host));
                current = wanted.then(|| (true, Login::default()));
            }
            "default" => {
                if let Some(found) = finish(current.take(), &mut default) {
                    return Some(found);
                }
                wanted = true;
                current = Some((false, Login::default()));
            }
            "login" | "password" | "account" => {
                let value = words.next().unwrap_or_default();
                if let Some((_, login)) = current.as_mut().filter(|_| wanted) {
                    match word.as_str() {
                        "login" => login.name = value,
                        "password" => login.password = value,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    finish(current, &mut default).or(default)
}

/// The words of the file: quotes hold a word together, `#` at a word's beginning starts a remark, and a
/// macro (`macdef`) ends with an empty line.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_macro = false;
    for line in text.lines() {
        if in_macro {
            in_macro = !line.trim().is_empty();
            continue;
        }
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let word;
            if let Some(quoted) = rest.strip_prefix('"') {
                let end = quoted.find('"').unwrap_or(quoted.len());
                let (inside, after) = quoted.split_at(end);
                word = inside.to_owned();
                rest = after.strip_prefix('"').unwrap_or(after);
            } else {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (inside, after) = rest.split_at(end);
                word = inside.to_owned();
                rest = after;
            }
            if word == "macdef" {
                in_macro = true;
                break;
            }
            found.push(word);
            rest = rest.trim_start();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn entries() {
        let text = "# mine\nmachine a.com login me password \"s p\"\nmachine b.com\n  login you\n  account x\n  password t\nmacdef init\nmachine evil.com login x password y\n\ndefault login anon password none\n";
        let check = |host: &str, expected: Option<(&str, &str)>| {
            let found = find(text, host);
            let found = found
                .as_ref()
                .map(|l| (l.name.as_str(), l.password.as_str()));
            assert_eq!(found, expected, "{host}");
        };
        check("a.com", Some(("me", "s p")));
        check("B.COM", Some(("you", "t")));
        check("evil.com", Some(("anon", "none")));
        let one = "machine a.com login me password p";
        assert!(find(one, "b.com").is_none());
        assert!(find("machine", "b.com").is_none());
        assert!(find("", "b.com").is_none());
    }
}
