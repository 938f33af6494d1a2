//! Whether an object that was found is the one that we asked for.
//!
//! After a crash or a cut connection the object of the right name is there. It is ours if nothing in
//! it contradicts what we sent: servers add fields, drop zeros and write links in full, so only
//! contradictions count.

use serde_json::Value as Json;

use crate::names;

/// The first field of `sent` that the object contradicts, as a dotted path; `None` if there is none.
pub(crate) fn contradiction(object: &Json, sent: &Json) -> Option<String> {
    let mut path = Vec::new();
    differs(object, sent, false, &mut path).then(|| path.join("."))
}

/// Whether a change that was sent shows in the object: here what is absent counts too.
pub(crate) fn shows(object: &Json, sent: &Json) -> bool {
    !differs(object, sent, true, &mut Vec::new())
}

fn is_nothing(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Bool(b) => !b,
        Json::Number(n) => n.as_f64() == Some(0.0),
        Json::String(s) => s.is_empty(),
        Json::Array(a) => a.is_empty(),
        Json::Object(o) => o.values().all(is_nothing),
    }
}

fn differs(object: &Json, sent: &Json, strict: bool, path: &mut Vec<String>) -> bool {
    match (object, sent) {
        // Absent: zeros and what is only taken are not given back.
        (Json::Null, sent) => strict && !is_nothing(sent),
        (object, Json::Null) => strict && !is_nothing(object),
        (Json::Object(object), Json::Object(sent)) => {
            for (key, value) in sent {
                // Not part of the object, though sent with it.
                if matches!(
                    key.as_str(),
                    "params" | "initializeParams" | "rawKey" | "fingerprint"
                ) {
                    continue;
                }
                path.push(key.clone());
                if differs(object.get(key).unwrap_or(&Json::Null), value, strict, path) {
                    return true;
                }
                path.pop();
            }
            false
        }
        (Json::Array(object), Json::Array(sent)) => {
            if object.len() < sent.len() {
                return strict || !object.is_empty();
            }
            for (i, value) in sent.iter().enumerate() {
                let at_place = object
                    .get(i)
                    .is_some_and(|o| !differs(o, value, strict, &mut Vec::new()));
                if !at_place
                    && object
                        .iter()
                        .all(|o| differs(o, value, strict, &mut Vec::new()))
                {
                    path.push(i.to_string());
                    return true;
                }
            }
            false
        }
        (object, sent) => !same_scalar(object, sent),
    }
}

fn same_scalar(a: &Json, b: &Json) -> bool {
    if a == b {
        return true;
    }
    let text = |j: &Json| match j {
        Json::String(s) => Some(s.clone()),
        Json::Number(n) => Some(n.to_string()),
        Json::Bool(b) => Some(b.to_string()),
        _ => None,
    };
    match (text(a), text(b)) {
        (Some(a), Some(b)) => {
            a.eq_ignore_ascii_case(&b)
                || names::same_link_or_name(&a, &b)
                || a.is_empty()
                || b.is_empty()
        }
        // A shape that does not compare says nothing.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_contradictions_count() {
        let object = json!({
            "name": "n", "mtu": 8896, "selfLink": "https://x/compute/v1/projects/p/global/networks/n",
            "network": "https://www.googleapis.com/compute/v1/projects/p/global/networks/v",
            "sizeGb": "10", "nics": [{"name": "nic0", "nicType": "GVNIC"}, {"nicType": "MRDMA"}]});
        let yes = json!({"name": "n", "mtu": 8896, "autoCreate": false, "network": "projects/p/global/networks/v",
            "sizeGb": 10, "nics": [{"nicType": "GVNIC"}, {"nicType": "MRDMA"}], "description": null});
        assert_eq!(contradiction(&object, &yes), None);
        assert_eq!(
            contradiction(&object, &json!({"mtu": 1460})),
            Some("mtu".into())
        );
        let other = json!({"nics": [{"nicType": "GVNIC"}, {"nicType": "IRDMA"}]});
        assert_eq!(contradiction(&object, &other), Some("nics.1".into()));
        assert!(shows(
            &object,
            &json!({"mtu": 8896, "description": null, "fingerprint": "x"})
        ));
        assert!(!shows(&object, &json!({"description": "d"})));
    }
}
