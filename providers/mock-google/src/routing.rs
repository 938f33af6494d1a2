//! From a verb and a path to a method of a discovery document.
//!
//! Every service answers under its own name: `/file/v1/projects/...`, `/compute/compute/v1/...`; what
//! follows the first segment is the path that Google's host of that service takes. A path without the
//! name is taken too where only one service knows it (compute's `/compute/v1/`, storage's
//! `/storage/v1/` and `/upload/storage/v1/`), or where the Host header names the service. What no service
//! has is read as Cloud Storage's older interface has it, `GET /BUCKET/OBJECT`: Google's clients download
//! content so.

use std::collections::{BTreeMap, BTreeSet};

use formwork_discovery::{Document, Http, Method};
use percent_encoding::percent_decode_str;

/// How content comes with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upload {
    Simple,
    Resumable,
}

/// A path that was understood.
#[derive(Debug, Clone)]
pub(crate) struct Routed {
    pub(crate) document: &'static Document,
    pub(crate) method: &'static Method,
    /// Path variables by the names of `flat_path`, decoded.
    pub(crate) variables: Vec<(String, String)>,
    /// The path below version and service, decoded, without a custom verb: `projects/p/global/networks`.
    pub(crate) resource: String,
    pub(crate) upload: Option<Upload>,
    /// Whether the path asks for an object's content, whatever the query says.
    pub(crate) content: bool,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    /// `{name}` or `{name}:verb`
    Variable {
        name: String,
        suffix: String,
    },
}

#[derive(Debug)]
struct Route {
    document: &'static Document,
    method: &'static Method,
    segments: Vec<Segment>,
    /// How many leading segments are not part of the resource's path.
    skip: usize,
    upload: Option<Upload>,
}

/// Why a path led nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// No service has such a path.
    Unknown,
    /// Several have it.
    Ambiguous(Vec<String>),
}

/// Every route of every document.
#[derive(Debug)]
pub(crate) struct Routes {
    /// By verb and number of segments.
    by_shape: BTreeMap<(&'static str, usize), Vec<Route>>,
    services: BTreeSet<&'static str>,
}

impl Routes {
    /// All that the embedded documents know.
    pub(crate) fn new() -> Self {
        let mut routes = Self {
            by_shape: BTreeMap::new(),
            services: BTreeSet::new(),
        };
        for info in formwork_discovery::documents() {
            let Some(document) = formwork_discovery::document(info.service, info.version) else {
                continue;
            };
            routes.services.insert(info.service);
            for method in document.methods.values() {
                routes.add(
                    document,
                    method,
                    &format!("{}{}", document.service_path, method.flat_path),
                    None,
                );
                if method.media_download {
                    // where an object's mediaLink points
                    let path = format!("download/{}{}", document.service_path, method.flat_path);
                    routes.add(document, method, &path, None);
                }
                let Some(media) = &method.media_upload else {
                    continue;
                };
                if let Some(path) = &media.simple {
                    routes.add(document, method, path, Some(Upload::Simple));
                }
                if let Some(path) = &media.resumable {
                    routes.add(document, method, path, Some(Upload::Resumable));
                }
            }
        }
        routes
    }

    fn add(
        &mut self,
        document: &'static Document,
        method: &'static Method,
        path: &str,
        upload: Option<Upload>,
    ) {
        let texts: Vec<&str> = path.trim_matches('/').split('/').collect();
        // what stands before the resource: the service path, or the version of the newer services
        let skip = if upload.is_some() || path.starts_with("download/") {
            texts
                .iter()
                .position(|text| *text == document.version)
                .map_or(0, |at| at + 1)
        } else if document.service_path.is_empty() {
            1
        } else {
            document.service_path.trim_matches('/').split('/').count()
        };
        let segments: Vec<Segment> = texts.iter().map(|text| segment(text)).collect();
        self.by_shape
            .entry((method.http.as_str(), segments.len()))
            .or_default()
            .push(Route {
                document,
                method,
                segments,
                skip,
                upload,
            });
    }

