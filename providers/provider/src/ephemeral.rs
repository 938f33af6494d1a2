//! Ephemeral resources that are open: opened for a run, renewed while it lasts, closed at its end.
//!
//! What they hold goes to whoever opened them and is kept nowhere, here neither: of an open resource
//! only what its provider needs to renew and close it is known.

use crate::{Bytes, OpenRequest, Provider, Reported};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_values::{Type, Value};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The ephemeral resources that a run has open.
#[derive(Default)]
pub struct OpenEphemerals {
    open: Mutex<Vec<Open>>,
}

#[derive(Clone)]
struct Open {
    address: AbsResourceInstance,
    provider: Arc<dyn Provider>,
    private: Bytes,
    renew_at: Option<SystemTime>,
}

impl OpenEphemerals {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a resource by its configuration, wholly known and without marks. The answer is as the
    /// provider gives it.
    pub async fn open(
        &self,
        address: &AbsResourceInstance,
        provider: Arc<dyn Provider>,
        config: Value,
    ) -> (Value, Vec<Reported>) {
        let request = OpenRequest {
            kind: address.resource.kind.to_string(),
            config,
        };
        let answer = provider.open_ephemeral_resource(request).await;
        if answer.reported.iter().any(Reported::is_error) {
            return (Value::null(Type::Dynamic), answer.reported);
        }
        self.all().push(Open {
            address: address.clone(),
            provider,
            private: answer.private,
            renew_at: answer.renew_at,
        });
        (answer.result, answer.reported)
    }

    /// Renews what is due.
    pub async fn renew_due(&self, now: SystemTime) -> Diagnostics {
        let due: Vec<Open> = {
            let mut all = self.all();
            let due = all
                .iter_mut()
                .filter(|o| o.renew_at.is_some_and(|at| at <= now));
            // Nobody else renews it meanwhile.
            due.map(|o| {
                let taken = o.clone();
                o.renew_at = None;
                taken
            })
            .collect()
        };
        let mut said = Diagnostics::new();
        for open in due {
            let kind = &open.address.resource.kind;
            let provider = &open.provider;
            let answer = provider.renew_ephemeral_resource(kind, open.private).await;
            said.append(Reported::placed(answer.reported, &open.address, &|_| None));
            let mut all = self.all();
            if let Some(o) = all.iter_mut().find(|o| o.address == open.address) {
                o.private = answer.private;
                o.renew_at = answer.renew_at;
            }
        }
        said
    }

    /// Does work, and renews what is due by the clock while it lasts, however long a single call takes.
    /// When the work ends, a renewal that is under way is heard out for a while, since its answer is what
    /// the resource is closed with.
    pub async fn renewed_during<T>(
        &self,
        now: impl Fn() -> SystemTime,
        work: impl Future<Output = T>,
    ) -> (T, Diagnostics) {
        const LOOK: Duration = Duration::from_secs(1);
        const HEARD_OUT: Duration = Duration::from_secs(5);
        let mut said = Diagnostics::new();
        let mut work = std::pin::pin!(work);
        loop {
            let asked = AtomicBool::new(false);
            let mut renewing = std::pin::pin!(async {
                tokio::time::sleep(LOOK).await;
                asked.store(true, Ordering::Relaxed);
                self.renew_due(now()).await
            });
            let done = tokio::select! {
                done = &mut work => done,
                renewed = &mut renewing => {
                    said.append(renewed);
                    continue;
                }
            };
            if asked.load(Ordering::Relaxed) {
                match tokio::time::timeout(HEARD_OUT, renewing).await {
                    Ok(renewed) => said.append(renewed),
                    Err(_) => said.push(Diagnostic::warning(
                        "Renewal given up",
                        format!(
                            "An ephemeral resource was being renewed when the work was done, and its provider \
                             had not answered {} seconds later. It is closed as it was before.",
                            HEARD_OUT.as_secs()
                        ),
                    )),
                }
            }
            return (done, said);
        }
    }

    /// Closes all, the last opened first.
    pub async fn close_all(&self) -> Diagnostics {
        let mut all = std::mem::take(&mut *self.all());
        let mut said = Diagnostics::new();
        while let Some(open) = all.pop() {
            let kind = &open.address.resource.kind;
            let reported = open
                .provider
                .close_ephemeral_resource(kind, open.private)
                .await;
            said.append(Reported::placed(reported, &open.address, &|_| None));
        }
        said
    }
}
