//! Machines that are only to be had from a reservation, and name none.
//!
//! Either the family takes nothing else (A4X), by the machine facts, or the provisioning model asks
//! for it. Google answers such a request with a stock-out or an invalid value, after all networks
//! and disks have been made.

use crate::facts::{Facts, Instance};
use crate::{Fact, Rule};
use formwork_addresses::AbsResource;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_topology::{CapacityMode, Topology};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    id: "reservation-required",
    reason: "Some machine types are only to be had from a reservation, and a machine without one fails after everything else is made.",
    check,
};

/// Types that ask for machines, with the blocks `scheduling` and `reservation_affinity`.
const MACHINES: [&str; 3] = [
    "google_compute_instance",
    "google_compute_instance_template",
    "google_compute_region_instance_template",
];

const BOUND: &str = "RESERVATION_BOUND";
const SPECIFIC: &str = "SPECIFIC_RESERVATION";
/// Key under which a specific reservation is named.
const NAME_KEY: &str = "compute.googleapis.com/reservation-name";

fn check(facts: &Facts<'_>, topology: &Topology) -> Diagnostics {
    // what many instances of a block share is one finding
    let mut found: BTreeMap<(AbsResource, String), Vec<&Instance<'_>>> = BTreeMap::new();
    for kind in MACHINES {
        for instance in facts.of_kind(kind).filter(|i| i.is_made()) {
            if let Some(why) = problem(instance, topology) {
                let key = (instance.address.abs_resource(), why);
                found.entry(key).or_default().push(instance);
            }
        }
    }
    found
        .into_iter()
        .filter_map(|((_, why), instances)| {
            let first = instances.first()?.address;
            let who = match instances.len() {
                1 => format!("{first} "),
                2 => format!("{first} (and one more instance) "),
                n => format!("{first} (and {} more instances) ", n - 1),
            };
            let detail = format!("{who}{why}");
            Some(Diagnostic::error("Reservation required", detail).about(first))
        })
        .collect()
}

/// What is wrong with a machine, as the rest of a sentence that begins with its address, and what to
/// do about it.
fn problem(instance: &Instance<'_>, topology: &Topology) -> Option<String> {
    let machine = instance.field("machine_type");
    let name = machine.text()?.rsplit('/').next()?;
    let facts = topology.machine(name);
    let shown = if machine.shown() == machine.text()? {
        name
    } else {
        machine.shown()
    };
    let scheduling = instance.field("scheduling").block();
    let model = scheduling.field("provisioning_model");
    let affinity = Affinity::of(instance.field("reservation_affinity"));

    let required = facts.is_some_and(|f| f.capacity.reservation_required == Some(true));
    let family = facts
        .map(|f| format!(" ({})", f.family))
        .unwrap_or_default();
    if required {
        let asks = match (affinity, asked_mode(scheduling, model)) {
            (Affinity::Unknown, _) => return None,
            (Affinity::Named, Some(mode)) => {
                format!("asks for capacity of the kind {}", mode.word())
            }
            (Affinity::Named, None) => return None,
            (Affinity::Other(kind), _) => {
                format!("has a reservation_affinity of the type \"{kind}\", which names none")
            }
            (Affinity::Unnamed, _) => {
                format!("has a reservation_affinity of the type \"{SPECIFIC}\" that names none")
            }
            (Affinity::Absent, _) => "names no reservation".to_owned(),
        };
        return Some(format!(
            "{asks}, but its machine type {shown}{family} is only to be had from a reservation. {}",
            advice(model.text() != Some(BOUND))
        ));
    }
    if model.text() == Some(BOUND) {
        let lacks = match affinity {
            Affinity::Unknown | Affinity::Named => return None,
            Affinity::Absent => "no reservation_affinity names one".to_owned(),
            Affinity::Other(kind) => {
                format!("its reservation_affinity is of the type \"{kind}\", which names none")
            }
            Affinity::Unnamed => "its reservation_affinity names none".to_owned(),
        };
        let others = facts
            .map(|f| {
                let mut modes = f.offered_modes();
                modes.retain(|m| *m != CapacityMode::Reservation);
                modes
            })
            .unwrap_or_default();
        let otherwise = if others.is_empty() {
            String::new()
        } else {
            let words: Vec<&str> = others.iter().map(|m| m.word()).collect();
            format!(
                " Without a reservation the type is to be had as {}, with another provisioning model.",
                words.join(" or ")
            )
        };
        return Some(format!(
            "is of the machine type {shown}{family} and has the provisioning model \"{BOUND}\", which takes machines from a named reservation only, but {lacks}. {}{otherwise}",
            advice(false)
        ));
    }
    None
}

