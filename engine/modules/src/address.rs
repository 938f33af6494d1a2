//! Source addresses: what is to be fetched, in which way, and which directory of it is meant.
//!
//! A source names a *package*, which is fetched as a whole, and a directory in it after `//`. There
//! are shorthands for some hosts, and a prefix such as `git::` chooses a way. [`Source::parse`] brings
//! them all to one normal form, which is the one Terraform writes into its manifest (observed with
//! terraform 1.11.4): `github.com/a/b/c` is `git::https://github.com/a/b.git//c`.
//!
//! Addresses may hold credentials. They are shown without them everywhere, the manifest included;
//! only [`Address::exposed`] tells them.

use std::fmt;

/// A package, and a directory in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// What is fetched.
    pub package: Package,
    /// The directory that is meant, with `/` between its parts; may hold `*` and `?`.
    pub subdirectory: Option<String>,
}

/// What is fetched as a whole, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    /// A repository.
    Git(Address),
    /// A file, or a page that says where the package is.
    Http(Address),
    /// An object of Google Cloud Storage, or all below a prefix.
    Gcs(Address),
}

/// A URL, shown without credentials.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

/// What the name of a parameter holds whose value is a secret.
const SECRET: &[&str] = &[
    "token", "key", "secret", "sig", "pass", "pwd", "cred", "auth", "session", "jwt", "code",
];

/// Parameters that say what is fetched, however long their values are.
const PLAIN: &[&str] = &["ref", "depth", "archive", "checksum", "filename"];

/// Whether a parameter of a query must not be shown: by its name, or because nobody writes such a value
/// by hand.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if PLAIN.contains(&name.as_str()) {
        return false;
    }
    SECRET.iter().any(|s| name.contains(s)) || value.len() >= 32
}

/// What stands in place of a secret.
pub(crate) const HIDDEN: &str = "(hidden)";

impl Address {
    pub(crate) fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL with its credentials, for the one who sends it.
    pub fn exposed(&self) -> &str {
        &self.0
    }

    /// The part before `?` and `#`.
    pub fn without_query(&self) -> &str {
        self.0.split(['?', '#']).next().unwrap_or_default()
    }

