//! What Google offers: places, machine types, disk types, images, network profiles.
//!
//! These are API objects like any other to whoever reads them; nobody in a project can make them.
//! They come from `data/catalogue.json`, which has its own sources (named in it) and is not made from
//! `schemas/topology`: if both were one table, the mock could not find the provider's mistakes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::chance;
use crate::checking::Body;
use crate::operations::COMPUTE;
use crate::scenario::Scenario;

const DATA: &str = include_str!("../data/catalogue.json");

#[derive(Deserialize)]
struct Data {
    regions: BTreeMap<String, String>,
    machine_types: Vec<Series>,
    guest_accelerators: Vec<String>,
    disk_types: Vec<(String, u32, String)>,
    images: Vec<ImageData>,
    network_profiles: Vec<ProfileData>,
    network_features: Vec<String>,
}

#[derive(Deserialize)]
struct Series {
    series: String,
    platform: String,
    #[serde(default)]
    arch: Option<String>,
    #[serde(default)]
    disks: Option<String>,
    #[serde(default)]
    zones: Vec<String>,
    #[serde(default)]
    nics: BTreeMap<String, usize>,
    #[serde(default)]
    obtained: Vec<String>,
    sizes: Vec<Value>,
}

#[derive(Deserialize)]
struct ImageData {
    project: String,
    family: String,
    name: String,
    gb: u32,
    #[serde(default)]
    arch: Option<String>,
}

#[derive(Deserialize)]
struct ProfileData {
    suffix: String,
    subtype: String,
    series: Vec<String>,
    mtu: i64,
    interface_types: Vec<String>,
    stack_types: Vec<String>,
    purposes: Vec<String>,
    address_purposes: Vec<String>,
    firewall_policy_types: Vec<String>,
    allowed: Vec<String>,
    #[serde(default)]
    predefined_subnetworks: Vec<Predefined>,
}

#[derive(Deserialize)]
struct Predefined {
    name_prefix: String,
    ipv6_range: String,
}

/// A machine type: what the API shows, and what the machine is like.
#[derive(Debug, Clone)]
pub(crate) struct MachineType {
    pub(crate) body: Body,
    pub(crate) cpu_platform: String,
    pub(crate) vcpus: i64,
    pub(crate) architecture: String,
    /// Accelerator name and how many.
    pub(crate) accelerator: Option<(String, i64)>,
    /// Local SSDs that come with it.
    pub(crate) local_ssds: usize,
    /// Most interfaces by type; empty where there is no rule but the general one.
    pub(crate) nics: BTreeMap<String, usize>,
    /// Provisioning models that it can be had by; empty means all.
    pub(crate) obtained: Vec<String>,
    /// Whether its boot disk must be a Hyperdisk.
    pub(crate) hyperdisk_only: bool,
    zones: BTreeSet<String>,
}

/// A network profile of a zone.
#[derive(Debug, Clone)]
pub(crate) struct NetworkProfile {
    pub(crate) body: Body,
    pub(crate) zone: String,
    pub(crate) mtu: i64,
    /// Subnetworks that the server makes: prefix of the name and IPv6 range.
    pub(crate) predefined: Vec<(String, String)>,
}

impl NetworkProfile {
    /// Whether a feature is allowed: `CloudRouter`.
    pub(crate) fn allows(&self, feature: &str) -> bool {
        self.feature(&format!("allow{feature}"))
            .and_then(Value::as_str)
            .is_none_or(|value| value.ends_with("_ALLOWED"))
    }

    pub(crate) fn feature(&self, name: &str) -> Option<&Value> {
        self.body
            .get("features")
            .and_then(|features| features.get(name))
    }

    /// Whether a list feature holds a value: `interfaceTypes`, `MRDMA`.
    pub(crate) fn lists(&self, name: &str, value: &str) -> bool {
        crate::usage::list(self.feature(name))
            .iter()
            .any(|item| item == value)
    }
}

/// See the module's header.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// Region of a zone.
    zones: BTreeMap<String, String>,
    regions: BTreeSet<String>,
    machine_types: BTreeMap<String, MachineType>,
    accelerators: BTreeMap<String, BTreeSet<String>>,
    guest_accelerators: Vec<String>,
    disk_types: Vec<(String, u32, String)>,
    /// By project and name.
    images: BTreeMap<(String, String), Body>,
    profiles: BTreeMap<String, NetworkProfile>,
}

