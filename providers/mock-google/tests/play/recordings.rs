//! Recorded exchanges with the real cloud, played again: what Google answered, the mock answers.
//!
//! The recordings are not ours and not in the repository. `FORMWORK_RECORDINGS` names a folder of
//! them (k8s-config-connector's `_http.log` files, with `grades.tsv`); without it the test says that
//! it is skipped. What the mock knowingly does otherwise stands in `OTHERWISE` with its reason.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::world::World;

/// One recorded exchange.
struct Exchange {
    http: String,
    url: String,
    request: Value,
    status: u16,
    answer: Value,
}

/// Logs that are played, by a part of their name. Others are of services or methods not played yet.
const PLAYED: &[&str] = &[
    "compute__computeaddress__",
    "compute__computeexternalvpngateway",
    "compute__computenetwork__",
    "compute__computereservation__basic",
    "compute__computereservation__full",
    "compute__computeresourcepolicy",
    "compute__computeroute__",
    "compute__computerouterinterface",
    "compute__computerouternat__computerouternatbasic",
    "filestore__",
    "iam__iamserviceaccount__",
    "mockcompute__address",
    "mockcompute__computeaddresses",
    "mockcompute__computenetworks",
    "mockcompute__computesubnets",
    "mockfilestore",
    "mockiam__serviceaccount__",
    "mockserviceusage__service__",
    "mockstorage__bucket",
    "mockstorage__folder",
    "storage__storagebucket__",
];

/// Fields that differ from run to run, in every answer.
const MASKED: &[&str] = &[
    "id",
    "targetId",
    "fingerprint",
    "labelFingerprint",
    "etag",
    "creationTimestamp",
    "insertTime",
    "startTime",
    "endTime",
    "user",
    "selfLinkWithId",
    "uniqueId",
    "oauth2ClientId",
    "timeCreated",
    "updated",
    "generation",
    "effectiveTime",
    "lockedTime",
    "createTime",
    "updateTime",
    "address",
    "ipAddresses",
    "reservedIpRange",
    "gatewayAddress",
    "internalIpv6Range",
    "toggleTime",
    "terminalStorageClassUpdateTime",
    "clientOperationId",
];

/// Part of a log's name, part of a path of the answer, and why the mock does otherwise.
const OTHERWISE: &[(&str, &str, &str)] = &[
    (
        "computerouterinterface",
        ".routingConfig",
        "the recorder's mock: an auto mode network without subnetworks",
    ),
    (
        "computerouterinterface",
        ".subnetworks",
        "the recorder's mock: an auto mode network without subnetworks",
    ),
    (
        "mockserviceusage",
        ".metadata",
        "the recorder's mock puts an Empty where Google names the resources",
    ),
    (
        "externalvpngateway",
        ".operationType",
        "nobody decides by the word, and most collections use the verb",
    ),
    (
        "computenetworkbasic",
        ".mtu",
        "RDMA networks have MTU 8896 by Google's reference; the recorder's mock drops the field",
    ),
    (
        "computeroute__",
        ".routingConfig",
        "Google's reference shows the default, REGIONAL; these recordings show none",
    ),
    ("filestore", ".apiVersion", "recorded through v1beta1"),
    ("filestore", ".capacityGb", "a field of v1beta1"),
    (
        "mockfilestore",
        ".networks[0].network",
        "the recorder put a name into the hole that it had not asked for",
    ),
    (
        "mockstorage__folder",
        ".error.status",
        "storage has no status in its errors, by the other recordings",
    ),
    (
        "storage",
        ".prefixes",
        "the recorder's mock invents folders",
    ),
    (
        "storagebucketautoclass.log",
        ".acl",
        "the bucket is uniform: it has no access lists",
    ),
    (
        "storagebucketautoclass.log",
        ".defaultObjectAcl",
        "the bucket is uniform: it has no access lists",
    ),
    (
        "storagebucketautoclass.log",
        ".owner",
        "the bucket is uniform: it has no owner",
    ),
];

fn exchanges(text: &str) -> Vec<Exchange> {
    text.split("\n---\n").filter_map(exchange).collect()
}

