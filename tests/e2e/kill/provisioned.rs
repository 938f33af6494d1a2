//! Runs that end in the middle of a provisioner: killed, interrupted once, interrupted twice.
//!
//! An object whose provisioner has not come to its end is tainted: the next plan replaces it, by the same
//! object's deletion and one creation. One whose provisioner at destruction has not come to its end is
//! there still, and the provisioner runs again. Nothing is orphaned or forgotten.
//!
//! What a provisioner has started ends with an interrupted run; a run that is killed with -9 can end
//! nothing any more, and its command runs on, as with Terraform.

use crate::lab::{GOOGLE, Lab};
use crate::truth::{self, Cloud};
use crate::{APPLY, DESTROY, PLAN};
use formwork_testkit::{Scenario, interrupt, until};
use std::process::Child;

/// How a run is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Killed,
    Interrupted,
    InterruptedTwice,
}

/// A disk whose provisioner says that it has begun, and takes long unless there is a file `quick`.
fn configuration(when: &str) -> String {
    format!(
        r#"
{GOOGLE}
resource "google_compute_disk" "d" {{
  name = "d"
  size = 10

  provisioner "local-exec" {{
    {when}
    working_dir = path.module
    command     = "echo $$ > begun; [ -e quick ] || exec sleep 100; echo done >> done"
  }}
}}

resource "terraform_data" "after" {{
  input = google_compute_disk.d.name
}}
"#
    )
}

/// Whether a process is there, and no zombie.
fn lives(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// Ends a run whose provisioner has begun; the provisioner's process.
fn ends(lab: &Lab, mut run: Child, end: End) -> String {
    until("the provisioner runs", || {
        lab.env.has("root/begun") && lab.env.text("root/begun").ends_with('\n')
    });
    let process = lab.env.text("root/begun").trim().to_owned();
    match end {
        End::Killed => run.kill().expect("it runs"),
        End::Interrupted => interrupt(&run),
        End::InterruptedTwice => {
            interrupt(&run);
            // the second may find it gone
            if run.try_wait().expect("a child").is_none() {
                interrupt(&run);
            }
        }
    }
    let status = run.wait().expect("it has ended");
    let told = lab.env.started_output();
    assert!(!status.success(), "{end:?}: {told}");
    if end == End::Killed {
        assert!(lives(&process), "{end:?}: nobody was left to end it");
        let _ = std::process::Command::new("kill")
            .args(["-9", &process])
            .status();
    } else {
        assert!(status.code().is_some(), "{end:?}: {told}");
        assert!(told.contains("Interrupted"), "{end:?}: {told}");
    }
    until("the provisioner's process ends", || !lives(&process));
    std::fs::remove_file(lab.env.path().join("root/begun")).expect("it was there");
    process
}

fn check(end: End) {
    let what = format!("{end:?}");
    let lab = Lab::new(&Scenario::new().taking(1, 10), "root", |env| {
        env.write("root/main.tf", configuration(""));
    });
    // at creation
    ends(&lab, lab.start(&APPLY), end);
    let there = Cloud::of(&lab).objects;
    assert_eq!(there.len(), 1, "{what}: the disk is there");
    let plan = lab.run(&PLAN);
    plan.exits(2);
    plan.says(&["google_compute_disk.d is tainted and must be replaced"]);
    // once more, in what replaces it
    ends(&lab, lab.start(&APPLY), end);
    let again = Cloud::of(&lab).objects;
    assert_eq!(again.len(), 1, "{what}: one disk is there");
    assert_ne!(there, again, "{what}: it was replaced");
    lab.env.write("root/quick", "");
    lab.run(&APPLY).exits(0);
    let (cloud, _) = truth::check_agreement(&lab, &what);
    assert_ne!(cloud.objects, again, "{what}: it was replaced");
    assert_eq!(
        lab.env.text("root/done"),
        "done\n",
        "{what}: ran to its end once"
    );
    assert_eq!(truth::deleted(&lab.log()).len(), 2, "{what}");
    lab.run(&PLAN).exits(0);

    // at destruction
    lab.env
        .write("root/main.tf", configuration("when = destroy"));
    std::fs::remove_file(lab.env.path().join("root/quick")).expect("it was there");
    std::fs::remove_file(lab.env.path().join("root/begun")).expect("it was there");
    ends(&lab, lab.start(&DESTROY), end);
    assert_eq!(
        Cloud::of(&lab).objects,
        cloud.objects,
        "{what}: it is there still"
    );
    lab.env.write("root/quick", "");
    lab.run(&DESTROY).exits(0);
    assert_eq!(
        lab.env.text("root/done"),
        "done\ndone\n",
        "{what}: it ran again"
    );
    assert!(Cloud::of(&lab).objects.is_empty(), "{what}");
    assert!(truth::state(&lab).is_empty(), "{what}");
}

#[test]
fn killed_in_a_provisioner() {
    check(End::Killed);
}

#[test]
fn interrupted_in_a_provisioner() {
    check(End::Interrupted);
}

#[test]
fn interrupted_twice_in_a_provisioner() {
    check(End::InterruptedTwice);
}
