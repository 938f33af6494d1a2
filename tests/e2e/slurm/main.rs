//! Slurm's files, rendered by the blueprint, loaded by Slurm itself.
//!
//! The files come out of the mock cloud's bucket, where an `apply` of each example put them; a real
//! `slurmctld` of Debian's packages reads them (see `cluster.rs` for the little that is replaced) and
//! is asked what it understood: nodes, memory, GPUs, topology, what it would schedule and what not.
//! The expected figures come from the machine facts, not from the files.
//!
//! Skipped, visibly, where Slurm is not installed; the part with device files also without root.

// A test may end by panicking, its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

mod cluster;
#[path = "../blueprint/place.rs"]
mod place;
mod rendered;

use cluster::{Controller, command, field, localise, said, slurmd_gres};
use formwork_topology::Topology;
use std::path::Path;

/// What the variable memory_reserve_percent says when nobody sets it.
const RESERVE_PERCENT: u64 = 5;

struct Expected {
    nodes: usize,
    vcpus: u32,
    memory_mib: u64,
    gpus: u32,
}

fn expected(machine_type: &str, nodes: usize) -> Expected {
    let m = Topology::builtin()
        .machine(machine_type)
        .expect("a known type");
    Expected {
        nodes,
        vcpus: m.vcpus.expect("a fact"),
        memory_mib: m.memory_mib().expect("a fact") * (100 - RESERVE_PERCENT) / 100,
        gpus: m.accelerator.whole_count().expect("a fact"),
    }
}

/// Loads the files of a folder and asks Slurm about them.
fn check(files: &Path, machine_type: &str, nodes: usize, switches: &[&str]) {
    let expected = expected(machine_type, nodes);
    let folder = tempfile::tempdir().expect("a folder");
    localise(files, folder.path());
    let conf = std::fs::read_to_string(files.join("slurm.conf")).expect("slurm.conf");
    let line = conf
        .lines()
        .find(|l| l.starts_with("NodeName="))
        .expect("a node line");
    let slurm = Controller::start(folder.path());
    let names = slurm.names(field(line, "NodeName"));
    assert_eq!(names.len(), expected.nodes, "{line}");

    schedules(&slurm, &expected);
    topology_holds(&slurm, &names, switches);

    let shown = slurm.nodes(&names);
    assert_eq!(shown.len(), expected.nodes);
    let gres = field(line, "Gres");
    let kind = gres.split(':').nth(1).expect("a GPU type");
    for node in &shown {
        assert_eq!(field(node, "CPUTot"), expected.vcpus.to_string(), "{node}");
        assert_eq!(
            field(node, "RealMemory"),
            expected.memory_mib.to_string(),
            "{node}"
        );
        assert_eq!(
            field(node, "Gres"),
            format!("gpu:{kind}:{}", expected.gpus),
            "{node}"
        );
    }

    // What slurmd -C reports at boot completes the node line, and Slurm takes it.
    let per_socket = expected.vcpus / 4;
    let report = format!(
        "NodeName=any CPUs={} Boards=1 SocketsPerBoard=2 CoresPerSocket={per_socket} ThreadsPerCore=2 RealMemory=1",
        expected.vcpus
    );
    drop(slurm);
    completed(files, &report, &names, |slurm| {
        for node in slurm.nodes(&names) {
            assert_eq!(field(&node, "Sockets"), "2", "{node}");
            assert_eq!(
                field(&node, "CoresPerSocket"),
                per_socket.to_string(),
                "{node}"
            );
            assert_eq!(field(&node, "CPUTot"), expected.vcpus.to_string(), "{node}");
        }
        schedules(slurm, &expected);
    });

    if cluster::may_mount() {
        let text =
            slurmd_gres(folder.path(), &names[0], expected.gpus).expect("all GPUs are there");
        assert!(
            text.contains(&format!("Type={kind} Count={}", expected.gpus)),
            "{text}"
        );
        let text =
            slurmd_gres(folder.path(), &names[0], expected.gpus - 1).expect_err("a GPU is missing");
        let last = format!("/dev/nvidia{}", expected.gpus - 1);
        assert!(text.contains(&last), "{text}");
    }
}

/// All nodes with all GPUs can be had; one GPU or one node more cannot.
fn schedules(slurm: &Controller, expected: &Expected) {
    let ask = |nodes: usize, gpus: u32| {
        let nodes = format!("--nodes={nodes}");
        let gpus = format!("--gpus-per-node={gpus}");
        slurm.run("sbatch", &["--test-only", &nodes, &gpus, "--wrap=true"])
    };
    let text = ask(expected.nodes, expected.gpus).unwrap_or_else(|e| panic!("{e}{}", slurm.log()));
    assert!(text.contains("to start at"), "{text}");
    for (nodes, gpus) in [
        (expected.nodes, expected.gpus + 1),
        (expected.nodes + 1, expected.gpus),
    ] {
        let text = ask(nodes, gpus).expect_err("more than there is");
        assert!(text.contains("not available"), "{text}");
    }
}

