//! `import`.

use crate::arguments::Import;
use crate::commands::state::no_address;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::SourceMap;

/// Runs the command.
pub fn run(session: &Session, arguments: &Import) -> u8 {
    let text = &arguments.address;
    let Ok(address) = text.parse::<AbsResourceInstance>() else {
        return session.say(&no_address(text), &SourceMap::new());
    };
    session.notice();
    let wanted = Wanted {
        variables: Some(&arguments.variables),
        reading: arguments.reading.clone(),
        locking: Some(arguments.editing.locking.clone()),
        state: arguments.editing.state.clone(),
        backup: arguments.editing.backup.clone(),
        piped_answers: true,
        ..Wanted::default()
    };
    let id = &arguments.id;
    session.tell(&format!("{address}: Importing from ID {id:?}...\n"));
    block_on(session, async |interrupts| {
        let (operation, said) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        session.say(&said, &operation.ops.sources);
        let imported = formwork_ops::import_object(&operation.ops, &address, id).await;
        let code = match imported {
            Ok(said) => session.say(&said, &operation.ops.sources),
            Err((said, sources)) => session.say(&said, &sources),
        };
        operation.end().await;
        if code == exit::SUCCESS {
            let done = session.style.good("Import successful!");
            session.tell(&format!(
                "\n{done}\n\nThe object is in the state now, and managed by the configuration from here on. Plan to \
                 see whether the two agree.\n"
            ));
        }
        code
    })
}
