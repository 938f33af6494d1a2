//! A plan as one page for a browser: what happens by module, with filters, differences, and a picture
//! of what needs what.
//!
//! The page is self-contained and asks nothing of any server (its content policy forbids it to). What
//! it shows of values is the text that people read at a terminal, so sensitive ones are not in it. The
//! rows are data, and the script makes elements of those that are in view, so that ten thousand changes
//! are as quick as ten.

use crate::graphs::ResourcePicture;
use crate::json::write::{self, Object};
use crate::schemas::{SchemaCache, Schemas};
use crate::style::Style;
use crate::text::causes::Causes;
use crate::text::lines::{no_changes_line, plan_line};
use crate::text::page::Page;
use crate::text::plan::{drift, output_changes, resource};
use formwork_configuration::Configuration;
use formwork_diagnostics::SourceMap;
use formwork_graph::StaticGraph;
use formwork_plan::{Action, OutputChange, Plan, ResourceInstanceChange};
use std::collections::BTreeMap;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page. `title` is what the plan is called; without its configuration there is no picture and no
/// cause of a replacement.
pub fn plan_html(
    plan: &Plan,
    title: &str,
    schemas: &Schemas,
    configuration: Option<&Configuration>,
    sources: &SourceMap,
) -> String {
    let data = write::object(|o| write_data(o, plan, title, schemas, configuration, sources));
    let title = escaped(title);
    let mut out = String::with_capacity(data.len() + STYLE.len() + SCRIPT.len() + 2048);
    for part in [
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &title,
        "</title>\n<style>\n",
        STYLE,
        "</style>\n</head>\n<body>\n<noscript>This page shows a plan by a script; it needs one that may \
         run.</noscript>\n<div id=\"page\"></div>\n<script type=\"application/json\" id=\"plan\">",
        // every < in it is written as \u003c, so nothing in it can end the element
        &data,
        "</script>\n<script>\n",
        SCRIPT,
        "</script>\n</body>\n</html>\n",
    ] {
        out.push_str(part);
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn write_data(
    o: &mut Object<'_>,
    plan: &Plan,
    title: &str,
    schemas: &Schemas,
    configuration: Option<&Configuration>,
    sources: &SourceMap,
) {
    let summary = plan.summary();
    o.text("title", title);
    o.text("mode", plan.mode.word());
    o.text("made", &plan.timestamp);
    o.text("by", &plan.tool_version);
    o.bool("errored", plan.errored);
    o.bool("complete", plan.complete);
    if let Some(cloud) = &plan.prior.cloud {
        o.text("cloud", cloud);
    }
    let line = if plan.has_changes() {
        plan_line(&summary)
    } else {
        no_changes_line(plan.mode).to_owned()
    };
    o.text("line", &line);
    let causes = configuration.map(|c| Causes::new(plan, c, sources));
    let mut cache = SchemaCache::new(schemas);
    let told: Vec<&ResourceInstanceChange> = plan.changes.iter().filter(|c| c.is_told()).collect();
    o.array("changes", |a| {
        for change in &told {
            let mut page = Page::new(Style::PLAIN);
            resource(&mut page, change, &mut cache, causes.as_ref());
            a.object(|o| {
                o.text("a", &change.display_address());
                o.text("m", &change.address.module.to_string());
                o.text("r", &block_of(change));
                o.text("k", kind(change));
                o.text("d", page.out.trim_end());
            });
        }
    });
    let mut page = Page::new(Style::PLAIN);
    drift(&mut page, plan, &told, &mut cache);
    if !page.out.is_empty() {
        o.text("drift", page.out.trim_end());
    }
    let outputs: Vec<&OutputChange> = plan
        .outputs
        .iter()
        .filter(|o| o.action() != Action::NoOp)
        .collect();
    if !outputs.is_empty() {
        let mut page = Page::new(Style::PLAIN);
        output_changes(&mut page, &outputs);
        o.text("outputs", page.out.trim_end());
    }
    if let Some(configuration) = configuration {
        o.object("graph", |o| write_graph(o, configuration, &told));
    }
}

/// The blocks of the configuration, what each needs, and how many of its instances change how.
fn write_graph(
    o: &mut Object<'_>,
    configuration: &Configuration,
    changes: &[&ResourceInstanceChange],
) {
    let (graph, _) = StaticGraph::build(configuration);
    let picture = ResourcePicture::of(&graph);
    let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for change in changes {
        *counts
            .entry(block_of(change))
            .or_default()
            .entry(kind(change))
            .or_default() += 1;
    }
    o.array("blocks", |a| {
        for address in picture.addresses() {
            a.object(|o| {
                o.text("r", &address);
                if let Some(counts) = counts.get(&address) {
                    o.object("n", |o| {
                        for (kind, count) in counts {
                            o.count(kind, *count);
                        }
                    });
                }
            });
        }
    });
    o.array("arrows", |a| {
        for (from, to) in picture.arrows() {
            a.raw(&format!("[{from},{to}]"));
        }
    });
}

/// The block that an instance is of, without keys.
fn block_of(change: &ResourceInstanceChange) -> String {
    let module = change.address.module_path();
    match module.is_root() {
        true => change.address.resource.to_string(),
        false => format!("{module}.{}", change.address.resource),
    }
}

/// The word by which the page sorts changes.
fn kind(change: &ResourceInstanceChange) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp => "move",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Forget => "forget",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_data_and_nothing_is_fetched() {
        let plan = Plan {
            outputs: vec![OutputChange {
                name: "o".into(),
                before: None,
                after: Some(formwork_values::Value::string("</script><img src=x>")),
                sensitive: false,
            }],
            ..Plan::default()
        };
        let page = plan_html(
            &plan,
            "a <b> & \"c\"",
            &Schemas::new(),
            None,
            &SourceMap::new(),
        );
        assert!(page.contains("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img"));
        assert!(page.contains("\\u003c/script\\u003e"), "{page}");
        for outside in ["src=\"http", "href=\"http", "@import", "url(", "fetch("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