    /// Finds the method of a request. `path` is as it stands in the request line, still encoded.
    pub(crate) fn find(&self, http: &str, path: &str, host: Option<&str>) -> Result<Routed, Lost> {
        let path = path.trim_start_matches('/');
        if let Some((service, rest)) = path.split_once('/')
            && self.services.contains(service)
            && let Some(found) = best(self.matches(http, rest, Some(service)))
        {
            return Ok(found);
        }
        let hinted = host
            .and_then(|host| host.split_once(".googleapis.com"))
            .map(|(service, _)| service);
        if let Some(found) =
            hinted.and_then(|service| best(self.matches(http, path, Some(service))))
        {
            return Ok(found);
        }
        let found = self.matches(http, path, None);
        let services: BTreeSet<_> = found
            .iter()
            .map(|(_, routed)| routed.document.service.clone())
            .collect();
        if services.len() > 1 {
            return Err(Lost::Ambiguous(services.into_iter().collect()));
        }
        best(found)
            .or_else(|| self.object_content(http, path))
            .or_else(|| self.part(http, path))
            .ok_or(Lost::Unknown)
    }

    /// `GET /BUCKET/OBJECT`: the content of an object, whose name may hold slashes.
    fn object_content(&self, http: &str, path: &str) -> Option<Routed> {
        let (bucket, object) = path.split_once('/')?;
        let whole = format!("storage/v1/b/{bucket}/o/{}", object.replace('/', "%2F"));
        let mut routed = best(self.matches(http, &whole, Some("storage")))?;
        routed.content = true;
        (http == "GET" && !bucket.is_empty()).then_some(routed)
    }

    /// `PUT` of a part of a content, which goes where the upload was begun by POST.
    fn part(&self, http: &str, path: &str) -> Option<Routed> {
        let path = path.strip_prefix("storage/").unwrap_or(path);
        let routed = best(self.matches("POST", path, Some("storage")))?;
        (http == "PUT" && routed.upload.is_some()).then_some(routed)
    }

    fn matches(&self, http: &str, path: &str, service: Option<&str>) -> Vec<(usize, Routed)> {
        let texts: Vec<&str> = path.split('/').collect();
        let verbs = [Http::Get, Http::Post, Http::Put, Http::Patch, Http::Delete];
        let Some(verb) = verbs
            .iter()
            .map(|verb| verb.as_str())
            .find(|verb| *verb == http)
        else {
            return Vec::new();
        };
        let routes = self
            .by_shape
            .get(&(verb, texts.len()))
            .map_or(&[][..], Vec::as_slice);
        routes
            .iter()
            .filter(|route| service.is_none_or(|service| route.document.service == service))
            .filter_map(|route| matched(route, &texts))
            .collect()
    }
}

fn segment(text: &str) -> Segment {
    match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((name, suffix)) => Segment::Variable {
            name: name.trim_start_matches('+').to_owned(),
            suffix: suffix.to_owned(),
        },
        None => Segment::Literal(text.to_owned()),
    }
}

/// The match with the most literal segments; of equals the one of the lowest version name, so that
/// `v1` wins over `v1beta1`.
fn best(found: Vec<(usize, Routed)>) -> Option<Routed> {
    found
        .into_iter()
        .min_by(|(a, one), (b, other)| {
            b.cmp(a)
                .then_with(|| one.document.version.cmp(&other.document.version))
        })
        .map(|(_, routed)| routed)
}

fn matched(route: &Route, texts: &[&str]) -> Option<(usize, Routed)> {
    let mut variables = Vec::new();
    let mut resource = Vec::new();
    let mut literals = 0;
    for (index, (segment, text)) in route.segments.iter().zip(texts).enumerate() {
        let value = match segment {
            Segment::Literal(literal) => {
                if literal != text {
                    return None;
                }
                literals += 2;
                literal.clone()
            }
            Segment::Variable { name, suffix } => {
                let inner = text.strip_suffix(suffix.as_str())?;
                // a custom verb is no part of a name: `x:cancel` is not the object `x:cancel`
                if inner.is_empty() || (suffix.is_empty() && custom_verb(route, inner)) {
                    return None;
                }
                literals += usize::from(!suffix.is_empty());
                let decoded = percent_decode_str(inner).decode_utf8().ok()?.into_owned();
                variables.push((name.clone(), decoded.clone()));
                decoded
            }
        };
        if index >= route.skip {
            resource.push(value);
        }
    }
    // a literal last segment may carry the verb itself: `services:batchEnable`
    if let Some(last) = resource.last_mut()
        && let Some(Segment::Literal(_)) = route.segments.last()
        && let Some((name, _)) = last.split_once(':')
    {
        *last = name.to_owned();
    }
    let routed = Routed {
        document: route.document,
        method: route.method,
        variables,
        resource: resource.join("/"),
        upload: route.upload,
        content: false,
    };
    Some((literals, routed))
}

