//! [`Snapshot`] to bytes.

use crate::object::{Attributes, ResourceInstanceObject};
use crate::raw::{RawJson, push_line, push_string};
use crate::resource::{ObjectPlace, OtherKeys, OutputState, ResourceState};
use crate::snapshot::Snapshot;
use crate::tree::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_addresses::{AbsProviderConfig, AbsResource, InstanceKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many bytes most objects take less than.
const PER_OBJECT: usize = 2048;
/// Asked for at the beginning, at most.
const MOST_AT_FIRST: usize = 1 << 28;

/// Writes a snapshot as Terraform lays it out, with a new line at its end.
pub fn write(snapshot: &Snapshot) -> Vec<u8> {
    let state = &snapshot.state;
    // Growing would copy what is there time and again; memory that is not used costs nothing.
    let about = state.instance_count().saturating_mul(PER_OBJECT);
    let mut w = Writer {
        out: String::with_capacity(about.min(MOST_AT_FIRST)),
        depth: 0,
        indented: true,
    };
    let mut top = Object::open(&mut w);
    top.raw("version", "4");
    top.text("terraform_version", &snapshot.terraform_version);
    top.raw("serial", &snapshot.serial.to_string());
    top.text("lineage", &snapshot.lineage);
    // an explicit null is kept until there is something to say
    if state.outputs().len() > 0 || snapshot.other.get("outputs").is_none() {
        top.nested("outputs", |w| outputs(w, state));
    }
    if state.resources().len() > 0 || snapshot.other.get("resources").is_none() {
        top.nested("resources", |w| resources(w, state));
    }
    if let Some(results) = state.check_results() {
        top.json("check_results", results);
    }
    top.others(&snapshot.other);
    top.close();
    w.out.push('\n');
    w.out.into_bytes()
}

/// One object as the format writes it in a list of instances, on one line, without its key.
pub fn write_object(object: &ResourceInstanceObject) -> String {
    let mut w = Writer {
        out: String::new(),
        depth: 0,
        indented: false,
    };
    self::object(&mut w, &(InstanceKey::None, None), None, object);
    w.out
}

/// Resources in the order in which the format has them.
pub(super) fn usual_order(state: &State) -> Vec<&AbsResource> {
    let mut sorted: Vec<(String, &AbsResource)> = state
        .resources()
        .map(|(a, _)| (a.module.to_string(), a))
        .collect();
    // by the text of the module; within it they are in order already, and the sort is stable
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted.into_iter().map(|(_, a)| a).collect()
}

/// `usual`, but first those of `file` that are still there, in its order.
fn in_file_order<T: Ord + Clone>(usual: Vec<T>, file: Option<&[T]>) -> Vec<T> {
    let Some(file) = file else { return usual };
    let mut left: BTreeSet<T> = usual.iter().cloned().collect();
    let mut result: Vec<T> = file.iter().filter(|a| left.remove(a)).cloned().collect();
    result.extend(usual.into_iter().filter(|a| left.contains(a)));
    result
}

fn outputs(w: &mut Writer, state: &State) {
    let mut object = Object::open(w);
    for (name, output) in state.outputs() {
        object.nested(name, |w| self::output(w, output));
    }
    object.close();
}

fn output(w: &mut Writer, output: &OutputState) {
    let mut object = Object::open(w);
    object.json("value", &output.value);
    object.json("type", &output.kind);
    if output.sensitive {
        object.raw("sensitive", "true");
    }
    object.others(&output.other);
    object.close();
}

fn resources(w: &mut Writer, state: &State) {
    let usual = usual_order(state).into_iter().cloned().collect();
    let order = in_file_order(usual, state.order.as_deref());
    let mut list = List::open(w);
    for address in &order {
        if let Some(resource) = state.resource(address) {
            list.item(|w| self::resource(w, address, resource));
        }
    }
    list.close();
}

fn resource(w: &mut Writer, address: &AbsResource, resource: &ResourceState) {
    let mut object = Object::open(w);
    if !address.module.is_root() {
        object.text("module", &address.module.to_string());
    }
    object.text("mode", address.resource.mode.word());
    object.text("type", &address.resource.kind);
    object.text("name", &address.resource.name);
    if let Some(each) = &resource.each {
        object.text("each", each);
    }
    object.text("provider", &resource.provider.to_string());
    if !resource.instances.is_empty() || resource.other.get("instances").is_none() {
        object.nested("instances", |w| instances(w, resource));
    }
    object.others(&resource.other);
    object.close();
}

fn instances(w: &mut Writer, resource: &ResourceState) {
    let mut list = List::open(w);
    match &resource.order {
        None => {
            for (place, object) in resource.objects() {
                let own = resource.own_provider(&place.0);
                list.item(|w| self::object(w, &place, own, object));
            }
        }
        Some(order) => {
            let objects: BTreeMap<ObjectPlace, &Arc<ResourceInstanceObject>> =
                resource.objects().collect();
            let usual = objects.keys().cloned().collect();
            for place in in_file_order(usual, Some(order)) {
                if let Some(object) = objects.get(&place) {
                    let own = resource.own_provider(&place.0);
                    list.item(|w| self::object(w, &place, own, object));
                }
            }
        }
    }
    list.close();
}

fn object(
    w: &mut Writer,
    (key, deposed): &ObjectPlace,
    provider: Option<&AbsProviderConfig>,
    o: &ResourceInstanceObject,
) {
    let mut object = Object::open(w);
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(n) => object.raw("index_key", &n.to_string()),
        InstanceKey::Text(text) => object.text("index_key", text),
    }
    if o.is_tainted() {
        object.text("status", "tainted");
    }
    if let Some(key) = deposed {
        object.text("deposed", key.as_str());
    }
    if let Some(provider) = provider {
        object.text("provider", &provider.to_string());
    }
    object.raw("schema_version", &o.schema_version.to_string());
    match &o.attributes {
        Attributes::Json(json) => object.json("attributes", json),
        Attributes::Flat(flat) => object.json("attributes_flat", flat),
    }
    if let Some(paths) = o.sensitive.to_json() {
        object.json("sensitive_attributes", &paths);
    }
    if let Some(version) = o.identity_schema_version {
        object.raw("identity_schema_version", &version.to_string());
    }
    if let Some(identity) = &o.identity {
        object.json("identity", identity);
    }
    if let Some(private) = &o.private {
        object.text("private", &STANDARD.encode(private));
    }
    if !o.dependencies.is_empty() {
        object.nested("dependencies", |w| {
            let mut list = List::open(w);
            for dependency in o.dependencies.iter() {
                list.item(|w| push_string(&mut w.out, &dependency.to_string()));
            }
            list.close();
        });
    }
    if o.create_before_destroy {
        object.raw("create_before_destroy", "true");
    }
    object.others(&o.other);
    object.close();
}

