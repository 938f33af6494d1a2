//! An instance's disks: one list on the wire, three kinds of blocks here.

use formwork_google_schema::{Node, Resource};
use formwork_values::Value;
use serde_json::{Map, Value as Json, json};

use crate::draft::Draft;
use crate::engine::Subject;
use crate::failure::Failure;
use crate::hooks::resolve_image;
use crate::json;
use crate::names;

/// The blocks of an instance as the API's disks.
pub(crate) async fn encode(subject: &Subject<'_>) -> Result<Vec<Json>, Failure> {
    let mut disks = Vec::new();
    for (name, boot) in [
        ("boot_disk", true),
        ("scratch_disk", false),
        ("attached_disk", false),
    ] {
        let Some(node) = subject.resource.field(name) else {
            continue;
        };
        for block in blocks(subject.object, name) {
            let mut disk = Map::new();
            json::expand(&node.children, block, &subject.located(), &mut disk);
            match name {
                "boot_disk" => {
                    disk.insert("boot".into(), Json::Bool(boot));
                    image(subject, &mut disk).await?;
                }
                "scratch_disk" => {
                    let size = disk.remove("diskSizeGb");
                    disk.insert("type".into(), json!("SCRATCH"));
                    disk.insert("autoDelete".into(), Json::Bool(true));
                    let kind = subject
                        .located()
                        .plain("projects/{project}/zones/{zone}/diskTypes/local-ssd")
                        .unwrap_or_default();
                    let mut parameters = json!({"diskType": kind});
                    if let Some(size) = size {
                        parameters["diskSizeGb"] = size;
                    }
                    disk.insert("initializeParams".into(), parameters);
                }
                _ => {
                    disk.insert("autoDelete".into(), Json::Bool(false));
                }
            }
            if disk.get("forceAttach") == Some(&Json::Bool(false)) {
                disk.remove("forceAttach");
            }
            disks.push(Json::Object(disk));
        }
    }
    Ok(disks)
}

/// Resolves the image of a disk's initialisation.
pub(crate) async fn image(
    subject: &Subject<'_>,
    disk: &mut Map<String, Json>,
) -> Result<(), Failure> {
    if let Some(Json::String(image)) = disk
        .get_mut("initializeParams")
        .and_then(|p| p.get_mut("sourceImage"))
        && !image.is_empty()
    {
        *image = resolve_image(subject.cloud, image).await?;
    }
    Ok(())
}

fn blocks<'v>(object: &'v Value, name: &str) -> &'v [Value] {
    object
        .attribute(name)
        .and_then(Value::as_sequence)
        .unwrap_or_default()
}

/// Sorts the API's disks into the three kinds of blocks.
pub(crate) fn derive(resource: &Resource, json: &Json, draft: &mut Draft, known: Option<&Value>) {
    let all: Vec<&Json> = json
        .get("disks")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .collect();
    let is = |disk: &Json, key: &str| disk.get(key).and_then(Json::as_bool) == Some(true);
    let scratch = |disk: &Json| disk.get("type").and_then(Json::as_str) == Some("SCRATCH");
    let before = |name: &str| {
        known
            .and_then(|k| k.attribute(name))
            .filter(|v| v.is_known())
    };

    if let Some(node) = resource.field("boot_disk") {
        let boot: Vec<Json> = all
            .iter()
            .filter(|d| is(d, "boot"))
            .map(|d| (*d).clone())
            .collect();
        let value = json::flatten_field(node, &json!({"disks": boot}), before("boot_disk"));
        draft.set(
            "boot_disk",
            initialised(node, &value, before("boot_disk"), boot.first()),
        );
    }
    if let Some(node) = resource.field("scratch_disk") {
        // Accelerator machines bring local SSDs of their own; those that nobody asked for are not ours.
        let wanted = before("scratch_disk")
            .and_then(Value::as_sequence)
            .map_or(0, <[_]>::len);
        let list: Vec<Json> = all
            .iter()
            .filter(|d| scratch(d))
            .take(wanted)
            .map(|d| (*d).clone())
            .collect();
        draft.set(
            "scratch_disk",
            json::flatten_field(node, &json!({"disks": list}), before("scratch_disk")),
        );
    }
    if let Some(node) = resource.field("attached_disk") {
        let mut rest: Vec<&Json> = all
            .iter()
            .filter(|d| !is(d, "boot") && !scratch(d))
            .copied()
            .collect();
        // In the order in which they were known; new ones after them.
        let mut list = Vec::new();
        for block in before("attached_disk")
            .and_then(Value::as_sequence)
            .unwrap_or_default()
        {
            let source = crate::draft::text(block, "source").unwrap_or_default();
            let found = rest.iter().position(|d| {
                d.get("source")
                    .and_then(Json::as_str)
                    .is_some_and(|s| names::same_link_or_name(s, source))
            });
            if let Some(at) = found {
                list.push(rest.remove(at).clone());
            }
        }
        list.extend(rest.into_iter().cloned());
        draft.set(
            "attached_disk",
            json::flatten_field(node, &json!({"disks": list}), before("attached_disk")),
        );
    }
}

/// What a boot disk was made from is not given back: it stays as known, the size as the disk says.
fn initialised(node: &Node, value: &Value, before: Option<&Value>, disk: Option<&Json>) -> Value {
    let known = before
        .and_then(Value::as_sequence)
        .and_then(<[_]>::first)
        .and_then(|b| b.attribute("initialize_params"))
        .filter(|p| p.is_known());
    let Some([one, ..]) = value.as_sequence() else {
        return value.clone();
    };
    let formwork_values::Kind::Object(ty, values) = one.kind() else {
        return value.clone();
    };
    let size = disk.and_then(|d| d.get("diskSizeGb")).and_then(|s| {
        s.as_str()
            .and_then(|s| s.parse::<i64>().ok())
            .or_else(|| s.as_i64())
    });
    let values = ty
        .names()
        .iter()
        .zip(values)
        .map(|(name, v)| {
            if &**name != "initialize_params" {
                return v.clone();
            }
            let Some(known) = known else { return v.clone() };
            known.clone().transform(&mut |path, v| {
                let is_size = matches!(path.steps().last(), Some(formwork_values::Step::Attribute(n)) if &**n == "size");
                match (is_size, size) {
                    (true, Some(size)) => Value::int(size),
                    _ => v,
                }
            })
        })
        .collect();
    let _ = node;
    let object = Value::object_of(ty.clone(), values);
    Value::list(object.type_of(), vec![object])
}
