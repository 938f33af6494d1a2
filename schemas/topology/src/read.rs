//! Reads the file format: plain JSON in, typed facts or a message with the path out.
//!
//! Written out by hand so that a user's slip in an overlay is named by its path, with the words that
//! would have been right, and so that the domain types carry no format.

use crate::machine::*;
use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version of the format that this release reads.
const FORMAT: u64 = 1;

/// A document whose frame is in order.
pub(crate) struct Header<'a> {
    pub revision: u64,
    pub sources: Map<String, Value>,
    pub machines: Vec<(&'a String, &'a Map<String, Value>)>,
}

/// An error about a facts file.
pub(crate) fn problem(file: &str, what: impl AsRef<str>) -> Diagnostic {
    Diagnostic::error(
        "Invalid machine facts",
        format!("{file} cannot be used: {}", what.as_ref()),
    )
}

/// Checks the frame: format version, and that machines is an object of objects.
pub(crate) fn header<'a>(
    document: &'a Value,
    file: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Header<'a>> {
    let Some(top) = document.as_object() else {
        diagnostics.push(problem(file, "the document must be a JSON object."));
        return None;
    };
    match top.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        other => {
            let says = other.map_or("does not say which".to_owned(), |n| format!("says {n}"));
            diagnostics.push(problem(
                file,
                format!("this release reads format {FORMAT}, and the member \"format\" {says}."),
            ));
            return None;
        }
    }
    for key in top.keys() {
        if !["format", "revision", "sources", "machines"].contains(&key.as_str()) {
            diagnostics.push(problem(file, format!("it has no member \"{key}\".")));
        }
    }
    let mut machines = Vec::new();
    match top.get("machines") {
        None => {}
        Some(Value::Object(all)) => {
            for (name, facts) in all {
                match facts.as_object() {
                    Some(facts) => machines.push((name, facts)),
                    None => diagnostics.push(problem(
                        file,
                        format!("machines.{name} must be an object of facts."),
                    )),
                }
            }
        }
        Some(_) => diagnostics.push(problem(
            file,
            "\"machines\" must be an object from machine types to their facts.",
        )),
    }
    let sources = match top.get("sources") {
        None => Map::new(),
        Some(Value::Object(s)) => s.clone(),
        Some(_) => {
            diagnostics.push(problem(file, "\"sources\" must be an object of texts."));
            Map::new()
        }
    };
    Some(Header {
        revision: top.get("revision").and_then(Value::as_u64).unwrap_or(0),
        sources,
        machines,
    })
}

