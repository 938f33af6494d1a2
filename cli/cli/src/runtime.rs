//! The async runtime, and what interrupts it.
//!
//! The first Ctrl-C (or SIGTERM) asks the run to stop: it starts nothing more, lets what runs end (or,
//! after a while, leaves it to the next run), and writes the state. The second ends the process at once; the journal holds what was begun, and the
//! next run settles it.

use crate::session::{Session, exit};
use formwork_graph::Cancellation;
use formwork_provisioners::Running;
use formwork_state::Sleeper;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Requests to stop.
#[derive(Clone, Default)]
pub struct Interrupts {
    cancellation: Cancellation,
    expected: Arc<AtomicBool>,
    running: Running,
    last: Arc<Mutex<Option<Last>>>,
}

/// What is done before the process is ended at once.
type Last = Box<dyn FnOnce() + Send>;

impl Interrupts {
    /// What operations look at.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// The commands that provisioners run: none outlives a process that is ended at once.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Says that being interrupted is how the command ends: nothing is told of it.
    pub fn expect(&self) {
        self.expected.store(true, Ordering::SeqCst);
    }

    /// Has something done before a second request ends the process at once: the little that nobody
    /// could make good afterwards. It must not wait for anything.
    pub fn before_the_end(&self, last: impl FnOnce() + Send + 'static) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last));
    }
}

/// Runs a command's asynchronous part.
pub fn block_on<R>(session: &Session, work: impl AsyncFnOnce(&Interrupts) -> R) -> R {
    #[allow(clippy::expect_used)] // without threads or a poll descriptor no command can do anything
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("the system has threads to give");
    // one TLS implementation for the process; fails only if one is installed already
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let interrupts = Interrupts::default();
    let result = runtime.block_on(async {
        let listening = tokio::spawn(listen(
            interrupts.clone(),
            session.streams,
            session.automation,
        ));
        let result = work(&interrupts).await;
        listening.abort();
        result
    });
    // what still runs in the background is nothing that anybody waits for
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

async fn listen(interrupts: Interrupts, streams: crate::surroundings::Streams, automation: bool) {
    let mut asked = false;
    loop {
        if !interrupt().await {
            return;
        }
        if asked {
            interrupts.running.kill_all();
            let last = {
                let mut last = interrupts
                    .last
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                last.take()
            };
            if let Some(last) = last {
                streams.error("\nStopped at once.\n");
                last();
                std::process::exit(i32::from(exit::FAILURE));
            }
            streams.error(
                "\nStopped at once. The journal holds what was begun; the next run settles it.\n",
            );
            // nothing of ours needs an orderly end: what matters is on disk before it happens
            std::process::exit(i32::from(exit::FAILURE));
        }
        asked = true;
        if !automation && !interrupts.expected.load(Ordering::SeqCst) {
            streams.error("\nInterrupted: nothing more is started, and the state is written when what runs has ended. What takes long is left to the next run.\n");
        }
        interrupts.cancellation.cancel();
        streams.interrupt();
    }
}

/// Waits for the next request to stop; false if none can be heard.
#[cfg(unix)]
async fn interrupt() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
    }
}

/// Waits for the next request to stop; false if none can be heard.
#[cfg(not(unix))]
async fn interrupt() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}

/// Waiting by the runtime's clock.
pub struct RuntimeSleeper;

#[async_trait::async_trait]
impl Sleeper for RuntimeSleeper {
    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
