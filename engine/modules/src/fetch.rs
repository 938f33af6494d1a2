//! A package, from wherever it is, into a folder.
//!
//! A web page may say that the package is elsewhere (the header `X-Terraform-Get`, or a meta element);
//! that is followed, a few times at most.

use crate::address::{Address, Package, Source, decoded};
use crate::archive::{Packing, by_name, by_word, unpack};
use crate::http::{Http, header_text, refused, shown};
use crate::problem::{Outcome, Problem};
use crate::registry::absolute;
use crate::settings::Settings;
use crate::{content, gcs, git, netrc};
use reqwest::Url;
use sha2::Digest;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How often a page may send us elsewhere.
const HOPS: usize = 5;

/// Fetches a package into a new folder within `work`, a folder of its own for this. Gives the folder,
/// whole and looked through, and what the package came to.
pub(crate) async fn fetch(
    package: &Package,
    work: &Path,
    http: &Http,
    settings: &Settings,
) -> Outcome<(PathBuf, String)> {
    let mut package = package.clone();
    let mut inner: Option<String> = None;
    for hop in 0..HOPS {
        let room = work.join(hop.to_string());
        let step = step(&package, &room, http, settings).await;
        match step.map_err(|p| p.of(&package))? {
            Step::Elsewhere(source) => {
                if let Some(sub) = source.subdirectory {
                    inner = Some(match inner {
                        // the directory of the page before lies within this one's
                        Some(deeper) => format!("{sub}/{deeper}"),
                        None => sub,
                    });
                }
                package = source.package;
            }
            Step::Here(folder, resolved) => {
                let folder = match inner {
                    None => folder,
                    Some(sub) => {
                        let below = within(&folder, &sub).map_err(|p| p.of(&package))?;
                        // it is the whole package from here on, and its links may not lead out of it
                        let root = below.clone();
                        off_the_loop(move || content::settle(&root))
                            .await
                            .map_err(|p| p.of(&package))?;
                        below
                    }
                };
                return Ok((folder, resolved));
            }
        }
    }
    Err(Problem::failed(format!(
        "Each server names another as the place of the package; after {HOPS} of them nobody is asked any more."
    ))
    .of(&package))
}

/// What came of asking for a package.
enum Step {
    /// It is there, and this is what it came to.
    Here(PathBuf, String),
    /// It is to be asked for elsewhere.
    Elsewhere(Source),
}

async fn step(package: &Package, room: &Path, http: &Http, settings: &Settings) -> Outcome<Step> {
    let folder = room.join("package");
    let beside = room.join("beside");
    for made in [&folder, &beside] {
        fs::create_dir_all(made)
            .map_err(|e| Problem::local("A folder for what is fetched cannot be made", &e))?;
    }
    let resolved = match package {
        Package::Git(address) => {
            if address.exposed().starts_with("file://") && !settings.own_files {
                return Err(Problem::failed(format!(
                    "{package} is a repository of this machine, and this run may not read files outside the \
                     folder that it is restricted to."
                )));
            }
            git::fetch(address, &folder, &beside, &settings.environment).await?
        }
        Package::Gcs(address) => {
            gcs::fetch(address, &folder, &beside, http, settings).await?;
            address.to_string()
        }
        Package::Http(address) => {
            let elsewhere = over_http(address, &folder, &beside, http, settings).await?;
            if let Some(elsewhere) = elsewhere {
                let source = Source::parse(&elsewhere).map_err(|why| {
                    Problem::failed(format!(
                        "{address} says that the package is at \"{}\", but {why}.",
                        Address::new(&elsewhere)
                    ))
                })?;
                return Ok(Step::Elsewhere(source));
            }
            address.to_string()
        }
    };
    let root = folder.clone();
    off_the_loop(move || content::settle(&root)).await?;
    Ok(Step::Here(folder, resolved))
}

/// The directory of a package that a server names as the module.
fn within(folder: &Path, sub: &str) -> Outcome<PathBuf> {
    let sub = content::expand(folder, sub)?;
    let below = folder.join(&sub);
    if below.is_dir() {
        return Ok(below);
    }
    Err(Problem::failed(format!(
        "The package has no directory \"{sub}\", which the server names."
    )))
}

/// Work that would hold up the others.
pub(crate) async fn off_the_loop<R: Send + 'static>(
    work: impl FnOnce() -> Outcome<R> + Send + 'static,
) -> Outcome<R> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(Problem::failed(
            "Unpacking stopped half-way. This is a fault of Formwork.",
        ))
    })
}

