//! A state that goes from one place to another.

use crate::session::Session;
use crate::state::{end_journal, hold, write};
use crate::state_edit::push;
use formwork_diagnostics::{Diagnostic, Diagnostics};

/// Copies the state of `from` in the place of that of `to`, lineage and serial included; both are
/// locked meanwhile. What is in the journal of `from` is folded first. If it holds no state, nothing is
/// done.
///
/// # Errors
/// Why it was not copied; the state of `to` is then as it was.
pub async fn copy_state(from: &Session, to: &Session) -> Result<Diagnostics, Diagnostics> {
    let (mut source, mut said) = hold(from, "migration source state").await?;
    let copied = async {
        if let Some(open) = source.view().pending.first() {
            return Err(Diagnostic::error(
                "Operation left open",
                format!(
                    "A run that was cut short has left an operation on {} open. Its end must be known before \
                     the state goes elsewhere.",
                    open.begun.address
                ),
            )
            .hint("The next plan or apply finds out.")
            .into());
        }
        if source.view().folded {
            source.own_journal(from).await?;
            let lineage = source.lineage(from);
            let state = source.view().state.clone();
            write(from, &mut source, &lineage, state).await?;
            end_journal(from, &source, &lineage, &[]).await?;
        }
        let Some(snapshot) = source.view().snapshot.clone() else {
            return Ok(Diagnostics::new());
        };
        let (mut target, mut said) = hold(to, "migration destination state").await?;
        let pushed = push(to, &mut target, snapshot, true).await;
        said.append(target.release(to).await);
        pushed.map(|()| said)
    };
    let copied = copied.await;
    let released = source.release(from).await;
    match copied {
        Ok(more) => {
            said.append(more);
            said.append(released);
            Ok(said)
        }
        Err(mut d) => {
            d.append(released);
            Err(d)
        }
    }
}
