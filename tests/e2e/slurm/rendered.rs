//! The files an example puts into the mock's bucket.

use crate::place::Place;
use serde_json::Value;
use std::path::Path;

/// Applies the example to a mock cloud, with a line of it replaced, and fetches Slurm's files from the
/// bucket into `folder`.
pub fn into(example: &str, (line, new): (&str, &str), folder: &Path) {
    let place = Place::new(example);
    let main = place.root().join("main.tf");
    let text = std::fs::read_to_string(&main).expect("the example");
    assert!(text.contains(line), "{line:?} is not in the example");
    std::fs::write(&main, text.replace(line, new)).expect("the example");
    place.apply();
    let outputs = place.json(&["output", "-mock", "-json"]);
    let files = outputs["slurm_config"]["value"]
        .as_object()
        .expect("the files' places");
    assert_eq!(files.len(), 4, "{files:?}");
    let cloud = place.serve();
    for (name, link) in files {
        let link = link.as_str().expect("a link").strip_prefix("gs://");
        let (bucket, object) = link.and_then(|l| l.split_once('/')).expect("gs://B/O");
        let path = format!(
            "/storage/storage/v1/b/{bucket}/o/{}",
            object.replace('/', "%2F")
        );
        let text = cloud.send("GET", &format!("{path}?alt=media"), None);
        let about: Value = cloud.get(&path);
        assert_eq!(about["size"], text.len().to_string(), "{about:#}");
        std::fs::write(folder.join(name), text).expect("a file");
    }
}
