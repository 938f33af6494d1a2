//! Module registries: which versions there are, and where the package of one lies.
//!
//! A host says at `/.well-known/terraform.json` where its module registry is. That is asked over https,
//! but for a loopback address with a port, where no one but this machine listens: there over http.

use crate::http::{Http, header_text, refused, shown};
use crate::problem::{FAILED, Outcome, Problem};
use crate::settings::Settings;
use formwork_configuration::parse_version;
use reqwest::{StatusCode, Url};
use semver::Version;
use serde::Deserialize;
use std::fmt;

/// A module of a registry, without version and directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RegistryModule {
    pub host: String,
    pub namespace: String,
    pub name: String,
    pub system: String,
}

impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}",
            self.host, self.namespace, self.name, self.system
        )
    }
}

/// What is wrong with a registry, as Terraform sums it up.
const REGISTRY: &str = "Error accessing remote module registry";

#[derive(Deserialize)]
struct Versions {
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    versions: Vec<OneVersion>,
}

#[derive(Deserialize)]
struct OneVersion {
    version: String,
}

#[derive(Deserialize)]
struct Download {
    location: Option<String>,
}

fn is_loopback(host: &str) -> bool {
    let Some((name, port)) = host.rsplit_once(':') else {
        return false;
    };
    let name = name.trim_matches(['[', ']']);
    let address = name.parse::<std::net::IpAddr>();
    port.parse::<u16>().is_ok() && (name == "localhost" || address.is_ok_and(|a| a.is_loopback()))
}

/// Where the modules of a host are served.
pub(crate) async fn discover(host: &str, http: &Http, settings: &Settings) -> Outcome<Url> {
    let absent = || {
        Problem::new(REGISTRY, format!("The host {host} serves no module registry: what it says about itself (at /.well-known/terraform.json) names no \"modules.v1\"."))
            .hint("See that the source is spelt as it should be. A git repository is named with git::https://.")
    };
    let base = |base: &Url, path: &str| {
        let path = if path.ends_with('/') {
            path.to_owned()
        } else {
            format!("{path}/")
        };
        base.join(&path).map_err(|e| {
            Problem::new(REGISTRY, format!("The host {host} names \"{path}\" as its module registry, which is no address: {e}."))
        })
    };
    let scheme = if is_loopback(host) { "http" } else { "https" };
    let well_known = format!("{scheme}://{host}/.well-known/terraform.json");
    let url = Url::parse(&well_known)
        .map_err(|e| Problem::new(REGISTRY, format!("\"{host}\" is no host: {e}.")))?;
    if let Some(services) = settings.services.get(host) {
        return match services.get("modules.v1") {
            Some(path) => base(&url, path),
            None => Err(absent()),
        };
    }
    let answer = http
        .get(&url, settings.token(host).as_deref())
        .await
        .map_err(|p| Problem {
            summary: REGISTRY,
            ..p
        })?;
    let from = answer.url().clone();
    match answer.status() {
        StatusCode::NOT_FOUND => return Err(absent()),
        status if !status.is_success() => {
            return Err(Problem {
                summary: REGISTRY,
                ..refused(&url, status)
            });
        }
        _ => {}
    }
    let body = http.body(answer).await?;
    let services: serde_json::Value = serde_json::from_slice(&body)
        .map_err(|_| Problem::new(REGISTRY, format!("What {} says is no JSON.", shown(&url))))?;
    match services
        .get("modules.v1")
        .and_then(serde_json::Value::as_str)
    {
        Some(path) => base(&from, path),
        None => Err(absent()),
    }
}

fn of_module(base: &Url, module: &RegistryModule, rest: &str) -> Outcome<Url> {
    let path = format!(
        "{}/{}/{}/{rest}",
        module.namespace, module.name, module.system
    );
    base.join(&path).map_err(|e| {
        Problem::new(
            REGISTRY,
            format!("\"{path}\" is no path in a registry: {e}."),
        )
    })
}

fn no_access(
    module: &RegistryModule,
    url: &Url,
    status: StatusCode,
    settings: &Settings,
) -> Problem {
    let problem = Problem {
        summary: REGISTRY,
        ..refused(url, status)
    };
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return problem;
    }
    let variable = Settings::token_variable(&module.host);
    let hint = if settings.token(&module.host).is_some() {
        format!(
            "The token for {} does not let this user in; renew it ({variable}, or the credentials of the CLI configuration).",
            module.host
        )
    } else {
        format!(
            "There is no token for {}: set {variable}, or add credentials to the CLI configuration.",
            module.host
        )
    };
    Problem {
        hint: Some(hint),
        ..problem
    }
}

