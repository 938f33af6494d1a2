//! Ranges of one network that share addresses.
//!
//! Google refuses the second of two such ranges, but only when the first exists: in the middle of an
//! apply. Primary and secondary ranges of all subnetworks count, and in a network of automatic
//! subnetworks 10.128.0.0/9, in which Google makes those. Two CIDR ranges overlap only if one holds
//! the other, so sorting a network's ranges and remembering the one that reaches farthest finds all.

use crate::facts::{Facts, Instance, Target};
use crate::ranges::Range;
use crate::{Fact, Rule};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_topology::Topology;
use formwork_values::Path;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    id: "overlapping-subnetwork-ranges",
    reason: "Google refuses a range that shares addresses with another range of the same network, and does so only while applying.",
    check,
};

const SUBNETWORK: &str = "google_compute_subnetwork";
const NETWORK: &str = "google_compute_network";
/// Where Google makes the subnetworks of a network of automatic subnetworks.
const AUTOMATIC: &str = "10.128.0.0/9";

/// A range and whose it is.
struct Taken<'a> {
    range: Range,
    by: &'a Instance<'a>,
    /// Its place in a fixed order, for equal ranges.
    order: usize,
    /// As people read it: `10.0.0.0/16`, with what it is for if it is not the primary one.
    shown: String,
}

fn check(facts: &Facts<'_>, _: &Topology) -> Diagnostics {
    let mut networks: BTreeMap<Target<'_>, Vec<Taken<'_>>> = BTreeMap::new();
    let path = Path::ROOT.attribute("network");
    for subnetwork in facts.of_kind(SUBNETWORK) {
        let Some(network) = facts.target_of(subnetwork.address, &path, NETWORK) else {
            continue;
        };
        let all = networks.entry(network).or_default();
        let mut take = |fact: Fact<'_>, purpose: String| {
            if let Some(range) = fact.text().and_then(Range::parse) {
                all.push(Taken {
                    range,
                    by: subnetwork,
                    order: all.len(),
                    shown: format!("{}{purpose}", fact.shown()),
                });
            }
        };
        take(subnetwork.field("ip_cidr_range"), String::new());
        for secondary in subnetwork.field("secondary_ip_range").elements() {
            let purpose = match secondary.field("range_name").shown() {
                "" => " as a secondary range".to_owned(),
                name => format!(" as secondary range \"{name}\""),
            };
            take(secondary.field("ip_cidr_range"), purpose);
        }
    }
    let mut found = Diagnostics::new();
    for (network, mut all) in networks {
        if let Target::Instance(address) = network
            && let Some(network) = facts.get(address)
            && network.field("auto_create_subnetworks").bool() == Some(true)
            && let Some(range) = Range::parse(AUTOMATIC)
        {
            all.push(Taken {
                range,
                by: network,
                order: all.len(),
                shown: format!("{AUTOMATIC} for its automatic subnetworks"),
            });
        }
        sweep(&network, all, &mut found);
    }
    found
}

fn sweep(network: &Target<'_>, mut all: Vec<Taken<'_>>, found: &mut Diagnostics) {
    all.sort_by_key(|t| (t.range.first, Reverse(t.range.last), t.order));
    let mut farthest: Option<&Taken<'_>> = None;
    for taken in &all {
        if let Some(other) = farthest
            && let Some(shared) = other.range.shared(taken.range)
            && (other.by.is_made() || taken.by.is_made())
        {
            found.push(finding(network, other, taken, shared));
        }
        if farthest.is_none_or(|f| taken.range.last > f.range.last) {
            farthest = Some(taken);
        }
    }
}

