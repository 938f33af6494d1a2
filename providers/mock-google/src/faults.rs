//! What goes wrong on purpose, as the scenario says.

use crate::chance;
use crate::error::ApiError;
use crate::operations::OperationError;
use crate::scenario::{Cut, Fault, matches};

/// What the faults of a scenario do to one request.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) delay_ms: u64,
    pub(crate) refusal: Option<ApiError>,
    pub(crate) cut: Option<Cut>,
    pub(crate) operation_error: Option<OperationError>,
}

/// A request as far as faults look at it.
pub(crate) struct Seen<'a> {
    pub(crate) method: &'a str,
    pub(crate) mutating: bool,
    /// Resource path, and the name in the body.
    pub(crate) path: &'a str,
    pub(crate) name: Option<&'a str>,
}

/// Judges a request. `counts` holds how many requests each fault has matched; `chance` is a seed and
/// the number of the request.
pub(crate) fn judge(
    faults: &[Fault],
    counts: &mut [u64],
    seen: &Seen,
    chance: (u64, u64),
) -> Verdict {
    let mut verdict = Verdict::default();
    for (index, (fault, count)) in faults.iter().zip(counts).enumerate() {
        let named = |name: &String| seen.path.ends_with(name.as_str()) || seen.name == Some(name);
        if fault
            .method
            .as_ref()
            .is_some_and(|pattern| !matches(pattern, seen.method))
            || (fault.mutating && !seen.mutating)
            || fault.name.as_ref().is_some_and(|name| !named(name))
        {
            continue;
        }
        *count += 1;
        let from = fault.nth.unwrap_or(1);
        let times = fault
            .times
            .unwrap_or(if fault.nth.is_some() { 1 } else { u64::MAX });
        if *count < from || *count - from >= times {
            continue;
        }
        let (seed, number) = chance;
        if let Some(probability) = fault.probability
            && !chance::happens(
                seed ^ (index as u64 + 1).rotate_left(32),
                number,
                probability,
            )
        {
            continue;
        }
        verdict.delay_ms += fault.delay_ms;
        if let Some(status) = fault.status {
            let (reason, rpc) = names_of(status);
            let mut error = ApiError::new(
                status,
                reason,
                rpc,
                fault
                    .message
                    .clone()
                    .unwrap_or_else(|| format!("The scenario refuses {}.", seen.method)),
            );
            if let Some(own) = &fault.reason {
                error.reason = known(own, reason);
            }
            verdict.refusal.get_or_insert(error);
        }
        verdict.cut = verdict.cut.or(fault.cut);
        if let Some(error) = &fault.operation_error {
            verdict
                .operation_error
                .get_or_insert_with(|| OperationError {
                    code: error.code.clone(),
                    message: if error.message.is_empty() {
                        format!("The scenario lets {} fail.", seen.method)
                    } else {
                        error.message.clone()
                    },
                    http: error.http,
                    http_message: http_name(error.http).to_owned(),
                    rpc: rpc_code(error.http),
                    details: Vec::new(),
                });
        }
    }
    verdict
}

/// Reason and status of a code, where the scenario names none.
fn names_of(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("invalid", "INVALID_ARGUMENT"),
        401 => ("authError", "UNAUTHENTICATED"),
        403 => ("forbidden", "PERMISSION_DENIED"),
        404 => ("notFound", "NOT_FOUND"),
        409 => ("conflict", "ABORTED"),
        412 => ("conditionNotMet", "FAILED_PRECONDITION"),
        429 => ("rateLimitExceeded", "RESOURCE_EXHAUSTED"),
        503 => ("backendError", "UNAVAILABLE"),
        _ => ("internalError", "INTERNAL"),
    }
}

/// The reasons that a scenario may name.
fn known(own: &str, otherwise: &'static str) -> &'static str {
    const REASONS: [&str; 14] = [
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "quotaExceeded",
        "accessNotConfigured",
        "forbidden",
        "resourceNotReady",
        "resourceInUseByAnotherResource",
        "operationInProgress",
        "conditionNotMet",
        "backendError",
        "internalError",
        "alreadyExists",
        "notFound",
        "invalid",
    ];
    REASONS
        .iter()
        .find(|reason| **reason == own)
        .copied()
        .unwrap_or(otherwise)
}

pub(crate) fn http_name(status: u16) -> &'static str {
    match status {
        400 => "BAD REQUEST",
        403 => "FORBIDDEN",
        404 => "NOT FOUND",
        409 => "CONFLICT",
        429 => "TOO MANY REQUESTS",
        503 => "SERVICE UNAVAILABLE",
        _ => "INTERNAL SERVER ERROR",
    }
}

fn rpc_code(status: u16) -> u8 {
    match status {
        400 => 3,
        403 => 7,
        404 => 5,
        409 => 10,
        429 => 8,
        503 => 14,
        _ => 13,
    }
}