/// The versions of a module that can be read as such, in no order.
pub(crate) async fn versions(
    base: &Url,
    module: &RegistryModule,
    http: &Http,
    settings: &Settings,
) -> Outcome<Vec<Version>> {
    let missing = || {
        Problem::new(
            "Module not found",
            format!("The registry at {} has no module {}/{}/{}.", module.host, module.namespace, module.name, module.system),
        )
        .hint("See that namespace, name and system are spelt as they should be. For a directory beside this file, a source begins with \"./\".")
    };
    let url = of_module(base, module, "versions")?;
    let answer = http
        .get(&url, settings.token(&module.host).as_deref())
        .await
        .map_err(|p| Problem {
            summary: REGISTRY,
            ..p
        })?;
    match answer.status() {
        StatusCode::NOT_FOUND => return Err(missing()),
        status if !status.is_success() => return Err(no_access(module, &url, status, settings)),
        _ => {}
    }
    let body = http.body(answer).await?;
    let read: Versions = serde_json::from_slice(&body).map_err(|e| {
        Problem::new(
            REGISTRY,
            format!("What {} answers is no list of versions: {e}.", shown(&url)),
        )
    })?;
    let all = read.modules.into_iter().next().ok_or_else(missing)?;
    // what is no version is passed over: somebody else's mistake need not be ours
    let versions: Vec<Version> = all
        .versions
        .iter()
        .filter_map(|v| parse_version(&v.version).ok())
        .collect();
    if versions.is_empty() {
        return Err(missing());
    }
    Ok(versions)
}

/// The source of the package of one version; relative ones are completed.
pub(crate) async fn location(
    base: &Url,
    module: &RegistryModule,
    version: &Version,
    http: &Http,
    settings: &Settings,
) -> Outcome<String> {
    let url = of_module(base, module, &format!("{version}/download"))?;
    let answer = http
        .get(&url, settings.token(&module.host).as_deref())
        .await
        .map_err(|p| Problem {
            summary: REGISTRY,
            ..p
        })?;
    let status = answer.status();
    if !status.is_success() {
        return Err(no_access(module, &url, status, settings));
    }
    let from = answer.url().clone();
    let named = match header_text(&answer, "x-terraform-get") {
        Some(named) => Some(named),
        None if status == StatusCode::NO_CONTENT => None,
        None => {
            let body = http.body(answer).await?;
            let read: Option<Download> = serde_json::from_slice(&body).ok();
            read.and_then(|d| d.location).filter(|l| !l.is_empty())
        }
    };
    let named = named.ok_or_else(|| {
        Problem::new(FAILED, format!("The registry at {} does not say where version {version} is: its answer at {} has neither a header X-Terraform-Get nor a location.", module.host, shown(&url)))
    })?;
    absolute(&from, &named)
}

/// A source that a server names, completed by its own address if it is relative.
pub(crate) fn absolute(from: &Url, named: &str) -> Outcome<String> {
    let relative = named.starts_with("./") || named.starts_with("../") || named.starts_with('/');
    if !relative {
        return Ok(named.to_owned());
    }
    // a double slash is not a part of the path here: joining must not fold it
    let joined = from.join(named).map_err(|e| {
        Problem::failed(format!(
            "The server at {} names \"{named}\" as the place of the package, which is no address: {e}.",
            shown(from)
        ))
    })?;
    Ok(joined.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_only_at_home() {
        for (host, plain) in [
            ("127.0.0.1:8080", true),
            ("localhost:80", true),
            ("[::1]:80", true),
            ("localhost", false),
            ("127.0.0.1", false),
            ("example.com:80", false),
            ("10.0.0.1:80", false),
            ("127.0.0.1.example.com:80", false),
        ] {
            assert_eq!(is_loopback(host), plain, "{host}");
        }
    }

    #[test]
    fn relative_places() {
        let from = Url::parse("https://e.com/v1/m/ns/n/s/1.0.0/download").expect("a URL");
        let check = |named: &str, full: &str| {
            assert_eq!(absolute(&from, named), Ok(full.to_owned()));
        };
        check(
            "./a.tgz?archive=tar.gz",
            "https://e.com/v1/m/ns/n/s/1.0.0/a.tgz?archive=tar.gz",
        );
        check("../a.tgz//sub", "https://e.com/v1/m/ns/n/s/a.tgz//sub");
        check("/x/a.tgz//*", "https://e.com/x/a.tgz//*");
        check("git::https://e.com/r?ref=1", "git::https://e.com/r?ref=1");
    }
}
