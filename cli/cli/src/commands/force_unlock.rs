//! `force-unlock`: a lock that a run has left where locks outlive their runs.

use crate::arguments::ForceUnlock;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};

/// Runs the command.
pub fn run(session: &Session, arguments: &ForceUnlock) -> u8 {
    block_on(session, async |interrupts| {
        let wanted = Wanted {
            for_program: true,
            no_cloud: true,
            ..Wanted::default()
        };
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let store = operation.ops.store.clone();
        let asked = if arguments.force {
            Ok(true)
        } else {
            approved(session, &store.describe())
        };
        let code = match asked {
            Err(said) => session.say(&said, &SourceMap::new()),
            Ok(false) => {
                session.streams.out("force-unlock cancelled.\n");
                exit::FAILURE
            }
            Ok(true) => match store.break_lock(&arguments.id).await {
                Err(said) => session.say(&said, &SourceMap::new()),
                Ok(()) => {
                    let text = format!(
                        "{} state has been successfully unlocked!\n\nThe next run can lock {} again.\n",
                        session.product(),
                        store.describe()
                    );
                    session.streams.out(&session.style.good(&text));
                    exit::SUCCESS
                }
            },
        };
        operation.end().await;
        code
    })
}

fn approved(session: &Session, state: &str) -> Result<bool, Diagnostics> {
    session.streams.out(&format!(
        "Do you really want to force-unlock?\n  Should the run that holds the lock of {state} still be \
         running, its work and that of the next run would overwrite each other.\n  Only \"yes\" is taken for \
         approval.\n\n  Enter a value: "
    ));
    let answer = match session.may_ask {
        true => session.streams.read_line().ok().flatten(),
        false => None,
    };
    session.streams.out("\n");
    match answer {
        Some(answer) => Ok(answer.trim() == "yes"),
        None => Err(Diagnostic::error(
            "Nobody can be asked for approval",
            "A lock is released by force only where somebody says so.",
        )
        .hint("To release it without being asked, add -force.")
        .into()),
    }
}