/// Every node hangs on exactly one leaf switch, and the leaves are those expected.
fn topology_holds(slurm: &Controller, names: &[String], switches: &[&str]) {
    let text = slurm
        .run("scontrol", &["show", "topology"])
        .expect("a topology");
    let leaves: Vec<&str> = text.lines().filter(|l| l.contains("Level=0")).collect();
    let mut on_leaves: Vec<String> = Vec::new();
    for leaf in &leaves {
        on_leaves.extend(slurm.names(field(leaf, "Nodes")));
    }
    on_leaves.sort();
    let mut all = names.to_vec();
    all.sort();
    assert_eq!(on_leaves, all, "{text}");
    let mut found: Vec<&str> = leaves.iter().map(|l| field(l, "SwitchName")).collect();
    found.sort_unstable();
    assert_eq!(found, switches, "{text}");
}

/// How slurm-sync brings files to a running Slurm: only what changed, a restart, then a reconfigure that
/// waits for the controller; what was cut short is made up for by the next run.
#[test]
fn slurm_sync_tells_the_nodes() {
    if cluster::find("python3").is_none() {
        cluster::skipped("how slurm-sync installs files, since python3 is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = r#"
import importlib.util, pathlib, sys, types
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("sync", sys.argv[1])
sync = importlib.util.module_from_spec(spec); spec.loader.exec_module(sync)
sync.TARGET = pathlib.Path(sys.argv[2]) / "slurm"
restart, tell = "systemctl restart slurmctld", "scontrol reconfigure"

def install(files, codes):
    """The commands that were run; scontrol ends with these codes in turn, then always with the last."""
    ran, left = [], list(codes)
    def run(words, check):
        ran.append(" ".join(words))
        code = 0 if words[0] != "scontrol" else left.pop(0) if len(left) > 1 else left[0]
        return types.SimpleNamespace(returncode=code)
    try:
        sync.install(files, run, lambda seconds: None)
    except SystemExit as problem:
        ran.append("failed")
    return ran

first, second = {"slurm.conf": "a", "topology.conf": "t"}, {"slurm.conf": "b", "topology.conf": "t"}
assert install(first, [1, 1, 0]) == [restart, tell, tell, tell]
assert install(first, [0]) == []
assert install(second, [1])[-2:] == [tell, "failed"]
assert (sync.TARGET / "slurm.conf").read_text() == "b"
assert install(second, [0]) == [restart, tell]
assert install(second, [0]) == []
assert sorted(f.name for f in sync.TARGET.iterdir()) == ["slurm.conf", "topology.conf"]
"#;
    let output = command("python3")
        .args(["-c", script])
        .arg(sync_script())
        .arg(folder.path())
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", said(&output));
}

/// The script that the blueprint puts on the controller.
fn sync_script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../blueprints/roce-cluster/files/slurm-sync.py")
}

/// The controller's own script over the files, then Slurm over its result.
fn completed(files: &Path, report: &str, names: &[String], then: impl FnOnce(&Controller)) {
    if cluster::find("python3").is_none() {
        cluster::skipped("what slurm-sync makes of the files, since python3 is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let synced = folder.path().join("synced");
    std::fs::create_dir(&synced).expect("a folder");
    let script = r#"
import importlib.util, json, pathlib, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("sync", sys.argv[1])
sync = importlib.util.module_from_spec(spec); spec.loader.exec_module(sync)
source, target, report = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
files = {f.name: f.read_text() for f in source.iterdir()}
nodes = [n for s in sync.node_sets(files["slurm.conf"]) for n in sync.expand(s)]
place = lambda n, block: {"name": n, "resourceStatus": {"physicalHostTopology": {"block": block}}}
some = [place(n, f"block-{i % 2}") for i, n in enumerate(nodes)]
assert sync.topology(files["topology.conf"], nodes, some[1:]) == files["topology.conf"]
files["topology.conf"] = sync.topology(files["topology.conf"], nodes, some)
files["slurm.conf"] = sync.complete_nodes(files["slurm.conf"], report)
assert sync.complete_nodes(files["slurm.conf"], report) == files["slurm.conf"]
for name, text in files.items():
    (target / name).write_text(text)
print(json.dumps(nodes))
"#;
    let output = command("python3")
        .args(["-c", script])
        .arg(sync_script())
        .arg(files)
        .arg(&synced)
        .arg(report)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", said(&output));
    let local = folder.path().join("local");
    localise(&synced, &local);
    let slurm = Controller::start(&local);
    topology_holds(&slurm, names, &["block-0", "block-1"]);
    then(&slurm);
}

/// All examples at once, for slurmd waits twenty seconds for a device file that does not come.
#[test]
fn slurm_loads_what_the_examples_render() {
    if !cluster::installed() {
        return;
    }
    let two = "node_count   = 2\n";
    let spread = "node_count = 5
        reservation_blocks = [\"a4-reservation-block-0001\", \"a4-reservation-block-0002\"]
        nodes_per_block = 3
        ";
    let blocks = ["a4-reservation-block-0001", "a4-reservation-block-0002"];
    let cases: [(&str, &str, &str, usize, &[&str]); 4] = [
        ("a3u", "a3-ultragpu-8g", two, 2, &["all"]),
        ("a4", "a4-highgpu-8g", two, 2, &["all"]),
        ("a4x", "a4x-highgpu-4g", two, 2, &["all"]),
        // one switch per block that is known when planning
        ("a4", "a4-highgpu-8g", spread, 5, &blocks),
    ];
    std::thread::scope(|scope| {
        for (example, machine_type, count, nodes, switches) in cases {
            scope.spawn(move || {
                let folder = tempfile::tempdir().expect("a folder");
                rendered::into(example, (two, count), folder.path());
                check(folder.path(), machine_type, nodes, switches);
            });
        }
    });
}