/// How a URL says that what it names is packed; `None` if it names a page.
pub(crate) fn packing(address: &Address) -> Outcome<Option<Packing>> {
    let word = address.parameter("archive");
    match word.as_deref() {
        Some("false") => Ok(None),
        Some(word) => by_word(word).map(Some).ok_or_else(|| {
            Problem::failed(format!(
                "archive={word} is no kind of archive that is known; there are zip, tar, tar.gz, tgz, tar.bz2, \
                 tbz2, tar.xz, txz, tar.zst and tzst."
            ))
        }),
        None => Ok(by_name(&decoded(address.without_query()))),
    }
}

/// Fetches an archive, or finds out where a page says that the package is.
async fn over_http(
    address: &Address,
    folder: &Path,
    beside: &Path,
    http: &Http,
    settings: &Settings,
) -> Outcome<Option<String>> {
    let parse = |text: &str| {
        Url::parse(text)
            .map_err(|e| Problem::failed(format!("{} is no URL: {e}.", Address::new(text))))
    };
    let sent = address.without(&["archive", "checksum", "filename"]);
    let Some(packing) = packing(address)? else {
        let mut url = parse(sent.exposed())?;
        url.query_pairs_mut().append_pair("terraform-get", "1");
        return elsewhere(&url, http, settings).await.map(Some);
    };
    let url = parse(sent.exposed())?;
    let answer = http.get_as(&url, None, login(&url, settings)).await?;
    if !answer.status().is_success() {
        return Err(refused(&url, answer.status()));
    }
    let archive = beside.join("archive");
    http.save(answer, &archive).await?;
    unpack_checked(address, archive, packing, folder, settings).await?;
    Ok(None)
}

/// The name and password that `.netrc` has for the host of a URL.
fn login(url: &Url, settings: &Settings) -> Option<netrc::Login> {
    netrc::login(url.host_str()?, settings)
}

/// Compares what was downloaded with what it should be, and unpacks it.
pub(crate) async fn unpack_checked(
    address: &Address,
    archive: PathBuf,
    packing: Packing,
    folder: &Path,
    settings: &Settings,
) -> Outcome<()> {
    let checksum = address.parameter("checksum");
    let (folder, limits, environment) = (
        folder.to_owned(),
        settings.limits,
        settings.environment.clone(),
    );
    off_the_loop(move || {
        if let Some(expected) = checksum {
            compare(&archive, &expected)?;
        }
        unpack(&archive, packing, &folder, limits, &environment)
    })
    .await
}

/// What a page says about where the package is.
async fn elsewhere(url: &Url, http: &Http, settings: &Settings) -> Outcome<String> {
    let answer = http.get_as(url, None, login(url, settings)).await?;
    if !answer.status().is_success() {
        return Err(refused(url, answer.status()));
    }
    let from = answer.url().clone();
    let named = match header_text(&answer, "x-terraform-get") {
        Some(named) => Some(named),
        None => {
            let body = http.body(answer).await?;
            meta(&String::from_utf8_lossy(&body))
        }
    };
    match named {
        Some(named) => absolute(&from, &named),
        None => Err(Problem::failed(format!(
            "{} is not the name of an archive, and what it answers does not say where the package is: there is \
             neither a header X-Terraform-Get nor a meta element named terraform-get.",
            shown(url)
        ))
        .hint(
            "If it is an archive, say so: add ?archive=zip or ?archive=tar.gz. If it is a git repository, begin \
             the source with git::.",
        )),
    }
}

/// The content of `<meta name="terraform-get" content="...">`.
fn meta(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let mut at = 0;
    while let Some(found) = lower.get(at..)?.find("<meta") {
        let start = at + found + "<meta".len();
        let length = lower.get(start..)?.find('>')?;
        let element = page.get(start..start + length)?;
        let attribute = |name: &str| attribute(element, name);
        if attribute("name").is_some_and(|n| n.eq_ignore_ascii_case("terraform-get")) {
            return attribute("content").filter(|c| !c.is_empty());
        }
        at = start + length;
    }
    None
}

/// The value of an attribute of an HTML element.
fn attribute(element: &str, wanted: &str) -> Option<String> {
    let mut rest = element;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=')?;
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        let Some(value) = after.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => value.get(1..)?.split_once(quote)?,
            _ => {
                let end = value
                    .find(|c: char| c.is_ascii_whitespace())
                    .unwrap_or(value.len());
                value.split_at(end)
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            let value = value.trim().replace("&quot;", "\"").replace("&#38;", "&");
            return Some(value.replace("&amp;", "&"));
        }
        rest = after;
    }
}

