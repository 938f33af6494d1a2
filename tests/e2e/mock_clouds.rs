//! Whose cloud it is: served inside, served by another, lost in mid-run.

use crate::{env, two_networks};
use formwork_testkit::{Scenario, interrupt, until};

const CLOUD: &str = ".formwork/mock/cloud";

#[test]
fn another_process_serves() {
    let env = two_networks();
    let server = env.serve(CLOUD, &Scenario::new());
    // the address is found by the directory
    env.run(&["apply", "-mock", "-auto-approve"]).exits(0);
    assert_eq!(server.made(&env).len(), 4);
    // and by itself
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
    env.run_with(
        &["plan", "-detailed-exitcode"],
        "",
        &[("FORMWORK_CLOUD", "mock")],
    )
    .exits(0);
    let by_url = format!("mock={}", server.url);
    env.run_with(
        &["plan", "-detailed-exitcode"],
        "",
        &[("FORMWORK_CLOUD", &by_url)],
    )
    .exits(0);
    let url = server.url.clone();
    server.kill();
    // a dead holder's file is ignored
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
    let flag = format!("-mock={url}");
    env.run(&["plan", &flag])
        .exits(1)
        .says(&["Mock cloud cannot be reached", &url]);
    let data = format!("-data={CLOUD}");
    env.run(&["mock", "list", &data])
        .exits(0)
        .says(&["front-nodes"]);
    env.run(&["mock", "list", &data, &flag])
        .exits(1)
        .says(&["Name one"]);
}

#[test]
fn a_server_that_is_lost_is_replaced() {
    let env = two_networks();
    let server = env.serve(CLOUD, &Scenario::new().taking(300, 400));
    let mut run = env.start(&["apply", "-mock", "-auto-approve"]);
    until("something is made", || !server.committed(&env).is_empty());
    server.kill();
    let status = run.wait().expect("it ends");
    assert!(status.success(), "{}", env.started_output());
    env.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
    let log = env.run(&["mock", "log", "-json"]).exits(0).json();
    let made = log.as_array().expect("a list").iter();
    let made = made
        .filter(|l| l["committed"] == true && l["method"] == "POST")
        .count();
    assert_eq!(made, 4, "{log:#}");
}

#[test]
fn an_interrupted_apply_writes_its_state() {
    let env = two_networks();
    let server = env.serve("world", &Scenario::new().taking(400, 500));
    let mut run = env.start(&["apply", "-auto-approve", &server.flag]);
    until("something is made", || !server.committed(&env).is_empty());
    interrupt(&run);
    let status = run.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "{}", env.started_output());
    let listed = env.run(&["state", "list", &server.flag]);
    assert!(
        listed.exits(0).stdout.contains("google_compute_network"),
        "{}",
        env.started_output()
    );
    assert!(
        !listed.stdout.contains("google_compute_subnetwork"),
        "{}",
        env.started_output()
    );
    env.run(&["apply", "-auto-approve", &server.flag]).exits(0);
    assert_eq!(server.committed(&env).len(), 4);
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
}

#[test]
fn a_world_in_memory_and_its_commands() {
    let env = env();
    env.run(&["mock", "serve", "-listen", "8.8.8.8:80"])
        .exits(1)
        .says(&["loopback"]);
    env.run(&["mock", "serve", "-scenario", "nowhere.json"])
        .exits(1)
        .says(&["nowhere.json"]);
    env.write(
        "bad.json",
        "{\"format\": \"formwork-mock-scenario/1\", \"fawlts\": []}",
    );
    env.run(&["mock", "serve", "-scenario=bad.json"])
        .exits(1)
        .says(&["bad.json", "fawlts"]);
    env.run(&["plan", "-mock=ftp://x"])
        .exits(1)
        .says(&["Invalid address of a mock cloud"]);
    let list = env.run(&["mock", "list"]);
    list.exits(0).says(&["compute.reservations"]);
    let text = env.run(&["mock", "log"]);
    assert_eq!(text.exits(0).stdout, "");
    env.run(&["mock", "list", "-json"]).exits(0).json();
}

#[test]
fn what_was_left_open_can_be_settled_by_hand() {
    let env = two_networks();
    let server = env.serve("world", &Scenario::new().taking(3000, 3100));
    let mut run = env.start(&["apply", "-auto-approve", &server.flag]);
    until("both networks are begun", || {
        server.committed(&env).len() == 2
    });
    run.kill().expect("it runs");
    run.wait().expect("it has ended");
    env.run(&["state", "list", &server.flag]).exits(0).says(&[
        "Operation left open",
        "google_compute_network.all[\"back\"]",
    ]);
    let settle =
        |address: &str, flag: &str| env.run(&["state", "settle", address, flag, &server.flag]);
    let (front, back) = (
        "google_compute_network.all[\"front\"]",
        "google_compute_network.all[\"back\"]",
    );
    settle(front, "-id=").exits(1);
    settle("google_compute_network.other", "-not-created")
        .exits(1)
        .says(&["Nothing to settle"]);
    let id = "-id=projects/formwork-mock/global/networks/front";
    settle(front, id).exits(0).says(&["is in the state"]);
    settle(front, id)
        .exits(1)
        .says(&["Nothing to settle", back]);
    assert!(
        env.run(&["state", "list", &server.flag])
            .stdout
            .contains(front)
    );
    // what is not settled by hand settles itself
    env.run(&["apply", "-auto-approve", &server.flag])
        .exits(0)
        .says(&["Apply complete!"]);
    assert_eq!(server.committed(&env).len(), 4);
    env.run(&["plan", "-detailed-exitcode", &server.flag])
        .exits(0);
}

#[test]
fn nothing_leaves_the_mock() {
    let env = two_networks();
    // an address in the provider block is for the real cloud; nobody listens there
    env.write(
        "provider.tf",
        "provider \"google\" {\n  compute_custom_endpoint = \"http://127.0.0.1:1/compute/v1/\"\n}\n",
    );
    let credentials = [
        ("GOOGLE_OAUTH_ACCESS_TOKEN", "token-of-the-real-cloud"),
        ("TF_LOG", "debug"),
    ];
    let apply = env.run_with(&["apply", "-mock", "-auto-approve"], "", &credentials);
    apply.exits(0).never_says(&["token-of-the-real-cloud"]);
    assert!(
        apply.stderr.contains("[DEBUG] formwork_google_client"),
        "{}",
        apply.stderr
    );
    assert!(
        !env.text(".formwork/mock/cloud/log.jsonl")
            .contains("token-of")
    );
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let env = two_networks();
    let server = env.serve("world", &Scenario::new().taking(3000, 3100));
    let mut run = env.start(&["apply", "-auto-approve", &server.flag]);
    until("something is made", || !server.committed(&env).is_empty());
    interrupt(&run);
    until("it is told", || {
        env.started_output().contains("Interrupted")
    });
    let begun = std::time::Instant::now();
    interrupt(&run);
    assert_eq!(run.wait().expect("it ends").code(), Some(1));
    assert!(
        begun.elapsed().as_millis() < 2500,
        "it waited for operations"
    );
    env.run(&["apply", "-auto-approve", &server.flag]).exits(0);
    assert_eq!(server.committed(&env).len(), 4);
}