impl Catalogue {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        // part of the binary, and read by a test
        #[allow(clippy::expect_used)]
        let data: Data = serde_json::from_str(DATA).expect("the catalogue is well formed");
        let mut zones = BTreeMap::new();
        for (region, letters) in &data.regions {
            for letter in letters.chars() {
                zones.insert(format!("{region}-{letter}"), region.clone());
            }
        }
        let mut catalogue = Self {
            regions: data.regions.keys().cloned().collect(),
            machine_types: BTreeMap::new(),
            accelerators: BTreeMap::new(),
            guest_accelerators: data.guest_accelerators,
            disk_types: data.disk_types,
            images: data.images.iter().map(image).collect(),
            profiles: BTreeMap::new(),
            zones,
        };
        for series in &data.machine_types {
            let places: BTreeSet<String> = if series.zones.is_empty() {
                catalogue.zones.keys().cloned().collect()
            } else {
                series.zones.iter().cloned().collect()
            };
            for size in &series.sizes {
                catalogue.add_machine_type(series, size, &places);
            }
        }
        for profile in &data.network_profiles {
            catalogue.add_profile(profile, &data.machine_types, &data.network_features);
        }
        for extra in &scenario.machine_types {
            catalogue.add_extra(extra);
        }
        catalogue
    }

    fn add_machine_type(&mut self, series: &Series, size: &Value, places: &BTreeSet<String>) {
        let text = |index: usize| size.get(index).and_then(Value::as_str);
        let number = |index: usize| size.get(index).and_then(Value::as_i64).unwrap_or_default();
        let Some(name) = text(0) else { return };
        let architecture = series.arch.clone().unwrap_or_else(|| "X86_64".to_owned());
        let accelerator = text(3)
            .filter(|_| number(4) > 0)
            .map(|kind| (kind.to_owned(), number(4)));
        let shared = ["e2-micro", "e2-small", "e2-medium"].contains(&name);
        let mut body = object(json!({
            "architecture": architecture,
            "description": format!("{} vCPUs {} GB RAM", number(1), number(2) / 1024),
            "guestCpus": number(1),
            "imageSpaceGb": 0,
            "isSharedCpu": shared,
            "kind": "compute#machineType",
            "maximumPersistentDisks": 128,
            "maximumPersistentDisksSizeGb": "263168",
            "memoryMb": number(2),
            "name": name,
        }));
        if let Some((kind, count)) = &accelerator {
            body.insert(
                "accelerators".into(),
                json!([{"guestAcceleratorType": kind, "guestAcceleratorCount": count}]),
            );
            if !kind.starts_with("ct") && !kind.starts_with("tpu") {
                self.accelerators
                    .entry(kind.clone())
                    .or_default()
                    .extend(places.iter().cloned());
            }
        }
        let local_ssds = usize::try_from(number(5)).unwrap_or_default();
        if local_ssds > 0 {
            body.insert(
                "bundledLocalSsds".into(),
                json!({"defaultInterface": "NVME", "partitionCount": local_ssds}),
            );
        }
        self.machine_types.insert(
            name.to_owned(),
            MachineType {
                body,
                cpu_platform: series.platform.clone(),
                vcpus: number(1),
                architecture,
                accelerator,
                local_ssds,
                nics: series.nics.clone(),
                obtained: series.obtained.clone(),
                hyperdisk_only: series.disks.as_deref() == Some("hyperdisk"),
                zones: places.clone(),
            },
        );
    }

    fn add_extra(&mut self, extra: &crate::scenario::ExtraMachineType) {
        let mut body = extra.body.clone();
        body.insert("name".into(), extra.name.clone().into());
        body.insert("kind".into(), "compute#machineType".into());
        let accelerator = crate::usage::list(body.get("accelerators"))
            .first()
            .and_then(|first| {
                Some((
                    first.get("guestAcceleratorType")?.as_str()?.to_owned(),
                    first.get("guestAcceleratorCount")?.as_i64()?,
                ))
            });
        let local_ssds = body
            .get("bundledLocalSsds")
            .and_then(|bundle| bundle.get("partitionCount"))
            .and_then(Value::as_u64)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or_default();
        self.machine_types.insert(
            extra.name.clone(),
            MachineType {
                cpu_platform: "Intel Cascade Lake".to_owned(),
                vcpus: body.get("guestCpus").and_then(Value::as_i64).unwrap_or(1),
                architecture: body
                    .get("architecture")
                    .and_then(Value::as_str)
                    .unwrap_or("X86_64")
                    .to_owned(),
                accelerator,
                local_ssds,
                nics: BTreeMap::new(),
                obtained: Vec::new(),
                hyperdisk_only: false,
                zones: extra.zones.iter().cloned().collect(),
                body,
            },
        );
    }

    fn add_profile(&mut self, data: &ProfileData, series: &[Series], features: &[String]) {
        let places: BTreeSet<&String> = series
            .iter()
            .filter(|series| data.series.contains(&series.series))
            .flat_map(|series| &series.zones)
            .collect();
        for zone in places {
            let name = format!("{zone}-{}", data.suffix);
            let mut switches = Body::new();
            for feature in features {
                let state = if data.allowed.contains(feature) {
                    "ALLOWED"
                } else {
                    "BLOCKED"
                };
                switches.insert(
                    format!("allow{feature}"),
                    format!("{}_{state}", shout(feature)).into(),
                );
            }
            switches.insert("interfaceTypes".into(), data.interface_types.clone().into());
            switches.insert(
                "subnetworkStackTypes".into(),
                data.stack_types.clone().into(),
            );
            switches.insert("subnetworkPurposes".into(), data.purposes.clone().into());
            switches.insert(
                "addressPurposes".into(),
                data.address_purposes.clone().into(),
            );
            switches.insert(
                "firewallPolicyTypes".into(),
                data.firewall_policy_types.clone().into(),
            );
            switches.insert("unicast".into(), "UNICAST_SDN".into());
            let predefined: Vec<(String, String)> = data
                .predefined_subnetworks
                .iter()
                .map(|range| (range.name_prefix.clone(), range.ipv6_range.clone()))
                .collect();
            if !predefined.is_empty() {
                let ranges: Vec<Value> = predefined
                    .iter()
                    .map(|(prefix, range)| json!({"namePrefix": prefix, "ipv6Range": range}))
                    .collect();
                switches.insert("predefinedSubnetworkRanges".into(), ranges.into());
            }
            crate::checking::without_nothing(&mut switches);
            let body = object(json!({
                "kind": "compute#networkProfile",
                "id": chance::id(7, chance::of_text(&name)),
                "creationTimestamp": "2025-01-15T08:00:00.000-08:00",
                "name": name,
                "description": format!("RDMA network in zone {zone}"),
                "location": {"name": zone, "scope": "ZONE"},
                "profileType": {"networkType": "RDMA", "rdmaSubtype": data.subtype},
                "features": switches,
            }));
            self.profiles.insert(
                name,
                NetworkProfile {
                    body,
                    zone: zone.clone(),
                    mtu: data.mtu,
                    predefined,
                },
            );
        }
    }

    pub(crate) fn region_of(&self, zone: &str) -> Option<&str> {
        self.zones.get(zone).map(String::as_str)
    }

    pub(crate) fn has_region(&self, region: &str) -> bool {
        self.regions.contains(region)
    }

    pub(crate) fn regions(&self) -> impl Iterator<Item = &str> {
        self.regions.iter().map(String::as_str)
    }

    pub(crate) fn zones(&self) -> impl Iterator<Item = (&str, &str)> {
        self.zones
            .iter()
            .map(|(zone, region)| (zone.as_str(), region.as_str()))
    }

    /// The machine type of that name in a zone. Custom sizes of the general series are made up.
    pub(crate) fn machine_type(&self, zone: &str, name: &str) -> Option<MachineType> {
        if let Some(found) = self.machine_types.get(name) {
            return found.zones.contains(zone).then(|| found.clone());
        }
        custom(name).filter(|_| self.zones.contains_key(zone))
    }

    /// The catalogue's objects of a collection in a zone, region or the project: name and body.
    pub(crate) fn listing(&self, project: &str, scope: &str, collection: &str) -> Vec<Body> {
        let zone = scope.strip_prefix("zones/");
        let base = |body: &Body, name: &str| {
            let mut body = body.clone();
            body.insert(
                "id".into(),
                chance::id(11, chance::of_text(&format!("{scope}/{collection}/{name}"))).into(),
            );
            body.insert(
                "creationTimestamp".into(),
                "1969-12-31T16:00:00.000-08:00".into(),
            );
            let path = if matches!(collection, "zones" | "regions") {
                format!("projects/{project}/{collection}/{name}")
            } else {
                format!("projects/{project}/{scope}/{collection}/{name}")
            };
            body.insert("selfLink".into(), format!("{COMPUTE}{path}").into());
            if let Some(zone) = zone {
                let shown = if collection == "machineTypes" {
                    zone.to_owned()
                } else {
                    format!("{COMPUTE}projects/{project}/zones/{zone}")
                };
                body.insert("zone".into(), shown.into());
            }
            body
        };
        match (collection, zone) {
            ("machineTypes", Some(zone)) => self
                .machine_types
                .iter()
                .filter(|(_, machine)| machine.zones.contains(zone))
                .map(|(name, machine)| base(&machine.body, name))
                .collect(),
            ("acceleratorTypes", Some(zone)) => self
                .accelerators
                .iter()
                .filter(|(_, zones)| zones.contains(zone))
                .map(|(name, _)| name)
                .chain(&self.guest_accelerators)
                .map(|name| {
                    base(
                        &object(json!({
                            "kind": "compute#acceleratorType", "name": name,
                            "description": name, "maximumCardsPerInstance": 8,
                        })),
                        name,
                    )
                })
                .collect(),
            ("diskTypes", Some(_)) => self
                .disk_types
                .iter()
                .map(|(name, size, range)| {
                    base(
                        &object(json!({
                            "kind": "compute#diskType", "name": name, "description": name,
                            "defaultDiskSizeGb": size.to_string(), "validDiskSize": range,
                        })),
                        name,
                    )
                })
                .collect(),
            ("zones", _) => self
                .zones
                .iter()
                .map(|(name, region)| {
                    base(
                        &object(json!({
                            "kind": "compute#zone", "name": name, "description": name, "status": "UP",
                            "region": format!("{COMPUTE}projects/{project}/regions/{region}"),
                            "availableCpuPlatforms": ["Intel Cascade Lake", "Intel Emerald Rapids", "Intel Sapphire Rapids"],
                        })),
                        name,
                    )
                })
                .collect(),
            ("regions", _) => self
                .regions
                .iter()
                .map(|name| {
                    let zones: Vec<String> = self
                        .zones
                        .iter()
                        .filter(|(_, region)| *region == name)
                        .map(|(zone, _)| format!("{COMPUTE}projects/{project}/zones/{zone}"))
                        .collect();
                    base(
                        &object(json!({
                            "kind": "compute#region", "name": name, "description": name,
                            "status": "UP", "zones": zones,
                        })),
                        name,
                    )
                })
                .collect(),
            ("networkProfiles", _) => self
                .profiles
                .iter()
                .map(|(name, profile)| {
                    let mut body = profile.body.clone();
                    let link = format!("{COMPUTE}projects/{project}/global/networkProfiles/");
                    body.insert("selfLink".into(), format!("{link}{name}").into());
                    let id = profile.body.get("id").and_then(Value::as_str).unwrap_or_default();
                    body.insert("selfLinkWithId".into(), format!("{link}{id}").into());
                    body
                })
                .collect(),
            ("images", _) => self
                .images
                .iter()
                .filter(|((owner, _), _)| owner == project)
                .map(|(_, body)| body.clone())
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn profile(&self, name: &str) -> Option<&NetworkProfile> {
        self.profiles.get(name)
    }

    /// Whether a project is one of Google's that only offers images.
    pub(crate) fn is_image_project(&self, project: &str) -> bool {
        self.images.keys().any(|(owner, _)| owner == project)
    }

    /// An image of a public project by name or, with `family/` in front, by family.
    pub(crate) fn image(&self, project: &str, name: &str) -> Option<&Body> {
        match name.strip_prefix("family/") {
            Some(family) => self
                .images
                .iter()
                .filter(|((owner, _), _)| owner == project)
                .map(|(_, body)| body)
                .rfind(|body| body.get("family").is_some_and(|own| own == family)),
            None => self.images.get(&(project.to_owned(), name.to_owned())),
        }
    }

    pub(crate) fn disk_type(&self, name: &str) -> Option<u32> {
        self.disk_types
            .iter()
            .find(|(kind, ..)| kind == name)
            .map(|(_, size, _)| *size)
    }
}

/// `n2-custom-8-16384` and its kin.
fn custom(name: &str) -> Option<MachineType> {
    let mut parts: Vec<&str> = name.trim_end_matches("-ext").split('-').collect();
    if parts.first() == Some(&"custom") {
        parts.insert(0, "n1");
    }
    let [series, "custom", vcpus, memory] = parts.as_slice() else {
        return None;
    };
    let (vcpus, memory): (i64, i64) = (vcpus.parse().ok()?, memory.parse().ok()?);
    if !["n1", "n2", "n2d", "n4", "e2"].contains(series) || vcpus < 1 || memory % 256 != 0 {
        return None;
    }
    Some(MachineType {
        body: object(json!({
            "architecture": "X86_64", "description": "Custom created machine type.",
            "guestCpus": vcpus, "imageSpaceGb": 0, "isSharedCpu": false,
            "kind": "compute#machineType", "maximumPersistentDisks": 128,
            "maximumPersistentDisksSizeGb": "263168", "memoryMb": memory, "name": name,
        })),
        cpu_platform: "Intel Cascade Lake".to_owned(),
        vcpus,
        architecture: "X86_64".to_owned(),
        accelerator: None,
        local_ssds: 0,
        nics: BTreeMap::new(),
        obtained: Vec::new(),
        hyperdisk_only: false,
        zones: BTreeSet::new(),
    })
}

fn image(data: &ImageData) -> ((String, String), Body) {
    let body = object(json!({
        "architecture": data.arch.as_deref().unwrap_or("X86_64"),
        "archiveSizeBytes": "1234567890",
        "creationTimestamp": "2026-10-21T02:00:00.000-07:00",
        "description": data.name,
        "diskSizeGb": data.gb.to_string(),
        "family": data.family,
        "guestOsFeatures": [{"type": "UEFI_COMPATIBLE"}, {"type": "GVNIC"}, {"type": "IDPF"}],
        "id": chance::id(13, chance::of_text(&data.name)),
        "kind": "compute#image",
        "labelFingerprint": "42WmSpB8rSM=",
        "name": data.name,
        "rawDisk": {"containerType": "TAR", "source": ""},
        "selfLink": format!("{COMPUTE}projects/{}/global/images/{}", data.project, data.name),
        "sourceType": "RAW",
        "status": "READY",
        "storageLocations": ["us"],
    }));
    ((data.project.clone(), data.name.clone()), body)
}

/// `CloudRouter` in capitals as the enum has it: `CLOUD_ROUTER`.
fn shout(feature: &str) -> String {
    if feature == "SubInterfaces" {
        return "SUBINTERFACES".to_owned();
    }
    let mut out = String::new();
    let letters: Vec<char> = feature.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    if feature == "ClassDFirewalls" {
        "CLASS_D_FIREWALLS".to_owned()
    } else {
        out
    }
}

/// The object of a `json!`.
pub(crate) fn object(value: Value) -> Body {
    match value {
        Value::Object(body) => body,
        _ => Body::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_offered_is_what_the_schemas_say() {
        let catalogue = Catalogue::new(&Scenario::default_world());
        let document = formwork_discovery::document("compute", "v1").unwrap();
        for (collection, scope, schema) in [
            ("machineTypes", "zones/us-central1-b", "MachineType"),
            ("acceleratorTypes", "zones/us-central1-b", "AcceleratorType"),
            ("diskTypes", "zones/us-central1-b", "DiskType"),
            ("zones", "", "Zone"),
            ("regions", "", "Region"),
            ("networkProfiles", "global", "NetworkProfile"),
        ] {
            let all = catalogue.listing("p", scope, collection);
            assert!(!all.is_empty(), "{collection}");
            for body in all {
                crate::checking::check(document, schema, "", &Value::Object(body)).unwrap();
            }
        }
        for body in catalogue.listing("debian-cloud", "global", "images") {
            crate::checking::check(document, "Image", "", &Value::Object(body)).unwrap();
        }
    }

    #[test]
    fn machines_stand_where_they_stand() {
        let catalogue = Catalogue::new(&Scenario::default_world());
        assert!(
            catalogue
                .machine_type("us-central1-b", "a4-highgpu-8g")
                .is_some()
        );
        assert!(
            catalogue
                .machine_type("us-central1-f", "a4-highgpu-8g")
                .is_none()
        );
        assert_eq!(
            catalogue
                .machine_type("us-central1-f", "n2-custom-8-16384")
                .unwrap()
                .vcpus,
            8
        );
        let profile = catalogue.profile("us-central1-b-vpc-roce").unwrap();
        assert!(!profile.allows("CloudRouter") && profile.allows("MultiNicInSameNetwork"));
        assert!(profile.lists("interfaceTypes", "MRDMA"));
        assert!(catalogue.profile("us-central1-f-vpc-roce").is_none());
    }
}