/// What to write.
fn advice(and_model: bool) -> String {
    let model = if and_model {
        format!(", and set scheduling.provisioning_model to \"{BOUND}\"")
    } else {
        String::new()
    };
    format!(
        "Set reservation_affinity.type to \"{SPECIFIC}\" with a specific_reservation block whose key is \"{NAME_KEY}\" and whose values name the reservation (NAME, or projects/PROJECT/reservations/NAME for one shared by another project){model}."
    )
}

/// The mode that is asked for if it is none of a reservation.
fn asked_mode(scheduling: Fact<'_>, model: Fact<'_>) -> Option<CapacityMode> {
    if scheduling.field("preemptible").bool() == Some(true) {
        return Some(CapacityMode::Spot);
    }
    CapacityMode::of_provisioning_model(model.text()?, true)
        .filter(|m| *m != CapacityMode::Reservation)
}

/// Which reservation a machine takes.
#[derive(Clone, Copy)]
enum Affinity<'a> {
    /// Nothing is said.
    Absent,
    /// A specific one, named or to be named when something is known.
    Named,
    /// A specific one, but none is named.
    Unnamed,
    /// Another type than a specific one.
    Other(&'a str),
    /// That will be known later.
    Unknown,
}

impl<'a> Affinity<'a> {
    fn of(blocks: Fact<'a>) -> Self {
        if blocks.is_absent() || blocks.is_left_to_the_provider() {
            return Self::Absent;
        }
        let block = blocks.block();
        if block.is_absent() {
            return Self::Absent;
        }
        let kind = block.field("type");
        match kind.text() {
            None => Self::Unknown,
            Some(SPECIFIC) => {
                let named = block.field("specific_reservation").block().field("values");
                if named.is_absent() {
                    Self::Unnamed
                } else {
                    Self::Named
                }
            }
            Some(_) => Self::Other(kind.shown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, list, object, of, text};
    use formwork_values::{Refinement, Type, Value};

    const A4X: &str = "a4x-highgpu-4g";
    const A4: &str = "a4-highgpu-8g";

    fn affinity(kind: &str, names: Option<Value>) -> Value {
        let specific = match names {
            Some(names) => list(vec![object([
                ("key", text("compute.googleapis.com/reservation-name")),
                ("values", names),
            ])]),
            None => list(Vec::new()),
        };
        list(vec![object([
            ("type", text(kind)),
            ("specific_reservation", specific),
        ])])
    }

    fn named() -> Value {
        affinity("SPECIFIC_RESERVATION", Some(list(vec![text("r")])))
    }

    fn scheduling(model: &str) -> Value {
        list(vec![object([("provisioning_model", text(model))])])
    }

    fn machine(kind: &str, model: Value, affinity: Value) -> Vec<(&'static str, Value)> {
        vec![
            ("machine_type", text(kind)),
            ("scheduling", model),
            ("reservation_affinity", affinity),
        ]
    }

    fn none() -> Value {
        list(Vec::new())
    }

    /// What Google's provider plans for a block that is not configured.
    fn computed() -> Value {
        Value::unknown(Type::list(Type::object([("type", Type::String)])))
    }

    #[test]
    fn cases() {
        let dynamic = Value::unknown_with(Type::list(Type::String), Refinement::NOT_NULL);
        let later = affinity(
            "SPECIFIC_RESERVATION",
            Some(of("google_compute_reservation.r", "name")),
        );
        let unknown_type = list(vec![object([
            ("type", Value::unknown(Type::String)),
            ("specific_reservation", none()),
        ])]);
        let bound = || scheduling("RESERVATION_BOUND");
        for (kind, model, affinity, want) in [
            // the family takes nothing else
            (
                A4X,
                none(),
                none(),
                Some(
                    "names no reservation, but its machine type a4x-highgpu-4g (A4X) is only to be had from a reservation",
                ),
            ),
            (
                A4X,
                computed(),
                computed(),
                Some("names no reservation, but"),
            ),
            (A4X, bound(), none(), Some("names no reservation, but")),
            (
                A4X,
                none(),
                affinity("ANY_RESERVATION", None),
                Some(
                    "has a reservation_affinity of the type \"ANY_RESERVATION\", which names none, but",
                ),
            ),
            (
                A4X,
                bound(),
                affinity("SPECIFIC_RESERVATION", None),
                Some(
                    "has a reservation_affinity of the type \"SPECIFIC_RESERVATION\" that names none, but",
                ),
            ),
            (
                A4X,
                scheduling("SPOT"),
                named(),
                Some("asks for capacity of the kind spot, but"),
            ),
            (A4X, bound(), named(), None),
            (A4X, computed(), named(), None),
            (A4X, bound(), later.clone(), None),
            (A4X, bound(), dynamic, None),
            (A4X, bound(), unknown_type, None),
            (
                "projects/p/zones/z/machineTypes/a4x-highgpu-4g",
                none(),
                none(),
                Some("names no reservation, but its machine type a4x-highgpu-4g (A4X) is"),
            ),
            // the provisioning model asks for one
            (
                A4,
                bound(),
                none(),
                Some(
                    "is of the machine type a4-highgpu-8g (A4) and has the provisioning model \"RESERVATION_BOUND\", which takes machines from a named reservation only, but no reservation_affinity names one",
                ),
            ),
            (
                A4,
                bound(),
                affinity("NO_RESERVATION", None),
                Some(
                    "is of the machine type a4-highgpu-8g (A4) and has the provisioning model \"RESERVATION_BOUND\", which takes machines from a named reservation only, but its reservation_affinity is of the type \"NO_RESERVATION\", which names none",
                ),
            ),
            (
                "nobody-knows-1",
                bound(),
                computed(),
                Some("is of the machine type nobody-knows-1 and has the provisioning model"),
            ),
            (A4, bound(), named(), None),
            (A4, bound(), later, None),
            // neither
            (A4, scheduling("SPOT"), none(), None),
            (A4, none(), none(), None),
            ("n2-standard-4", none(), computed(), None),
        ] {
            for resource in [
                "google_compute_instance",
                "google_compute_instance_template",
            ] {
                let mut plan = Sample::default();
                let address = format!("{resource}.vm");
                plan.create(&address, machine(kind, model.clone(), affinity.clone()));
                let found = plan.review();
                let details: Vec<&str> = found.iter().map(|d| d.detail.as_str()).collect();
                match want {
                    None => assert!(details.is_empty(), "{kind}: {details:?}"),
                    Some(want) => {
                        let want = format!("{address} {want}");
                        assert!(
                            details.len() == 1 && details[0].starts_with(&want),
                            "{kind}: {details:?}"
                        );
                        let first = found.iter().next().expect("one");
                        assert_eq!(first.address.as_deref(), Some(address.as_str()));
                        assert_eq!(first.summary, "Reservation required");
                    }
                }
            }
        }
    }

    #[test]
    fn many_instances_are_one_finding() {
        let mut plan = Sample::default();
        for n in 0..3 {
            let address = format!("module.c.google_compute_instance.node[{n}]");
            plan.create(&address, machine(A4X, none(), none()));
        }
        plan.keep("google_compute_instance.old", machine(A4X, none(), none()));
        let found = plan.review();
        assert_eq!(
            found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(),
            [
                "module.c.google_compute_instance.node[0] (and 2 more instances) names no reservation, but its machine type a4x-highgpu-4g (A4X) is only to be had from a reservation. Set reservation_affinity.type to \"SPECIFIC_RESERVATION\" with a specific_reservation block whose key is \"compute.googleapis.com/reservation-name\" and whose values name the reservation (NAME, or projects/PROJECT/reservations/NAME for one shared by another project), and set scheduling.provisioning_model to \"RESERVATION_BOUND\"."
            ]
        );
    }

    #[test]
    fn other_ways_are_named() {
        let mut plan = Sample::default();
        let bound = scheduling("RESERVATION_BOUND");
        plan.create("google_compute_instance.vm", machine(A4, bound, none()));
        let found = plan.review();
        let detail = &found.iter().next().expect("one").detail;
        assert!(
            detail.ends_with("Without a reservation the type is to be had as spot or flex-start, with another provisioning model."),
            "{detail}"
        );
    }
}
