//! Pages of a list: filter, order, page size, page token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::checking::Body;
use crate::error::ApiError;
use crate::filter::Filter;
use crate::request::Request;

/// The items of one page, and the token of the next.
pub(crate) struct Page {
    pub(crate) items: Vec<Value>,
    pub(crate) next: Option<String>,
}

/// Cuts the page that a request asks for out of all items, which come in order of name.
///
/// `size` names the query parameter of the page's size, its default and its most.
pub(crate) fn page(
    request: &Request,
    items: Vec<Body>,
    size: (&str, usize, usize),
) -> Result<Page, ApiError> {
    let (parameter, default, most) = size;
    let filter = match request.query("filter") {
        None | Some("") => None,
        Some(text) => Some(Filter::parse(text).map_err(|why| {
            ApiError::invalid("filter", text, format!("The filter is wrong: {why}."))
        })?),
    };
    let size = match request.query(parameter) {
        None => default,
        Some(text) => match text.parse::<usize>() {
            Ok(0) => default,
            Ok(size) if size <= most => size,
            Ok(_) if parameter == "pageSize" => most,
            _ => {
                return Err(ApiError::invalid(
                    parameter,
                    text,
                    format!("It must be between 0 and {most}."),
                ));
            }
        },
    };
    let start = match request.query("pageToken") {
        None | Some("") => 0,
        Some(token) => read_token(token).ok_or_else(|| {
            ApiError::invalid("pageToken", token, "It is not a token of this list.")
        })?,
    };
    let mut items: Vec<Body> = items
        .into_iter()
        .filter(|item| filter.as_ref().is_none_or(|filter| filter.accepts(item)))
        .collect();
    match request.query("orderBy") {
        None | Some("" | "name") => {}
        Some("creationTimestamp desc") => items.sort_by(|one, other| {
            let time = |body: &Body| {
                body.get("creationTimestamp")
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            time(other).cmp(&time(one))
        }),
        Some(other) => {
            return Err(ApiError::invalid(
                "orderBy",
                other,
                "It must be name or creationTimestamp desc.",
            ));
        }
    }
    let total = items.len();
    let items: Vec<Value> = items
        .into_iter()
        .skip(start)
        .take(size)
        .map(Value::Object)
        .collect();
    let end = start + items.len();
    Ok(Page {
        items,
        next: (end < total).then(|| URL_SAFE_NO_PAD.encode(format!("after:{end}"))),
    })
}

fn read_token(token: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    text.strip_prefix("after:")?.parse().ok()
}