struct Writer {
    out: String,
    depth: usize,
    indented: bool,
}

impl Writer {
    fn line(&mut self) {
        if self.indented {
            push_line(&mut self.out, self.depth);
        }
    }
}

/// An object being written.
struct Object<'w, 'k> {
    w: &'w mut Writer,
    written: Vec<&'k str>,
}

impl<'w, 'k> Object<'w, 'k> {
    fn open(w: &'w mut Writer) -> Self {
        w.out.push('{');
        w.depth += 1;
        Self {
            w,
            written: Vec::new(),
        }
    }

    fn key(&mut self, key: &'k str) {
        if !self.written.is_empty() {
            self.w.out.push(',');
        }
        self.written.push(key);
        self.w.line();
        push_string(&mut self.w.out, key);
        self.w
            .out
            .push_str(if self.w.indented { ": " } else { ":" });
    }

    fn raw(&mut self, key: &'k str, raw: &str) {
        self.key(key);
        self.w.out.push_str(raw);
    }

    fn text(&mut self, key: &'k str, text: &str) {
        self.key(key);
        push_string(&mut self.w.out, text);
    }

    fn json(&mut self, key: &'k str, json: &RawJson) {
        self.key(key);
        if self.w.indented {
            json.push_indented(&mut self.w.out, self.w.depth);
        } else {
            self.w.out.push_str(json.get());
        }
    }

    fn nested(&mut self, key: &'k str, write: impl FnOnce(&mut Writer)) {
        self.key(key);
        write(self.w);
    }

    /// Those that were not written under their name by now.
    fn others(&mut self, others: &'k OtherKeys) {
        for (key, json) in others.iter() {
            if !self.written.contains(&key) {
                self.json(key, json);
            }
        }
    }

    fn close(self) {
        self.w.depth -= 1;
        if !self.written.is_empty() {
            self.w.line();
        }
        self.w.out.push('}');
    }
}

/// A list being written.
struct List<'w> {
    w: &'w mut Writer,
    empty: bool,
}

impl<'w> List<'w> {
    fn open(w: &'w mut Writer) -> Self {
        w.out.push('[');
        w.depth += 1;
        Self { w, empty: true }
    }

    fn item(&mut self, write: impl FnOnce(&mut Writer)) {
        if !self.empty {
            self.w.out.push(',');
        }
        self.empty = false;
        self.w.line();
        write(self.w);
    }

    fn close(self) {
        self.w.depth -= 1;
        if !self.empty {
            self.w.line();
        }
        self.w.out.push(']');
    }
}