/// Whether a plain variable's text ends in a custom verb. Storage has no such verbs, and its object
/// names may hold colons.
fn custom_verb(route: &Route, text: &str) -> bool {
    route.document.service_path.is_empty()
        && text.rsplit_once(':').is_some_and(|(_, verb)| {
            !verb.is_empty() && verb.chars().all(|c| c.is_ascii_alphabetic())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(http: &str, path: &str, expected: &str) {
        let routes = Routes::new();
        let text = match routes.find(http, path, None) {
            Ok(routed) => {
                let variables: Vec<_> = routed
                    .variables
                    .iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect();
                format!(
                    "{} {} [{}]",
                    routed.method.id,
                    routed.resource,
                    variables.join(" ")
                )
            }
            Err(lost) => format!("{lost:?}"),
        };
        assert_eq!(text, expected, "{http} {path}");
    }

    #[test]
    fn paths_lead_to_methods() {
        check(
            "POST",
            "/compute/v1/projects/p/global/networks",
            "compute.networks.insert projects/p/global/networks [project=p]",
        );
        check(
            "GET",
            "/compute/compute/v1/projects/p/global/images/family/debian-12",
            "compute.images.getFromFamily projects/p/global/images/family/debian-12 [project=p family=debian-12]",
        );
        check(
            "GET",
            "/file/v1/projects/p/locations/us-central1-a/instances/home",
            "file.projects.locations.instances.get projects/p/locations/us-central1-a/instances/home \
             [projectsId=p locationsId=us-central1-a instancesId=home]",
        );
        check(
            "GET",
            "/storage/v1/b/bucket/o/slurm%2Fslurm.conf",
            "storage.objects.get b/bucket/o/slurm/slurm.conf [bucket=bucket object=slurm/slurm.conf]",
        );
        check(
            "GET",
            "/download/storage/v1/b/bucket/o/a%2Fb",
            "storage.objects.get b/bucket/o/a/b [bucket=bucket object=a/b]",
        );
        check(
            "POST",
            "/upload/storage/v1/b/bucket/o",
            "storage.objects.insert b/bucket/o [bucket=bucket]",
        );
        check(
            "POST",
            "/storage/upload/storage/v1/b/bucket/o",
            "storage.objects.insert b/bucket/o [bucket=bucket]",
        );
        check(
            "POST",
            "/serviceusage/v1/projects/1/services:batchEnable",
            "serviceusage.services.batchEnable projects/1/services [v1Id=projects v1Id1=1]",
        );
        check(
            "POST",
            "/cloudresourcemanager/v1/projects/p:getIamPolicy",
            "cloudresourcemanager.projects.getIamPolicy projects/p [resource=p]",
        );
        check(
            "POST",
            "/iam/v1/projects/p/serviceAccounts/a@b:setIamPolicy",
            "iam.projects.serviceAccounts.setIamPolicy projects/p/serviceAccounts/a@b \
             [projectsId=p serviceAccountsId=a@b]",
        );
        check(
            "GET",
            "/bucket/team/a/default.tfstate",
            "storage.objects.get b/bucket/o/team/a/default.tfstate \
             [bucket=bucket object=team/a/default.tfstate]",
        );
        check("GET", "/nowhere", "Unknown");
        check(
            "PUT",
            "/upload/storage/v1/b/bucket/o",
            "storage.objects.insert b/bucket/o [bucket=bucket]",
        );
        check("PUT", "/bucket/object", "Unknown");
        check("BREW", "/compute/v1/projects/p/global/networks", "Unknown");
    }

    #[test]
    fn a_host_names_the_service() {
        let routes = Routes::new();
        let path = "/v1/projects/p/locations/l/operations/o";
        assert!(matches!(
            routes.find("GET", path, None),
            Err(Lost::Ambiguous(_))
        ));
        let routed = routes
            .find("GET", path, Some("file.googleapis.com"))
            .unwrap();
        assert_eq!(routed.method.id, "file.projects.locations.operations.get");
    }
}