    /// The value of a parameter of the query, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        query_pairs(&self.0)
            .into_iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v)
    }

    /// The URL without some parameters of its query.
    pub fn without(&self, names: &[&str]) -> Self {
        let Some((before, query)) = self.0.split_once('?') else {
            return self.clone();
        };
        let (query, fragment) = match query.split_once('#') {
            Some((q, f)) => (q, Some(f)),
            None => (query, None),
        };
        let kept: Vec<&str> = query
            .split('&')
            .filter(|pair| {
                let name = pair.split('=').next().unwrap_or_default();
                !pair.is_empty() && !names.contains(&name)
            })
            .collect();
        let mut url = before.to_owned();
        if !kept.is_empty() {
            url.push('?');
            url.push_str(&kept.join("&"));
        }
        if let Some(fragment) = fragment {
            url.push('#');
            url.push_str(fragment);
        }
        Self(url)
    }

    /// The user's name and password as written, if there are any.
    pub fn user_information(&self) -> Option<&str> {
        let (_, rest) = self.0.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        authority.rsplit_once('@').map(|(user, _)| user)
    }

    /// The URL without name and password.
    pub fn without_user(&self) -> Self {
        match self.user_information() {
            Some(user) => Self(self.0.replacen(&format!("{user}@"), "", 1)),
            None => self.clone(),
        }
    }

    /// Every secret in it, for striking out of what others say.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        if self.hides_user()
            && let Some(user) = self.user_information()
        {
            secrets.push(user.to_owned());
            let decoded = decoded(user);
            for part in user.split(':').chain(decoded.split(':')) {
                // the name before a password says little, and striking out "git" everywhere helps no one
                if part.len() > 3 {
                    secrets.push(part.to_owned());
                }
            }
        }
        if let Some((_, query)) = self.0.split_once('?') {
            for pair in query.split('#').next().unwrap_or_default().split('&') {
                if let Some((name, value)) = pair.split_once('=')
                    && is_secret(name, value)
                    && value.len() > 3
                {
                    secrets.push(value.to_owned());
                    secrets.push(decoded(value));
                }
            }
        }
        secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        secrets.dedup();
        secrets
    }

    /// The user of an ssh address is a name that everybody uses, not a secret.
    fn hides_user(&self) -> bool {
        !self.0.starts_with("ssh://") || self.user_information().is_some_and(|u| u.contains(':'))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.clone();
        if self.hides_user()
            && let Some(user) = self.user_information()
        {
            text = text.replacen(&format!("{user}@"), &format!("{HIDDEN}@"), 1);
        }
        let Some((before, query)) = text.split_once('?') else {
            return f.write_str(&text);
        };
        write!(f, "{before}?")?;
        for (i, pair) in query.split('&').enumerate() {
            let and = if i > 0 { "&" } else { "" };
            match pair.split_once('=') {
                Some((name, value)) if is_secret(name, value) => {
                    write!(f, "{and}{name}={HIDDEN}")?;
                }
                _ => write!(f, "{and}{pair}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    /// As shown: without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Package {
    /// The address.
    pub fn address(&self) -> &Address {
        match self {
            Self::Git(a) | Self::Http(a) | Self::Gcs(a) => a,
        }
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git(a) if a.exposed().starts_with("git://") => write!(f, "{a}"),
            Self::Git(a) => write!(f, "git::{a}"),
            Self::Http(a) => write!(f, "{a}"),
            Self::Gcs(a) => write!(f, "gcs::{a}"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.package.to_string();
        match &self.subdirectory {
            None => f.write_str(&package),
            Some(sub) => match package.split_once('?') {
                Some((before, query)) => write!(f, "{before}//{sub}?{query}"),
                None => write!(f, "{package}//{sub}"),
            },
        }
    }
}

impl Source {
    /// Reads a source that is neither a local path nor a registry address.
    ///
    /// # Errors
    /// A clause that says why it can be none, or that it is of a kind that is not served.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("it holds a line break or another control character".to_owned());
        }
        let (forced, rest) = forced(text);
        let (address, subdirectory) = split_subdirectory(rest)?;
        let (package, more) = match forced {
            None => plain(&address)?,
            Some("git") => git(&address)?,
            Some("http" | "https") => (http(&address)?, None),
            Some("gcs") => (Package::Gcs(gcs(&address)?), None),
            Some(kind) => return Err(unserved(kind)),
        };
        let subdirectory = match (more, subdirectory) {
            (Some(a), Some(b)) => clean_subdirectory(&format!("{a}/{b}"))?,
            (Some(a), None) => clean_subdirectory(&a)?,
            (None, b) => b,
        };
        Ok(Self {
            package,
            subdirectory,
        })
    }
}

/// The prefix that chooses a way, and the rest.
fn forced(text: &str) -> (Option<&str>, &str) {
    match text.split_once("::") {
        Some((kind, rest))
            if !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            (Some(kind), rest)
        }
        _ => (None, text),
    }
}

/// Why a way of fetching is not there.
fn unserved(kind: &str) -> String {
    match kind {
        "s3" => "modules in Amazon S3 buckets (s3::) are not served; keep the module in a git repository, in Google Cloud Storage (gcs::) or as an archive behind https".to_owned(),
        "hg" => "Mercurial repositories (hg::) are not served; keep the module in a git repository or as an archive behind https".to_owned(),
        "file" => absolute(),
        "ext" | "fd" => format!("\"{kind}::\" runs a program that the source names, which is never done"),
        _ => format!("\"{kind}::\" is no way of fetching that is known; there are git::, gcs:: and https:// addresses"),
    }
}

fn absolute() -> String {
    "it is an absolute path, which means something else on each machine; write a path that begins with ./ or ../, or git::file:///PATH for a repository on this machine".to_owned()
}

/// Takes the directory after `//` out of an address.
fn split_subdirectory(text: &str) -> Result<(String, Option<String>), String> {
    let query = text.find('?').unwrap_or(text.len());
    let (path, query) = text.split_at(query);
    let from = path.find("://").map_or(0, |at| at + 3);
    let Some(at) = path.get(from..).and_then(|rest| rest.find("//")) else {
        return Ok((text.to_owned(), None));
    };
    let (before, sub) = path.split_at(from + at);
    Ok((
        format!("{before}{query}"),
        clean_subdirectory(sub.trim_start_matches('/'))?,
    ))
}

/// A directory within a package without `.` and `..`; `None` for the package itself.
pub(crate) fn clean_subdirectory(text: &str) -> Result<Option<String>, String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(format!("the directory \"{text}\" leads out of the package"));
                }
            }
            other => parts.push(other),
        }
    }
    Ok((!parts.is_empty()).then(|| parts.join("/")))
}

