//! States as people read them: lists of addresses, objects, outputs.

use super::difference::Differ;
use super::page::{Page, Sign};
use crate::schemas::{SchemaCache, Schemas};
use crate::stored::{decode, mark, without_echoes};
use crate::style::{Role, Style};
use formwork_addresses::{AbsResourceInstance, DeposedKey, ResourceMode};
use formwork_state::{OutputState, ResourceInstanceObject, State};
use formwork_syntax::quote;
use formwork_values::{Value, print};
use std::fmt::Write as _;

/// The addresses of all instances, one a line, in their order.
pub fn state_list(state: &State) -> String {
    state_list_where(state, |_| true)
}

/// The addresses of the instances that `wanted` picks, one a line, in their order. Objects left over
/// from a replacement follow their instance.
pub fn state_list_where(state: &State, wanted: impl Fn(&AbsResourceInstance) -> bool) -> String {
    let mut out = String::new();
    let mut instances: Vec<_> = state.instances().filter(|(a, _)| wanted(a)).collect();
    // Those of a module come before those of any module inside; pipelines compare the lists.
    instances.sort_by_key(|(address, _)| address.module.steps().len());
    for (address, instance) in instances {
        // writing to a String cannot fail
        if instance.current.is_some() {
            let _ = writeln!(out, "{address}");
        }
        for key in instance.deposed.keys() {
            let _ = writeln!(out, "{address} (deposed {key})");
        }
    }
    out
}

/// One instance with all its objects; `None` if the state does not hold it.
pub fn state_show(
    state: &State,
    address: &AbsResourceInstance,
    schemas: &Schemas,
    style: Style,
) -> Option<String> {
    state.instance(address)?;
    let mut page = Page::new(style);
    instance(&mut page, state, address, &mut SchemaCache::new(schemas));
    Some(dedented(&page.out))
}

/// A whole state: objects, then outputs.
pub fn state_text(state: &State, schemas: &Schemas, style: Style) -> String {
    if state.is_empty() {
        return "The state is empty: it holds neither resources nor outputs.\n".to_owned();
    }
    let mut cache = SchemaCache::new(schemas);
    let mut page = Page::new(style);
    for (i, (address, _)) in state.instances().enumerate() {
        if i > 0 {
            page.blank();
        }
        instance(&mut page, state, &address, &mut cache);
    }
    let mut out = dedented(&page.out);
    if state.outputs().len() > 0 {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&outputs_text(state.outputs(), style));
    }
    out
}

/// `Outputs:`, a blank line, and each output in the console's notation; sensitive ones are not
/// shown. Empty if there are none.
pub fn outputs_text<'o>(
    outputs: impl IntoIterator<Item = (&'o str, &'o OutputState)>,
    style: Style,
) -> String {
    let body = output_values(outputs);
    if body.is_empty() {
        return body;
    }
    let title = style.paint(Role::Strong, "Outputs:");
    format!("{title}\n\n{body}")
}

/// Each output in the console's notation, as the `output` command without a name shows them.
pub fn output_values<'o>(outputs: impl IntoIterator<Item = (&'o str, &'o OutputState)>) -> String {
    let mut out = String::new();
    for (name, output) in outputs {
        let text = match output.to_value() {
            _ if output.sensitive => "<sensitive>".to_owned(),
            Some(value) => print::console(&value),
            None => "(its value and its type in the state do not agree)".to_owned(),
        };
        // writing to a String cannot fail
        let _ = writeln!(out, "{name} = {text}");
    }
    out
}

fn instance(
    page: &mut Page,
    state: &State,
    address: &AbsResourceInstance,
    cache: &mut SchemaCache<'_>,
) {
    let Some(found) = state.instance(address) else {
        return;
    };
    let objects = found
        .current
        .iter()
        .map(|o| (None, o))
        .chain(found.deposed.iter().map(|(k, o)| (Some(k), o)));
    for (i, (deposed, stored)) in objects.enumerate() {
        if i > 0 {
            page.blank();
        }
        object(page, state, address, deposed, stored, cache);
    }
}

fn object(
    page: &mut Page,
    state: &State,
    address: &AbsResourceInstance,
    deposed: Option<&DeposedKey>,
    object: &ResourceInstanceObject,
    cache: &mut SchemaCache<'_>,
) {
    let mut title = format!("{address}:");
    if let Some(key) = deposed {
        title.push_str(&format!(" (deposed object {key})"));
    }
    if object.is_tainted() {
        title.push_str(" (tainted)");
    }
    page.remark(0, &title);
    let resource = &address.resource;
    let word = match resource.mode {
        ResourceMode::Managed => "resource",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    let header = format!(
        "{word} {} {} {{",
        quote(&resource.kind),
        quote(&resource.name)
    );
    page.line(0, Sign::None, &header);
    let schema = state
        .provider(address)
        .and_then(|p| cache.schema(&p.provider, resource));
    match decode(object, schema.as_deref()) {
        Some(value) => {
            let value: Value = without_echoes(mark(value, object, schema.as_deref()));
            let block = schema.as_ref().map(|s| &*s.block);
            Differ::new(page, &[]).snapshot(1, block, &value);
        }
        None => page.remark(
            1,
            "(written by a version of old; only its provider can read it)",
        ),
    }
    page.line(0, Sign::None, "}");
}

/// Without the room for signs, which a state does not need.
fn dedented(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        out.push_str(line.strip_prefix("    ").unwrap_or(line));
    }
    out
}