fn exchange(text: &str) -> Option<Exchange> {
    let text = text.trim();
    let (line, rest) = text.split_once('\n')?;
    let (http, url) = line.split_once(' ')?;
    // the answer begins at a status line; what stands before it is the request
    let at = rest.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    });
    let (start, status) = at
        .filter_map(|(start, line)| {
            let code = line.split(' ').next()?.parse::<u16>().ok()?;
            (line.len() > 4 && (100..600).contains(&code)).then_some((start, code))
        })
        .next()?;
    let body = |text: &str| -> Value {
        text.split_once("\n\n")
            .map(|(_, body)| body.trim())
            .and_then(|body| serde_json::from_str(body).ok())
            .unwrap_or(Value::Null)
    };
    Some(Exchange {
        http: http.to_owned(),
        url: url.to_owned(),
        request: body(&format!("x\n{}", &rest[..start])),
        status,
        answer: body(&rest[start..]),
    })
}

/// Fills the holes of a recording with this world's names.
fn fill(text: &str, operation: &str) -> String {
    let mut out = text
        .replace("${projectId}", "formwork-mock")
        .replace("${projectNumber}", "415104041262")
        .replace("${operationID}", operation)
        .replace("${uniqueId}", "u1");
    while let Some(start) = out.find("${") {
        let Some(end) = out[start..].find('}') else {
            break;
        };
        let name = out[start + 2..start + end].to_lowercase();
        out.replace_range(start..=start + end, &name);
    }
    out
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let operation = fields
                .get("kind")
                .is_some_and(|kind| kind == "compute#operation");
            for (name, value) in fields.iter_mut() {
                let times = value
                    .as_str()
                    .is_some_and(|text| text.contains("T12:34:56"));
                if MASKED.contains(&name.as_str()) || times || (operation && name == "name") {
                    *value = "masked".into();
                } else {
                    mask(value);
                }
            }
            if fields.contains_key("done")
                || fields.get("name").is_some_and(|name| {
                    name.as_str()
                        .is_some_and(|name| name.contains("operations/"))
                })
            {
                fields.insert("name".into(), "masked".into());
            }
            if operation {
                fields.insert("selfLink".into(), "masked".into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

/// Paths at which two answers differ.
fn differences(path: &str, recorded: &Value, own: &Value, out: &mut Vec<String>) {
    match (recorded, own) {
        (Value::Object(a), Value::Object(b)) => {
            let empty = Value::Null;
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                differences(
                    &format!("{path}.{name}"),
                    a.get(name).unwrap_or(&empty),
                    b.get(name).unwrap_or(&empty),
                    out,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: recorded {a}, ours {b}")),
    }
}

/// What a log takes for granted.
async fn set_the_stage(world: &World, log: &[Exchange]) -> Vec<String> {
    let mut staged = Vec::new();
    let all: String = log
        .iter()
        .map(|e| format!("{} {}", e.url, e.request))
        .collect();
    for name in ["${networkID}", "default"] {
        let wanted = all.contains(&format!("networks/{name}"))
            || all.contains(&format!("\"network\":\"{name}\""));
        let made = log.iter().any(|e| {
            e.http == "POST" && e.request["name"] == name && e.url.contains("/global/networks")
        });
        if wanted && !made {
            staged.push(format!("/global/networks/{name}"));
            world
                .make(
                    "projects/formwork-mock/global/networks",
                    json!({"name": fill(name, ""), "autoCreateSubnetworks": true}),
                )
                .await;
        }
    }
    staged
}

#[tokio::test]
async fn recordings_play() {
    let Ok(folder) = std::env::var("FORMWORK_RECORDINGS") else {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: FORMWORK_RECORDINGS names no folder of recordings\n",
        );
        return;
    };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.ends_with(".log") && PLAYED.iter().any(|part| name.contains(part)))
        .collect();
    names.sort();
    assert!(
        !names.is_empty(),
        "{folder} holds no recordings that are played"
    );
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut compared, mut passed_over) = (0, 0);
    for name in &names {
        let text = std::fs::read_to_string(Path::new(&folder).join(name)).unwrap();
        let log = exchanges(&text);
        let world = World::new().await;
        let staged = set_the_stage(&world, &log).await;
        let mut operation = String::new();
        let mut seen = Map::new();
        for (index, exchange) in log.iter().enumerate() {
            // what there is besides in a project differs from world to world
            if exchange.url.contains("/aggregated/") || exchange.url.contains("/global/routes?") {
                continue;
            }
            // nor is what the stage was set with the recorder's
            let path = exchange.url.split('?').next().unwrap_or_default();
            if staged.iter().any(|end| path.ends_with(end)) {
                continue;
            }
            let url = fill(&exchange.url, &operation);
            let Some((host, path)) = url
                .strip_prefix("https://")
                .and_then(|url| url.split_once('/'))
            else {
                continue;
            };
            let service = host.split('.').next().unwrap_or_default();
            let path = format!("/{service}/{path}").replace("/file/v1beta1/", "/file/v1/");
            let body: Value =
                serde_json::from_str(&fill(&exchange.request.to_string(), &operation)).unwrap();
            let mut body = body;
            // a recorded fingerprint stands for the one that was last seen
            for name in ["fingerprint", "labelFingerprint"] {
                if let (Some(given), Some(last)) = (body.get_mut(name), seen.get(name))
                    && given.is_string()
                {
                    *given = last.clone();
                }
            }
            let (status, mut own) = world.call(&exchange.http, &path, body).await;
            if own == "" {
                own = Value::Null; // an answer without a body
            }
            if let Some(name) = own["name"].as_str().filter(|_| {
                own["kind"] == "compute#operation"
                    || exchange.answer["name"]
                        .as_str()
                        .is_some_and(|name| name.contains("operations/"))
            }) {
                operation = name.rsplit('/').next().unwrap_or_default().to_owned();
            }
            for name in ["fingerprint", "labelFingerprint"] {
                if let Some(value) = own.get(name) {
                    seen.insert(name.to_owned(), value.clone());
                }
            }
            if status == 501 {
                passed_over += 1;
                continue;
            }
            let mut recorded: Value =
                serde_json::from_str(&fill(&exchange.answer.to_string(), &operation)).unwrap();
            // an operation may need another number of looks
            if recorded["status"] == "RUNNING" && own["status"] == "DONE" {
                continue;
            }
            mask(&mut recorded);
            mask(&mut own);
            compared += 1;
            let mut found = Vec::new();
            if status != exchange.status {
                found.push(format!(
                    "status: recorded {}, ours {status}: {}",
                    exchange.status, own["error"]["message"]
                ));
            } else {
                if status >= 400 {
                    // texts are ours; code, reason and status are Google's
                    for body in [&mut recorded, &mut own] {
                        strip_texts(body);
                    }
                }
                differences("", &recorded, &own, &mut found);
            }
            found.retain(|line| {
                !OTHERWISE
                    .iter()
                    .any(|(log, path, _)| name.contains(log) && line.contains(path))
            });
            for line in found {
                wrong.entry(name.clone()).or_default().push(format!(
                    "#{index} {} {}: {line}",
                    exchange.http,
                    exchange.url.split('?').next().unwrap_or_default()
                ));
            }
        }
    }
    println!(
        "{} logs, {compared} exchanges compared, {passed_over} of methods not played",
        names.len()
    );
    let report: Vec<String> = wrong
        .iter()
        .map(|(name, lines)| format!("{name}\n    {}", lines.join("\n    ")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} logs differ:\n{}",
        wrong.len(),
        report.join("\n")
    );
}

fn strip_texts(body: &mut Value) {
    let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) else {
        return;
    };
    error.remove("message");
    error.remove("details");
    for entry in error
        .get_mut("errors")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(entry) = entry.as_object_mut() {
            let reason = entry.remove("reason");
            *entry = Map::new();
            entry.insert("reason".into(), reason.unwrap_or(Value::Null));
        }
    }
}