/// A source without a prefix.
fn plain(address: &str) -> Result<(Package, Option<String>), String> {
    let windows = address
        .as_bytes()
        .get(..3)
        .is_some_and(|b| b[0].is_ascii_alphabetic() && b[1] == b':' && b[2] == b'\\');
    if address.starts_with('/') || windows {
        return Err(absolute());
    }
    if let Some((scheme, _)) = address.split_once("://") {
        return match scheme {
            "http" | "https" => Ok((Package::Http(Address::new(address)), None)),
            "git" => Ok((Package::Git(repository(address)?), None)),
            "ssh" => Err(format!("ssh is a way to many things; for a git repository write git::{address}")),
            "file" => Err(absolute()),
            "s3" | "hg" => Err(unserved(scheme)),
            "gs" => Err("gs:// is no source address; write gcs::https://www.googleapis.com/storage/v1/BUCKET/PATH".to_owned()),
            _ => Err(format!("\"{scheme}://\" is no way of fetching that is known; there are git::, gcs:: and https:// addresses")),
        };
    }
    if let Some(url) = scp_form(address) {
        return Ok((Package::Git(repository(&url)?), None));
    }
    if let Some(found) = shorthand(address)? {
        return Ok(found);
    }
    let host = address.split(['/', ':']).next().unwrap_or_default();
    if host.ends_with("amazonaws.com") {
        return Err(unserved("s3"));
    }
    if host.ends_with("googleapis.com") {
        let url = format!("https://{address}");
        return Ok((Package::Gcs(gcs(&url)?), None));
    }
    Err(format!(
        "how it is to be fetched cannot be told from it. For a directory beside this file write \
         \"./{address}\", for a repository \"git::https://{address}\""
    ))
}

/// A source after `git::`.
fn git(address: &str) -> Result<(Package, Option<String>), String> {
    if let (Some(kind), _) = forced(address) {
        return Err(unserved(kind));
    }
    if address.starts_with('/') {
        return Ok((
            Package::Git(repository(&format!("file://{address}"))?),
            None,
        ));
    }
    if address.contains("://") {
        return Ok((Package::Git(repository(address)?), None));
    }
    if let Some(url) = scp_form(address) {
        return Ok((Package::Git(repository(&url)?), None));
    }
    if let Some(found) = shorthand(address)? {
        return Ok(found);
    }
    Err(format!(
        "after git:: a URL is wanted, such as git::https://{address}, or the form git@HOST:PATH"
    ))
}

/// `user@host:path` as a URL.
fn scp_form(address: &str) -> Option<String> {
    let path = address.split('?').next()?;
    let (before, _) = path.split_once(':')?;
    let (user, host) = before.split_once('@')?;
    if user.is_empty() || host.is_empty() || before.contains('/') {
        return None;
    }
    let rest = address.get(before.len() + 1..)?;
    Some(format!(
        "ssh://{user}@{host}/{}",
        rest.trim_start_matches('/')
    ))
}

/// `github.com/a/b`, `bitbucket.org/a/b`, and further parts as a directory.
fn shorthand(address: &str) -> Result<Option<(Package, Option<String>)>, String> {
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (address, String::new()),
    };
    let mut parts = path.split('/');
    let host = parts.next().unwrap_or_default();
    if !matches!(host, "github.com" | "bitbucket.org") {
        return Ok(None);
    }
    let whole =
        || format!("an address at {host} has an owner and a repository: {host}/OWNER/REPOSITORY");
    let owner = parts.next().filter(|p| !p.is_empty()).ok_or_else(whole)?;
    let name = parts.next().filter(|p| !p.is_empty()).ok_or_else(whole)?;
    let rest: Vec<&str> = parts.filter(|p| !p.is_empty()).collect();
    // at one of them further parts are a directory, at the other a part of the repository's name
    let (name, directory) = if host == "github.com" {
        (name.to_owned(), (!rest.is_empty()).then(|| rest.join("/")))
    } else {
        let mut name = name.to_owned();
        for part in rest {
            name.push('/');
            name.push_str(part);
        }
        (name, None)
    };
    let name = name.strip_suffix(".git").unwrap_or(&name);
    let url = format!("https://{host}/{owner}/{name}.git{query}");
    Ok(Some((Package::Git(repository(&url)?), directory)))
}

