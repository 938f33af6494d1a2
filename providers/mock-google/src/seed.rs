//! The first objects of a world, made the way a client would make them, but at once and for good.

use serde_json::json;

use crate::catalogue::object;
use crate::cloud::{Access, Cloud};
use crate::dispatch;
use crate::store::{Change, Object};

/// Makes the scenario's projects, services and objects in an empty world.
pub(crate) fn sow(cloud: &Cloud, access: &mut Access) -> Result<(), String> {
    let scenario = cloud.scenario();
    let mut changes = Vec::new();
    for project in &scenario.projects {
        let body = object(json!({
            "projectId": project.id, "projectNumber": project.number, "name": project.name,
            "lifecycleState": "ACTIVE", "createTime": "2026-01-01T00:00:00.000Z",
        }));
        changes.push(Change::Put {
            key: format!("cloudresourcemanager/projects/{}", project.id),
            object: seeded(Object {
                collection: "cloudresourcemanager.projects".to_owned(),
                body,
                hidden: Default::default(),
                pending: None,
            }),
        });
        for service in &project.services {
            let (key, object) = crate::service_usage::service(project, service, true);
            changes.push(Change::Put {
                key,
                object: seeded(object),
            });
        }
    }
    access.now();
    let next = access.next();
    access
        .commit(changes, next, None)
        .map_err(|error| error.message)?;
    for seed in &scenario.objects {
        let request = cloud.own_request(&seed.method, &seed.parameters, &seed.body)?;
        let (made, next) = access
            .try_run(&request)
            .map_err(|error| format!("{}: {}", seed.method, error.message))?;
        let mut changes = Vec::new();
        for change in made {
            match change {
                Change::Put { key, object } => changes.push(Change::Put {
                    key,
                    object: seeded(object),
                }),
                Change::Begin { operation, .. } => {
                    if let Some(error) = operation.error {
                        return Err(format!("{}: {}", seed.method, error.message));
                    }
                    changes.extend(operation.effects);
                }
                other => changes.push(other),
            }
        }
        let first = changes.iter().find_map(|change| match change {
            Change::Put { key, .. } => Some(key.clone()),
            _ => None,
        });
        if let Some(key) = first.filter(|_| !seed.blocks.is_empty()) {
            changes.extend(
                dispatch::reservation_blocks(&key, &seed.blocks)
                    .into_iter()
                    .map(|change| match change {
                        Change::Put { key, object } => Change::Put {
                            key,
                            object: seeded(object),
                        },
                        other => other,
                    }),
            );
        }
        access
            .commit(changes, next, None)
            .map_err(|error| error.message)?;
    }
    access.sown().map_err(|error| error.to_string())
}

fn seeded(mut object: Object) -> Object {
    object.hidden.insert("seeded".into(), true.into());
    object
}
