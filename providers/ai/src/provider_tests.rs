//! The functions over every machine type, and what they say of those that nobody knows.

use super::*;

fn call(name: &str, arguments: &[&str]) -> (Result<Value, FunctionFailure>, Diagnostics) {
    let provider = FormworkProvider::builtin();
    let request = CallFunctionRequest {
        name: name.to_owned(),
        arguments: arguments.iter().map(Value::string).collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let warnings = provider.function_warnings(&request);
    (runtime.block_on(provider.call_function(request)), warnings)
}

fn at(value: &Value, path: &str) -> String {
    let mut value = value.clone();
    for step in path.split('.') {
        value = match step.parse::<usize>() {
            Ok(i) => value.as_sequence().expect("a list")[i].clone(),
            Err(_) => value.get_attribute(step).expect("an attribute"),
        };
    }
    if let Some(t) = value.as_str() {
        return t.to_owned();
    }
    if let Some(b) = value.as_bool() {
        return b.to_string();
    }
    if let Some(n) = value.as_number() {
        return n.to_text();
    }
    if let Some(all) = value.as_sequence() {
        let texts: Vec<_> = all.iter().filter_map(Value::as_str).collect();
        return texts.join(" ");
    }
    assert!(value.is_null(), "{path} is something else");
    "null".to_owned()
}

#[test]
fn every_answer_has_the_declared_type() {
    let topology = Topology::builtin();
    let schema = FormworkProvider::builtin().schema;
    for (name, arity) in [("machine", 1), ("fabric", 2)] {
        let signature = schema.function(name).expect("declared");
        for m in topology.machine_types() {
            let arguments = &[&*m.name, "us-central1-a"][..arity];
            let (value, warnings) = call(name, arguments);
            let value = value.unwrap_or_else(|e| panic!("{} {name}: {}", m.name, e.text));
            assert_eq!(value.type_of(), signature.return_type, "{} {name}", m.name);
            assert!(warnings.is_empty());
        }
    }
}

#[test]
fn facts_reach_configurations() {
    let check = |function: &str, arguments: &[&str], facts: &[(&str, &str)]| {
        let (value, _) = call(function, arguments);
        let value = value.expect("an answer");
        for (path, fact) in facts {
            assert_eq!(&at(&value, path), fact, "{function} {arguments:?} {path}");
        }
    };
    check(
        "machine",
        &["a4-highgpu-8g"],
        &[
            ("known", "true"),
            ("family", "A4"),
            ("architecture", "x86_64"),
            ("vcpus", "224"),
            ("memory_mib", "4063232"),
            ("cpu.sockets", "null"),
            ("accelerator.type", "nvidia-b200"),
            ("accelerator.count", "8"),
            ("slurm.gres_type", "b200"),
            ("slurm.gres_count", "8"),
            ("local_ssd.disks", "32"),
            ("local_ssd.gib_per_disk", "375"),
            ("fabric", "rocev2-vm"),
            ("capacity.standard", "false"),
            ("capacity.reservation", "true"),
            ("capacity.reservation_required", "false"),
            ("capacity_modes", "spot flex-start reservation"),
            ("placement.gpu_topology", "null"),
            ("placement.from_reservation", "true"),
            ("boot_disk_types", "hyperdisk-balanced"),
        ],
    );
    check(
        "machine",
        &["a4x-highgpu-4g"],
        &[
            ("architecture", "arm64"),
            ("capacity_modes", "reservation"),
            ("placement.collocation", "COLLOCATED"),
            ("placement.gpu_topology", "1x72"),
            ("slurm.gres_type", "gb200"),
        ],
    );
    check(
        "machine",
        &["g4-standard-6"],
        &[
            ("accelerator.count", "0.125"),
            ("slurm.gres_count", "null"),
            ("capacity_modes", ""),
        ],
    );
    check(
        "machine",
        &["ct6e-standard-4t"],
        &[("tpu.version", "v6e"), ("slurm.gres_type", "null")],
    );
    check(
        "fabric",
        &["a3-ultragpu-8g", "europe-west1-b"],
        &[
            ("kind", "rocev2-vm"),
            ("region", "europe-west1"),
            ("host.networks", "2"),
            ("host.nic_type", "GVNIC"),
            ("host.mtu", "8896"),
            ("gpu.networks", "0"),
            ("gpu.nic_type", "null"),
            ("rdma.mtu", "8896"),
            ("rdma.nic_type", "MRDMA"),
            ("rails", "8"),
            ("interfaces.1.role", "host"),
            ("interfaces.2.role", "rdma"),
            ("interfaces.2.ordinal", "0"),
            ("interfaces.9.nic_type", "MRDMA"),
            ("interfaces.9.ordinal", "7"),
            ("profile", "europe-west1-b-vpc-roce"),
            (
                "profile_path",
                "global/networkProfiles/europe-west1-b-vpc-roce",
            ),
            (
                "profile_url_format",
                "https://www.googleapis.com/compute/v1/projects/%s/global/networkProfiles/europe-west1-b-vpc-roce",
            ),
        ],
    );
    check(
        "fabric",
        &["a3-megagpu-8g", "us-east4-b"],
        &[
            ("kind", "gpudirect-tcpxo"),
            ("gpu.networks", "8"),
            ("profile", "null"),
            ("rails", "0"),
        ],
    );
    check(
        "fabric",
        &["tpu7-standard-1t", "us-east4-b"],
        &[("kind", "null"), ("interfaces", "null"), ("rails", "null")],
    );
}

#[test]
fn a_machine_that_nobody_knows() {
    let (value, warnings) = call("machine", &["a4-higgpu-8g"]);
    let value = value.expect("an answer");
    assert_eq!(at(&value, "known"), "false");
    assert_eq!(at(&value, "machine_type"), "a4-higgpu-8g");
    assert_eq!(at(&value, "vcpus"), "null");
    let said: Vec<_> = warnings.iter().collect();
    assert!(
        matches!(said.as_slice(), [d] if !d.is_error() && d.hints[0].contains("\"a4-highgpu-8g\"")),
        "{said:?}"
    );

    let (failure, warnings) = call("fabric", &["a4-higgpu-8g", "us-central1-a"]);
    let failure = failure.expect_err("no fabric");
    assert_eq!(failure.argument, Some(0));
    assert!(
        failure.text.contains("Did you mean \"a4-highgpu-8g\"?"),
        "{}",
        failure.text
    );
    assert!(warnings.is_empty());

    let (failure, _) = call("fabric", &["a4-highgpu-8g", "us-central1"]);
    assert_eq!(failure.expect_err("no zone").argument, Some(1));
}