/// The address of a repository, once it is one that git is asked for.
fn repository(url: &str) -> Result<Address, String> {
    let address = Address::new(url);
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| "a repository's address is a URL".to_owned())?;
    if !matches!(scheme, "https" | "http" | "ssh" | "git" | "file") {
        return Err(format!(
            "git is not asked for \"{scheme}://\"; a repository is fetched over https, ssh, http, git or file"
        ));
    }
    let host = address.without_user();
    let host = host
        .without_query()
        .split_once("://")
        .map_or("", |(_, r)| r);
    let host = host.split('/').next().unwrap_or_default().to_owned();
    // ssh would take a host that begins with a dash for an option
    if host.starts_with('-') || rest.starts_with('-') {
        return Err("a host cannot begin with a dash".to_owned());
    }
    if scheme == "ssh"
        && let Some((name, port)) = host.rsplit_once(':')
        && !name.is_empty()
        && port.parse::<u16>().is_err()
    {
        return Err(format!(
            "after ssh:// a colon is followed by a port; write git::ssh://{}/{port}..., or leave ssh:// out",
            address
                .user_information()
                .map_or_else(|| name.to_owned(), |u| format!("{u}@{name}"))
        ));
    }
    for (name, value) in query_pairs(url) {
        let bad = match name.as_str() {
            "ref" if value.is_empty() => Some("ref is empty".to_owned()),
            "ref" if value.starts_with('-') => Some(format!(
                "a branch, tag or commit cannot begin with a dash (\"{value}\")"
            )),
            "ref" if value.chars().any(|c| c.is_control() || c == ' ') => {
                Some(format!("\"{value}\" is no branch, tag or commit"))
            }
            "depth" if value.parse::<u32>().is_err() => {
                Some(format!("depth is a number of commits, not \"{value}\""))
            }
            _ => None,
        };
        if let Some(bad) = bad {
            return Err(bad);
        }
    }
    Ok(address)
}

fn http(address: &str) -> Result<Package, String> {
    if address.starts_with("http://") || address.starts_with("https://") {
        Ok(Package::Http(Address::new(address)))
    } else {
        Err("after http:: a URL is wanted, such as https://example.com/module.zip".to_owned())
    }
}

/// A URL of Google Cloud Storage: `https://www.googleapis.com/storage/v1/BUCKET/PATH`.
fn gcs(address: &str) -> Result<Address, String> {
    let wrong = || {
        "an address in Google Cloud Storage is gcs::https://www.googleapis.com/storage/v1/BUCKET/PATH"
            .to_owned()
    };
    let rest = address.strip_prefix("https://").ok_or_else(wrong)?;
    let mut parts = rest
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .splitn(5, '/');
    let host = parts.next().unwrap_or_default();
    let named = parts.next() == Some("storage") && parts.next() == Some("v1");
    let bucket = parts.next().unwrap_or_default();
    let path = parts.next().unwrap_or_default();
    if !host.ends_with("googleapis.com") || !named || bucket.is_empty() || path.is_empty() {
        return Err(wrong());
    }
    Ok(Address::new(address))
}

pub(crate) fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

