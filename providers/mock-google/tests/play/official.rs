//! Google's own clients as users of the mock: independent of everything here.
//!
//! `FORMWORK_OFFICIAL_CLIENTS` names a Python that has google-cloud-compute, google-cloud-storage and
//! google-api-python-client; without it the test says that it is skipped.

use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn official_clients_work() {
    let Ok(python) = std::env::var("FORMWORK_OFFICIAL_CLIENTS") else {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: FORMWORK_OFFICIAL_CLIENTS names no Python with Google's clients\n",
        );
        return;
    };
    let world = World::real_time(json!({"operations": {"latency_ms": [5, 20]}})).await;
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/play/official_clients.py"
    );
    let url = world.server.url();
    let output = tokio::task::spawn_blocking(move || {
        std::process::Command::new(python)
            .arg(script)
            .arg(url)
            .output()
            .unwrap()
    })
    .await
    .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let refused: Vec<_> = world
        .mock
        .log()
        .into_iter()
        .filter(|line| line.status.is_none_or(|status| status >= 400))
        .map(|line| {
            format!(
                "{} {} {:?} {}",
                line.method,
                line.path,
                line.status,
                line.refusal.unwrap_or_default()
            )
        })
        .collect();
    assert!(
        out.trim_end().ends_with("OK"),
        "{out}\n{err}\n{}",
        refused.join("\n")
    );
}
