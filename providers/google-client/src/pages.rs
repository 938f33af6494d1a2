//! Whole lists, page by page.

use serde_json::Value;

use crate::client::Client;
use crate::error::GoogleError;
use crate::request::Request;

/// Where the items of a list are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// An array under this key: `items`, `instances`.
    Array(String),
    /// compute's aggregatedList: `items` maps a scope (`zones/z`) to an object that has the array
    /// under this key.
    Aggregated(String),
}

/// A list as far as it could be had.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// The items, in the service's order.
    pub items: Vec<Value>,
    /// Scopes that did not answer (`unreachable`, `missingZones`, warnings). When there is one, the
    /// absence of an object from `items` says nothing.
    pub incomplete: Vec<String>,
}

impl Client {
    /// Reads all pages of a list.
    ///
    /// # Errors
    /// The first refusal; nothing is returned of a list that broke off.
    pub async fn list(&self, request: &Request, at: &Listing) -> Result<Listed, GoogleError> {
        let mut listed = Listed::default();
        let mut page = request.clone();
        loop {
            let mut body = self.send(&page).await?.body;
            listed.take(&mut body, at);
            let token = body
                .get("nextPageToken")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if token.is_empty() {
                return Ok(listed);
            }
            page.query.retain(|(name, _)| name != "pageToken");
            page.query.push(("pageToken".to_owned(), token.to_owned()));
        }
    }
}

impl Listed {
    fn take(&mut self, body: &mut Value, at: &Listing) {
        for key in ["unreachable", "unreachables", "missingZones"] {
            if let Some(scopes) = body.get(key).and_then(Value::as_array) {
                self.incomplete
                    .extend(scopes.iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
        match at {
            Listing::Array(key) => {
                if let Some(Value::Array(items)) = body.get_mut(key) {
                    self.items.append(items);
                }
                self.warned("list", body);
            }
            Listing::Aggregated(key) => {
                let Some(Value::Object(scopes)) = body.get_mut("items") else {
                    return;
                };
                for (scope, part) in scopes.iter_mut() {
                    if let Some(Value::Array(items)) = part.get_mut(key) {
                        self.items.append(items);
                    }
                    self.warned(scope, part);
                }
            }
        }
    }

    fn warned(&mut self, scope: &str, part: &Value) {
        if let Some(code) = part
            .get("warning")
            .and_then(|w| w.get("code"))
            .and_then(Value::as_str)
            && !matches!(code, "NO_RESULTS_ON_PAGE" | "")
        {
            self.incomplete.push(scope.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn partial_lists_say_so() {
        let mut listed = Listed::default();
        let mut body = json!({"items": {
            "zones/a": {"instances": [{"name": "x"}]},
            "zones/b": {"warning": {"code": "NO_RESULTS_ON_PAGE"}},
            "zones/c": {"warning": {"code": "UNREACHABLE"}}}});
        listed.take(&mut body, &Listing::Aggregated("instances".into()));
        assert_eq!(listed.items.len(), 1);
        assert_eq!(listed.incomplete, ["zones/c"]);
        listed.take(
            &mut json!({"instances": [{}], "unreachable": ["l"]}),
            &Listing::Array("instances".into()),
        );
        assert_eq!((listed.items.len(), listed.incomplete.len()), (2, 2));
    }
}