/// The parameters of a URL's query, decoded.
fn query_pairs(url: &str) -> Vec<(String, String)> {
    let Some((_, query)) = url.split_once('?') else {
        return Vec::new();
    };
    query
        .split('#')
        .next()
        .unwrap_or_default()
        .split('&')
        .filter(|p| !p.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(&value.replace('+', " ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normal: &str) {
        let source = Source::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(source.to_string(), normal, "{text}");
        // the normal form is a source too, and its own normal form
        if !normal.contains(HIDDEN) {
            assert_eq!(
                Source::parse(normal).map(|s| s.to_string()),
                Ok(normal.to_owned())
            );
        }
    }

    #[test]
    fn normal_forms_are_those_of_terraform() {
        // each observed in what terraform 1.11.4 says it downloads, or in its manifest
        check("github.com/foo/bar", "git::https://github.com/foo/bar.git");
        check(
            "github.com/foo/bar.git",
            "git::https://github.com/foo/bar.git",
        );
        check(
            "github.com/foo/bar//sub/dir?ref=v1",
            "git::https://github.com/foo/bar.git//sub/dir?ref=v1",
        );
        check(
            "github.com/foo/bar/sub",
            "git::https://github.com/foo/bar.git//sub",
        );
        check("github.com/a/b/c", "git::https://github.com/a/b.git//c");
        check(
            "git@github.com:foo/bar.git",
            "git::ssh://git@github.com/foo/bar.git",
        );
        check(
            "git@github.com:foo/bar.git//sub?ref=x",
            "git::ssh://git@github.com/foo/bar.git//sub?ref=x",
        );
        check(
            "git@example.com:foo/bar",
            "git::ssh://git@example.com/foo/bar",
        );
        check(
            "git::git@example.com:foo/bar.git?ref=a",
            "git::ssh://git@example.com/foo/bar.git?ref=a",
        );
        check(
            "git::ssh://git@example.com:2222/foo/bar.git",
            "git::ssh://git@example.com:2222/foo/bar.git",
        );
        check(
            "git::https://github.com/foo/bar.git?ref=v1.2.3",
            "git::https://github.com/foo/bar.git?ref=v1.2.3",
        );
        check(
            "git::github.com/foo/bar",
            "git::https://github.com/foo/bar.git",
        );
        check(
            "bitbucket.org/foo/bar//sub?ref=1",
            "git::https://bitbucket.org/foo/bar.git//sub?ref=1",
        );
        check(
            "bitbucket.org/a/b/c",
            "git::https://bitbucket.org/a/b/c.git",
        );
        check("git::/srv/repo", "git::file:///srv/repo");
        check(
            "git::file:///srv/repo//modules/b?depth=1&ref=main",
            "git::file:///srv/repo//modules/b?depth=1&ref=main",
        );
        check("git://127.0.0.1:9/foo", "git://127.0.0.1:9/foo");
        check("https://github.com/foo/bar", "https://github.com/foo/bar");
        check(
            "https://e.com/mods.tgz//sub?archive=zip",
            "https://e.com/mods.tgz//sub?archive=zip",
        );
        check("https://e.com/x.zip//*", "https://e.com/x.zip//*");
        check(
            "gcs::https://www.googleapis.com/storage/v1/modules/foo.zip",
            "gcs::https://www.googleapis.com/storage/v1/modules/foo.zip",
        );
        check(
            "www.googleapis.com/storage/v1/bucket/foo",
            "gcs::https://www.googleapis.com/storage/v1/bucket/foo",
        );
        check(
            "git::https://e.com/r.git//a/./b/../c",
            "git::https://e.com/r.git//a/c",
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        check(
            "git::https://user:hunter22@e.com/foo.git?ref=v1",
            "git::https://(hidden)@e.com/foo.git?ref=v1",
        );
        check("https://e.com/x?a=1&b", "https://e.com/x?a=1&b");
        check(
            "https://tok3n@e.com/x.zip?sig=abcdef&archive=zip",
            "https://(hidden)@e.com/x.zip?sig=(hidden)&archive=zip",
        );
        let source =
            Source::parse("git::ssh://git@e.com/foo.git?sshkey=QUJDRA&ref=x").expect("a source");
        assert_eq!(
            source.to_string(),
            "git::ssh://git@e.com/foo.git?sshkey=(hidden)&ref=x"
        );
        assert!(!format!("{source:?}").contains("QUJDRA"));
        assert!(
            source
                .package
                .address()
                .secrets()
                .contains(&"QUJDRA".to_owned())
        );
        let source =
            Source::parse("git::https://us%40er:hunter%3222@e.com/foo.git").expect("a source");
        let secrets = source.package.address().secrets();
        assert!(secrets.contains(&"hunter222".to_owned()), "{secrets:?}");
        assert_eq!(
            source.package.address().without_user().exposed(),
            "https://e.com/foo.git"
        );
    }

    #[test]
    fn what_is_refused() {
        #[track_caller]
        fn refused(text: &str, says: &str) {
            match Source::parse(text) {
                Ok(source) => panic!("{text} is {source}"),
                Err(why) => assert!(why.contains(says), "{text}: {why}"),
            }
        }
        refused("/srv/module", "absolute path");
        refused("C:\\module", "absolute path");
        refused("file:///srv/module", "absolute path");
        refused("file::/srv/module", "absolute path");
        refused("s3::https://s3.amazonaws.com/b/k.zip", "s3::");
        refused("s3.amazonaws.com/b/k.zip", "s3::");
        refused("hg::http://e.com/x.hg", "hg::");
        refused("ext::sh -c true", "never done");
        refused("git::ext::sh -c true", "never done");
        refused("git::foo://e.com/x", "foo://");
        refused("foo::http://x/y", "foo::");
        refused("ssh://git@e.com/foo", "git::ssh://git@e.com/foo");
        refused(
            "git::ssh://git@github.com:foo/bar.git",
            "git::ssh://git@github.com/foo",
        );
        refused("git::ssh://-oProxyCommand=x/foo", "dash");
        refused("git::https://e.com/r.git?ref=--upload-pack=x", "dash");
        refused("git::https://e.com/r.git?ref=%2D%2Dx", "dash");
        refused("git::https://e.com/r.git?ref=", "empty");
        refused("git::https://e.com/r.git?depth=x", "depth");
        refused("git::https://e.com/r.git//../x", "leads out");
        refused("git::https://e.com/r.git//a/../../x", "leads out");
        refused("github.com/foo", "OWNER");
        refused("gitlab.com/foo/bar", "git::https://gitlab.com/foo/bar");
        refused("example.com/foo/bar", "./example.com/foo/bar");
        refused(
            "storage.googleapis.com/b/x",
            "gcs::https://www.googleapis.com",
        );
        refused("git::https://e.com/r\n.git", "control");
    }
}