fn finding(network: &Target<'_>, a: &Taken<'_>, b: &Taken<'_>, shared: Range) -> Diagnostic {
    let (first, second) = if a.order <= b.order { (a, b) } else { (b, a) };
    let (one, other) = (first.by.address, second.by.address);
    let taken = if one == other {
        format!("{one} takes {} and {}", first.shown, second.shown)
    } else {
        format!(
            "{one} takes {}, and {other} takes {}",
            first.shown, second.shown
        )
    };
    // the redacted text stands for a range whose addresses may not be told either
    let hidden = [first, second].iter().any(|t| t.shown.starts_with('('));
    let both = if hidden {
        String::new()
    } else {
        format!(": both hold {shared}")
    };
    let about = if second.by.is_made() && second.by.kind() == SUBNETWORK {
        other
    } else {
        one
    };
    Diagnostic::error(
        "Overlapping subnetwork ranges",
        format!(
            "{taken}{both}. They belong to the same network, {network}, in which no address may be in two ranges, so Google would refuse the later one. Change one of the ranges, or put one of the subnetworks on a network of its own."
        ),
    )
    .about(about)
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, list, object, of, text};
    use formwork_values::{Type, Value};

    const NET: &str = "google_compute_network.n";

    fn subnetwork(
        network: Value,
        range: &str,
        secondary: &[(&str, &str)],
    ) -> Vec<(&'static str, Value)> {
        let secondary = secondary
            .iter()
            .map(|(name, range)| {
                object([("range_name", text(name)), ("ip_cidr_range", text(range))])
            })
            .collect();
        vec![
            ("network", network),
            ("ip_cidr_range", text(range)),
            ("secondary_ip_range", list(secondary)),
        ]
    }

    fn base() -> Sample {
        let mut plan = Sample::default();
        let network = |name: &str| {
            [
                ("name", text(name)),
                ("auto_create_subnetworks", Value::FALSE),
            ]
        };
        plan.create(NET, network("n"));
        plan.create("google_compute_network.other", network("other"));
        plan
    }

    fn check(plan: Sample, want: &[(&str, &str)]) {
        let found = plan.review();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|d| {
                assert!(d.is_error());
                assert_eq!(d.summary, "Overlapping subnetwork ranges");
                assert!(d.hints[0].starts_with("Rule overlapping-subnetwork-ranges: "));
                let detail = d.detail.split(". They belong").next().unwrap_or_default();
                (d.address.as_deref().unwrap_or_default(), detail)
            })
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn on_a_first_plan_by_origin() {
        let mut plan = base();
        let n = || of(NET, "self_link");
        plan.create(
            "google_compute_subnetwork.a",
            subnetwork(n(), "10.0.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.b",
            subnetwork(n(), "10.1.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.c[0]",
            subnetwork(n(), "10.0.3.0/24", &[]),
        );
        let elsewhere = of("google_compute_network.other", "id");
        plan.create(
            "google_compute_subnetwork.d",
            subnetwork(elsewhere, "10.0.0.0/16", &[]),
        );
        check(
            plan,
            &[(
                "google_compute_subnetwork.c[0]",
                "google_compute_subnetwork.a takes 10.0.0.0/16, and google_compute_subnetwork.c[0] takes 10.0.3.0/24: both hold 10.0.3.0 to 10.0.3.255",
            )],
        );
    }

    #[test]
    fn the_whole_message() {
        let mut plan = base();
        for name in ["a", "b"] {
            let address = format!("google_compute_subnetwork.{name}");
            plan.create(&address, subnetwork(of(NET, "id"), "10.0.0.0/16", &[]));
        }
        let found = plan.review();
        assert_eq!(
            found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(),
            [
                "google_compute_subnetwork.a takes 10.0.0.0/16, and google_compute_subnetwork.b takes 10.0.0.0/16: both hold 10.0.0.0 to 10.0.255.255. They belong to the same network, google_compute_network.n, in which no address may be in two ranges, so Google would refuse the later one. Change one of the ranges, or put one of the subnetworks on a network of its own."
            ]
        );
    }

    #[test]
    fn secondary_ranges_count() {
        let mut plan = base();
        let n = || text("n");
        let own = subnetwork(n(), "10.0.0.0/16", &[("pods", "10.0.128.0/17")]);
        plan.create("google_compute_subnetwork.a", own);
        let services = subnetwork(n(), "10.2.0.0/16", &[("services", "10.3.0.0/20")]);
        plan.create("google_compute_subnetwork.b", services);
        plan.create(
            "google_compute_subnetwork.c",
            subnetwork(n(), "10.3.0.0/16", &[]),
        );
        check(
            plan,
            &[
                (
                    "google_compute_subnetwork.a",
                    "google_compute_subnetwork.a takes 10.0.0.0/16 and 10.0.128.0/17 as secondary range \"pods\": both hold 10.0.128.0 to 10.0.255.255",
                ),
                (
                    "google_compute_subnetwork.c",
                    "google_compute_subnetwork.b takes 10.3.0.0/20 as secondary range \"services\", and google_compute_subnetwork.c takes 10.3.0.0/16: both hold 10.3.0.0 to 10.3.15.255",
                ),
            ],
        );
    }

    #[test]
    fn only_what_the_plan_makes() {
        let link = || text("projects/p/global/networks/shared");
        let mut plan = base();
        for name in ["a", "b"] {
            let address = format!("google_compute_subnetwork.{name}");
            plan.keep(&address, subnetwork(link(), "10.0.0.0/16", &[]));
        }
        check(plan.clone(), &[]);
        plan.delete(
            "google_compute_subnetwork.gone",
            subnetwork(link(), "10.9.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.new",
            subnetwork(link(), "10.9.0.0/24", &[]),
        );
        check(plan.clone(), &[]);
        plan.keep(
            "google_compute_subnetwork.z",
            subnetwork(link(), "10.9.0.0/16", &[]),
        );
        check(
            plan,
            &[(
                "google_compute_subnetwork.new",
                "google_compute_subnetwork.new takes 10.9.0.0/24, and google_compute_subnetwork.z takes 10.9.0.0/16: both hold 10.9.0.0 to 10.9.0.255",
            )],
        );
    }

    #[test]
    fn automatic_subnetworks() {
        let mut plan = Sample::default();
        plan.create(
            NET,
            [
                ("name", text("n")),
                ("auto_create_subnetworks", Value::TRUE),
            ],
        );
        plan.create(
            "google_compute_subnetwork.a",
            subnetwork(of(NET, "id"), "10.130.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.b",
            subnetwork(of(NET, "id"), "10.0.0.0/16", &[]),
        );
        check(
            plan,
            &[(
                "google_compute_subnetwork.a",
                "google_compute_subnetwork.a takes 10.130.0.0/16, and google_compute_network.n takes 10.128.0.0/9 for its automatic subnetworks: both hold 10.130.0.0 to 10.130.255.255",
            )],
        );
    }

    #[test]
    fn what_is_not_known_is_no_finding() {
        let mut plan = base();
        let mut unknown = subnetwork(of(NET, "id"), "10.0.0.0/16", &[]);
        unknown[1].1 = Value::unknown(Type::String);
        plan.create("google_compute_subnetwork.a", unknown);
        let nowhere = Value::unknown(Type::String);
        plan.create(
            "google_compute_subnetwork.b",
            subnetwork(nowhere, "10.0.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.c",
            subnetwork(of(NET, "id"), "10.0.0.0/16", &[]),
        );
        plan.create(
            "google_compute_subnetwork.d",
            subnetwork(of(NET, "id"), "fd00::/48", &[]),
        );
        check(plan, &[]);
    }

    #[test]
    fn sensitive_ranges_are_not_told() {
        let mut plan = base();
        for name in ["a", "b"] {
            let mut values = subnetwork(of(NET, "id"), "10.0.0.0/16", &[]);
            values[1].1 = values[1].1.clone().sensitive();
            plan.create(&format!("google_compute_subnetwork.{name}"), values);
        }
        check(
            plan,
            &[(
                "google_compute_subnetwork.b",
                "google_compute_subnetwork.a takes (sensitive value), and google_compute_subnetwork.b takes (sensitive value)",
            )],
        );
    }
}