/// One machine type and its twins without local SSDs; what is wrong goes to `diagnostics`.
pub(crate) fn machine(
    name: &str,
    facts: &Value,
    sources: &Map<String, Value>,
    file: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<MachineType> {
    let empty = Map::new();
    let mut reader = Reader {
        file,
        path: format!("machines.{name}"),
        object: facts.as_object().unwrap_or(&empty),
        known: Vec::new(),
        diagnostics,
    };
    let r = &mut reader;
    let family = r.text("family");
    let kind = r.word(
        "kind",
        &[
            ("gpu", MachineKind::Gpu),
            ("tpu", MachineKind::Tpu),
            ("cpu-rdma", MachineKind::CpuRdma),
        ],
    );
    if kind.is_none() {
        r.wrong("kind", "\"gpu\", \"tpu\" or \"cpu-rdma\"");
    }
    let keys = r.texts("sources").unwrap_or_default();
    let twins = r.texts("without_local_ssd").unwrap_or_default();
    let machine = MachineType {
        name: name.to_owned(),
        family: family.unwrap_or_else(|| name.to_owned()),
        kind: kind.unwrap_or(MachineKind::Gpu),
        architecture: r.text("architecture"),
        cpu_platform: r.text("cpu_platform"),
        vcpus: r.number("vcpus"),
        memory_gib: r.number("memory_gib"),
        cpu: r.object("cpu", |r| Cpu {
            sockets: r.number("sockets"),
            cores_per_socket: r.number("cores_per_socket"),
            threads_per_core: r.number("threads_per_core"),
        }),
        accelerator: r.object("accelerator", |r| Accelerator {
            kind: r.text("type"),
            model: r.text("model"),
            count: r.fraction("count"),
            counts: r.numbers("counts"),
            memory_gb_each: r.number("memory_gb_each"),
        }),
        local_ssd: r.object("local_ssd", |r| LocalSsd {
            included: r.flag("included"),
            disks: r.number("disks"),
            gib_per_disk: r.number("gib_per_disk"),
            total_gib: r.number("total_gib"),
            optional_disk_counts: r.numbers("optional_disk_counts"),
            max_total_gib: r.number("max_total_gib"),
        }),
        physical_nics: r.fraction("physical_nics"),
        max_bandwidth_gbps: r.number("max_bandwidth_gbps"),
        max_bandwidth_gbps_by_region: r.by_name("max_bandwidth_gbps_by_region"),
        interfaces: r.interfaces(),
        network: r.object("network", |r| Network {
            fabric: r.word("fabric", &FabricKind::ALL.map(|k| (k.word(), k))),
            host_networks: r.number("host_networks"),
            host_subnetworks: r.number("host_subnetworks"),
            gpu_networks: r.number("gpu_networks"),
            rdma_networks: r.number("rdma_networks"),
            rdma_subnetworks: r.number("rdma_subnetworks"),
            rdma_subnetworks_predefined: r.flag("rdma_subnetworks_predefined"),
            profile: r.text("profile"),
            host_mtu: r.number("host_mtu"),
            gpu_mtu: r.number("gpu_mtu"),
            rdma_mtu: r.number("rdma_mtu"),
        }),
        capacity: r.object("capacity", |r| Capacity {
            standard: r.flag("standard"),
            spot: r.flag("spot"),
            flex_start: r.flag("flex_start"),
            reservation_bound: r.flag("reservation_bound"),
            reservation_required: r.flag("reservation_required"),
        }),
        placement: r.object("placement", |r| Placement {
            compact: r.flag("compact"),
            workload_policy: r.flag("workload_policy"),
            gke_placement_policy: r.flag("gke_placement_policy"),
            from_reservation: r.flag("from_reservation"),
            group_collocation: r.text("group_collocation"),
            group_gpu_topology: r.text("group_gpu_topology"),
            accelerator_topology: r.text("accelerator_topology"),
            gke_max_nodes: r.number("gke_max_nodes"),
        }),
        boot_disk_types: r.texts("boot_disk_types"),
        gke: r.object("gke", |r| Gke {
            accelerator_label: r.text("accelerator_label"),
            gpudirect_stack: r.text("gpudirect_stack"),
            min_extra_networks: r.number("min_extra_networks"),
            dranet: r.flag("dranet"),
        }),
        tpu: r.optional_object("tpu", |r| Tpu {
            version: r.text("version"),
            chips_per_vm: r.number("chips_per_vm"),
            topology_dimensions: r.number("topology_dimensions"),
            topologies: r.texts("topologies"),
            larger_topologies: r.text("larger_topologies"),
            max_chips: r.number("max_chips"),
            numa_nodes: r.number("numa_nodes"),
            topology_setting: r.text("topology_setting"),
        }),
        variant_of: None,
        notes: r.texts("notes").unwrap_or_default(),
        sources: keys
            .into_iter()
            .map(|k| match sources.get(&k) {
                Some(Value::String(text)) => text.clone(),
                _ => k,
            })
            .collect(),
    };
    reader.finish();
    let mut all: Vec<MachineType> = twins.iter().map(|t| twin(&machine, t)).collect();
    all.insert(0, machine);
    all
}

/// The same machine without its local SSDs.
fn twin(of: &MachineType, name: &str) -> MachineType {
    let mut twin = of.clone();
    twin.name = name.to_owned();
    twin.variant_of = Some(of.name.clone());
    twin.local_ssd = LocalSsd {
        included: Some(false),
        disks: Some(0),
        total_gib: Some(0),
        ..LocalSsd::default()
    };
    twin
}

/// Reads members of one object, remembers which exist, and complains about the others at the end.
struct Reader<'a> {
    file: &'a str,
    path: String,
    object: &'a Map<String, Value>,
    known: Vec<&'static str>,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn wrong(&mut self, key: &str, wanted: &str) {
        let text = format!(
            "{}.{key} must be {wanted}, or null where not confirmed.",
            self.path
        );
        self.diagnostics.push(problem(self.file, text));
    }

    /// The member, unless it is null or absent.
    fn get(&mut self, key: &'static str) -> Option<&Value> {
        self.known.push(key);
        self.object.get(key).filter(|v| !v.is_null())
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        from: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = from(self.get(key)?);
        if value.is_none() {
            self.wrong(key, wanted);
        }
        value
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        self.read(key, "a text", |v| v.as_str().map(str::to_owned))
    }

    fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, "true or false", Value::as_bool)
    }

    fn number(&mut self, key: &'static str) -> Option<u32> {
        self.read(key, "a whole number", whole)
    }

    fn fraction(&mut self, key: &'static str) -> Option<f64> {
        self.read(key, "a number, not negative", |v| {
            v.as_f64().filter(|n| *n >= 0.0)
        })
    }

    fn numbers(&mut self, key: &'static str) -> Option<Vec<u32>> {
        self.read(key, "a list of whole numbers", |v| {
            v.as_array()?.iter().map(whole).collect()
        })
    }

    fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.read(key, "a list of texts", |v| {
            v.as_array()?
                .iter()
                .map(|t| t.as_str().map(str::to_owned))
                .collect()
        })
    }

    fn by_name(&mut self, key: &'static str) -> BTreeMap<String, u32> {
        self.read(key, "an object of whole numbers", |v| {
            v.as_object()?
                .iter()
                .map(|(k, v)| Some((k.clone(), whole(v)?)))
                .collect()
        })
        .unwrap_or_default()
    }

    fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let list: Vec<String> = words.iter().map(|(w, _)| format!("\"{w}\"")).collect();
        self.read(key, &format!("one of {}", list.join(", ")), |v| {
            let given = v.as_str()?;
            words.iter().find(|(w, _)| *w == given).map(|(_, t)| *t)
        })
    }

    fn optional_object<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> Option<T> {
        self.known.push(key);
        match self.object.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::Object(object)) => {
                let mut inner = Reader {
                    file: self.file,
                    path: format!("{}.{key}", self.path),
                    object,
                    known: Vec::new(),
                    diagnostics: self.diagnostics,
                };
                let value = read(&mut inner);
                inner.finish();
                Some(value)
            }
            Some(_) => {
                self.wrong(key, "an object");
                None
            }
        }
    }

    fn object<T: Default>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> T {
        self.optional_object(key, read).unwrap_or_default()
    }

    fn interfaces(&mut self) -> Option<Vec<InterfaceGroup>> {
        const KEY: &str = "interfaces";
        self.known.push(KEY);
        let list = match self.object.get(KEY) {
            None | Some(Value::Null) => return None,
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.wrong(KEY, "a list of objects");
                return None;
            }
        };
        let mut groups = Vec::new();
        for (i, item) in list.iter().enumerate() {
            let Some(object) = item.as_object() else {
                self.wrong(KEY, "a list of objects");
                continue;
            };
            let mut inner = Reader {
                file: self.file,
                path: format!("{}.{KEY}[{i}]", self.path),
                object,
                known: Vec::new(),
                diagnostics: self.diagnostics,
            };
            let nic_type = inner.word(
                "nic_type",
                &[
                    NicType::Gvnic,
                    NicType::Idpf,
                    NicType::Mrdma,
                    NicType::Irdma,
                    NicType::VirtioNet,
                ]
                .map(|t| (t.word(), t)),
            );
            let role = inner.word(
                "role",
                &[InterfaceRole::Host, InterfaceRole::Gpu, InterfaceRole::Rdma]
                    .map(|r| (r.word(), r)),
            );
            // A machine with thousands of interfaces is a slip, and would be spelled out one by one.
            let count = inner.number("count").unwrap_or(1);
            if count > 256 {
                inner.wrong("count", "at most 256");
            }
            match role {
                Some(role) => groups.push(InterfaceGroup {
                    nic_type,
                    role,
                    count: count.min(256),
                }),
                None if !inner.object.contains_key("role") => {
                    inner.wrong("role", "\"host\", \"gpu\" or \"rdma\"");
                }
                None => {}
            }
            inner.finish();
        }
        Some(groups)
    }

    fn finish(self) {
        for key in self.object.keys() {
            if self.known.contains(&key.as_str()) {
                continue;
            }
            let mut d = problem(self.file, format!("{} has no member \"{key}\".", self.path));
            if let Some(near) = nearest(key, self.known.iter().copied()) {
                d = d.hint(format!("Did you mean \"{near}\"?"));
            }
            self.diagnostics.push(d);
        }
    }
}

fn whole(v: &Value) -> Option<u32> {
    v.as_u64().and_then(|n| u32::try_from(n).ok())
}
