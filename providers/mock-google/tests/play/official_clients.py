"""Google's own Python clients against the mock at sys.argv[1]. Their types are strict: a field of a
wrong JSON type is a ParseError. Prints OK at its end."""

import sys

import httplib2
from google.api_core.client_options import ClientOptions
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1, storage
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

URL = sys.argv[1]
PROJECT, REGION, ZONE = "formwork-mock", "us-central1", "us-central1-b"


def client(kind):
    return kind(
        credentials=AnonymousCredentials(),
        client_options=ClientOptions(api_endpoint=URL),
    )


operations = {
    "global_operations": client(compute_v1.GlobalOperationsClient),
    "region_operations": client(compute_v1.RegionOperationsClient),
    "zone_operations": client(compute_v1.ZoneOperationsClient),
}


def compute(kind):
    made = client(kind)
    # result() would ask another client, made without our endpoint
    if hasattr(made._transport, "_extended_operations_services"):
        made._transport._extended_operations_services.update(operations)
    return made


networks = compute(compute_v1.NetworksClient)
subnetworks = compute(compute_v1.SubnetworksClient)
instances = compute(compute_v1.InstancesClient)

networks.insert(
    project=PROJECT,
    network_resource=compute_v1.Network(name="n", auto_create_subnetworks=False, mtu=8896),
).result()
network = networks.get(project=PROJECT, network="n")
assert network.mtu == 8896 and network.id > 0, network
subnetworks.insert(
    project=PROJECT,
    region=REGION,
    subnetwork_resource=compute_v1.Subnetwork(name="s", network=network.self_link, ip_cidr_range="10.0.0.0/24"),
).result()
disk = compute_v1.AttachedDisk(
    boot=True,
    auto_delete=True,
    initialize_params=compute_v1.AttachedDiskInitializeParams(
        source_image="projects/debian-cloud/global/images/family/debian-12", disk_size_gb=20
    ),
)
instances.insert(
    project=PROJECT,
    zone=ZONE,
    instance_resource=compute_v1.Instance(
        name="vm",
        machine_type=f"zones/{ZONE}/machineTypes/n2-standard-4",
        disks=[disk],
        network_interfaces=[compute_v1.NetworkInterface(subnetwork=f"regions/{REGION}/subnetworks/s")],
    ),
).result()
vm = instances.get(project=PROJECT, zone=ZONE, instance="vm")
assert vm.status == "RUNNING" and vm.disks[0].disk_size_gb == 20, vm
assert [i.name for i in instances.list(project=PROJECT, zone=ZONE)] == ["vm"]
scoped = dict(instances.aggregated_list(project=PROJECT))
assert scoped[f"zones/{ZONE}"].instances[0].name == "vm"
for act, error in [
    (lambda: networks.get(project=PROJECT, network="none"), exceptions.NotFound),
    (lambda: networks.insert(project=PROJECT, network_resource=compute_v1.Network(name="n")), exceptions.Conflict),
    (lambda: networks.insert(project=PROJECT, network_resource=compute_v1.Network(name="m", mtu=1)), exceptions.BadRequest),
    (lambda: networks.delete(project=PROJECT, network="n").result(), exceptions.GoogleAPICallError),
]:
    try:
        act()
    except error:
        continue
    raise SystemExit(f"expected {error}")
for kind, arguments in [
    (compute_v1.ZonesClient, {}),
    (compute_v1.RegionsClient, {}),
    (compute_v1.NetworkProfilesClient, {}),
    (compute_v1.MachineTypesClient, {"zone": ZONE}),
    (compute_v1.AcceleratorTypesClient, {"zone": ZONE}),
    (compute_v1.DiskTypesClient, {"zone": ZONE}),
    (compute_v1.ReservationsClient, {"zone": ZONE}),
    (compute_v1.DisksClient, {"zone": ZONE}),
    (compute_v1.RoutesClient, {}),
]:
    assert list(compute(kind).list(project=PROJECT, **arguments)), kind
image = compute(compute_v1.ImagesClient).get_from_family(project="debian-cloud", family="debian-12")
assert image.status == "READY"
instances.delete(project=PROJECT, zone=ZONE, instance="vm").result()
subnetworks.delete(project=PROJECT, region=REGION, subnetwork="s").result()
networks.delete(project=PROJECT, network="n").result()

blobs = storage.Client(
    project=PROJECT, credentials=AnonymousCredentials(), client_options=ClientOptions(api_endpoint=URL)
)
bucket = blobs.create_bucket("official-clients", location="us-central1")
blob = bucket.blob("a/b.txt")
blob.metadata = {"k": "v"}
blob.upload_from_string("text", content_type="text/plain")
# checks the sums that come along
assert bucket.blob("a/b.txt").download_as_bytes() == b"text"
assert [b.name for b in blobs.list_blobs(bucket, prefix="a/")] == ["a/b.txt"]
bucket.lifecycle_rules = [{"action": {"type": "Delete"}, "condition": {"age": 3}}]
bucket.patch()
policy = bucket.get_iam_policy(requested_policy_version=3)
policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"allUsers"}})
bucket.set_iam_policy(policy)
try:
    bucket.delete()
    raise SystemExit("a bucket with objects was deleted")
except exceptions.Conflict:
    pass
blob.delete()
bucket.delete()


def service(name, version, prefix):
    return build(
        name,
        version,
        static_discovery=True,
        client_options={"api_endpoint": f"{URL}/{prefix}"},
        http=httplib2.Http(),
    )


file = service("file", "v1", "file/")
shares = file.projects().locations().instances()
try:
    shares.get(name=f"projects/{PROJECT}/locations/{ZONE}/instances/none").execute()
    raise SystemExit("a share that is not there was found")
except HttpError as error:
    assert error.status_code == 404
iam = service("iam", "v1", "iam/")
made = iam.projects().serviceAccounts().create(name=f"projects/{PROJECT}", body={"accountId": "official"}).execute()
assert made["email"].startswith("official@")
crm = service("cloudresourcemanager", "v1", "cloudresourcemanager/")
policy = crm.projects().getIamPolicy(resource=PROJECT, body={}).execute()
policy["bindings"] = [{"role": "roles/viewer", "members": [f"serviceAccount:{made['email']}"]}]
crm.projects().setIamPolicy(resource=PROJECT, body={"policy": policy}).execute()
usage = service("serviceusage", "v1", "serviceusage/")
assert usage.services().list(parent=f"projects/{PROJECT}", filter="state:ENABLED").execute()["services"]
print("OK")