/// Compares a file with a checksum such as `sha256:0a1b...`.
fn compare(file: &Path, expected: &str) -> Outcome<()> {
    let (kind, value) = match expected.split_once(':') {
        Some((kind, value)) => (kind.to_ascii_lowercase(), value),
        None => (
            match expected.len() {
                32 => "md5",
                40 => "sha1",
                128 => "sha512",
                _ => "sha256",
            }
            .to_owned(),
            expected,
        ),
    };
    let sum = |mut digest: Box<dyn digest_of::Any>| -> Outcome<String> {
        let failed = |e| Problem::local("The downloaded archive cannot be read", &e);
        let mut file = fs::File::open(file).map_err(failed)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                return Ok(digest.hex());
            }
            digest.add(buffer.get(..read).unwrap_or_default());
        }
    };
    let found = match kind.as_str() {
        "md5" => sum(Box::new(digest_of::Of(md5::Md5::new())))?,
        "sha1" => sum(Box::new(digest_of::Of(sha1::Sha1::new())))?,
        "sha256" => sum(Box::new(digest_of::Of(sha2::Sha256::new())))?,
        "sha512" => sum(Box::new(digest_of::Of(sha2::Sha512::new())))?,
        "file" => {
            return Err(Problem::failed(
                "checksum=file: (a list of checksums at another address) is not served. Write the checksum \
                 itself, such as checksum=sha256:...",
            ));
        }
        _ => {
            return Err(Problem::failed(format!(
                "\"{kind}\" is no kind of checksum; there are md5, sha1, sha256 and sha512."
            )));
        }
    };
    if found.eq_ignore_ascii_case(value) {
        return Ok(());
    }
    Err(Problem::failed(format!(
        "What was downloaded is not what the source wants: its {kind} is {found}, and checksum= says {value}. It \
         is not used."
    )))
}

/// One face for the kinds of checksum.
mod digest_of {
    use sha2::Digest;

    pub trait Any {
        fn add(&mut self, bytes: &[u8]);
        fn hex(&mut self) -> String;
    }

    pub struct Of<D>(pub D);

    impl<D: Digest + Clone> Any for Of<D> {
        fn add(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        fn hex(&mut self) -> String {
            hex::encode(self.0.clone().finalize())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let check =
            |page: &str, found: Option<&str>| assert_eq!(meta(page).as_deref(), found, "{page}");
        check(
            r#"<html><head><meta name="terraform-get" content="https://e.com/a.zip?a=1&amp;b=2" /></head>"#,
            Some("https://e.com/a.zip?a=1&b=2"),
        );
        check("<META CONTENT='x.zip' NAME=Terraform-Get>", Some("x.zip"));
        check(
            "<meta charset=utf-8><meta name=terraform-get content=x.zip>",
            Some("x.zip"),
        );
        check("<meta name=\"other\" content=\"x.zip\">", None);
        check("<meta async name=terraform-get content=x>", Some("x"));
        check("<meta name=terraform-get", None);
        check("<meta name=terraform-get content=\"", None);
    }

    #[test]
    fn packings() {
        let check = |url: &str, packed: Option<Packing>| {
            assert_eq!(packing(&Address::new(url)), Ok(packed), "{url}");
        };
        check("https://e.com/a.zip", Some(Packing::Zip));
        check("https://e.com/a.tar.gz?x=1", Some(Packing::TarGzip));
        check("https://e.com/a.tgz", Some(Packing::TarGzip));
        check("https://e.com/a.tar.xz", Some(Packing::TarBy("xz")));
        check("https://e.com/a.tbz2", Some(Packing::TarBy("bzip2")));
        check("https://e.com/zip", None);
        check("https://e.com/", None);
        check("https://e.com/a?archive=tar.gz", Some(Packing::TarGzip));
        check("https://e.com/a.zip?archive=false", None);
        assert!(packing(&Address::new("https://e.com/a?archive=rar")).is_err());
    }

    #[test]
    fn checksums() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), "abc").expect("a file");
        let check = |sum: &str| compare(file.path(), sum);
        // the test vectors of the standards
        assert_eq!(check("md5:900150983cd24fb0d6963f7d28e17f72"), Ok(()));
        assert_eq!(check("a9993e364706816aba3e25717850c26c9cd0d89d"), Ok(()));
        assert_eq!(
            check("sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
            Ok(())
        );
        assert!(
            check("sha256:00")
                .expect_err("another")
                .detail
                .contains("ba7816bf")
        );
        assert!(
            check("crc:00")
                .expect_err("unknown")
                .detail
                .contains("no kind")
        );
        assert!(check("file:https://e.com/sums").is_err());
    }
}
