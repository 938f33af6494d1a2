//! `graph`: pictures of what needs what.

use super::state::view;
use crate::arguments::{self, GraphFormat};
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_render::{
    Operations, OperationsOf, ResourcePicture, execution_dot, execution_mermaid,
};
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Graph) -> u8 {
    if let Some(path) = &arguments.plan {
        return of_plan(session, path, arguments.format);
    }
    let of = match arguments.kind.as_deref() {
        None | Some("") => Of::Resources,
        Some("plan" | "plan-refresh-only") => Of::Operations(OperationsOf::Plan),
        Some("apply") => Of::Operations(OperationsOf::Apply),
        Some("plan-destroy") => Of::Destroying,
        Some(other) => {
            return session.fail(
                "Unsupported graph type",
                format!(
                    "-type is {other:?}. It may be plan, plan-refresh-only, plan-destroy or apply; without it the \
                     resources are drawn."
                ),
            );
        }
    };
    block_on(session, async |interrupts| match of {
        Of::Destroying => of_destroying(session, arguments, interrupts).await,
        of => of_configuration(session, arguments, of, interrupts).await,
    })
}

/// What is to be drawn.
#[derive(Clone, Copy)]
enum Of {
    Resources,
    Operations(OperationsOf),
    Destroying,
}

/// What a saved plan will do.
fn of_plan(session: &Session, path: &Path, format: GraphFormat) -> u8 {
    let plan = plan_file::bytes_of(session, path).and_then(|bytes| plan_file::read(&bytes, path));
    match plan {
        Ok(plan) => {
            session.streams.out(&match format {
                GraphFormat::Dot => execution_dot(&plan.graph),
                GraphFormat::Mermaid => execution_mermaid(&plan.graph),
            });
            exit::SUCCESS
        }
        Err(said) => session.say(&said, &SourceMap::new()),
    }
}

fn wanted(arguments: &arguments::Graph) -> Wanted<'_> {
    Wanted {
        variables: Some(&arguments.variables),
        early: true,
        for_program: true,
        no_cloud: true,
        ..Wanted::default()
    }
}

async fn of_configuration(
    session: &Session,
    arguments: &arguments::Graph,
    of: Of,
    interrupts: &Interrupts,
) -> u8 {
    let (operation, _) = match Operation::begin(session, interrupts, &wanted(arguments)).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    let (loaded, said) = formwork_ops::load(&operation.ops);
    operation.end().await;
    // with -draw-cycles a cycle is no error but what is to be seen
    let errors: Diagnostics = said
        .iter()
        .filter(|d| d.is_error() && !(arguments.draw_cycles && is_cycle(d)))
        .cloned()
        .collect();
    if !errors.is_empty() {
        return session.say(&errors, &loaded.sources);
    }
    session.streams.out(&match (of, arguments.format) {
        (Of::Operations(of), format) => written(&Operations::of(&loaded.graph, of), format),
        (_, GraphFormat::Dot) => ResourcePicture::of(&loaded.graph).dot(),
        (_, GraphFormat::Mermaid) => ResourcePicture::of(&loaded.graph).mermaid(),
    });
    exit::SUCCESS
}

fn is_cycle(d: &Diagnostic) -> bool {
    d.summary.starts_with("Cycle: ") || d.summary == "Self-referencing local value"
}

fn written(operations: &Operations, format: GraphFormat) -> String {
    match format {
        GraphFormat::Dot => operations.dot(),
        GraphFormat::Mermaid => operations.mermaid(),
    }
}

/// What destroying all that the state holds goes through.
async fn of_destroying(
    session: &Session,
    arguments: &arguments::Graph,
    interrupts: &Interrupts,
) -> u8 {
    let wanted = wanted(arguments);
    let drawn = view(session, interrupts, &wanted, async |operation, view| {
        let root = operation.preview.configuration.root();
        let outputs = root.map(|r| r.outputs.keys().cloned().collect());
        let picture = Operations::of_destroying(&view.state, &outputs.unwrap_or_default());
        session.streams.out(&written(&picture, arguments.format));
        exit::SUCCESS
    });
    drawn.await.unwrap_or_else(|code| code)
}
