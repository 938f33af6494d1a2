//! The client against a scripted server.
#![allow(clippy::unwrap_used)] // helpers of tests, not tests themselves

use std::time::Duration;

use formwork_google_client::{
    Client, ClientConfig, Credentials, ErrorKind, Listing, Method, Operation, OperationKind,
    Request, RetryPolicy,
};
use serde_json::json;
use wiremock::matchers::{header, method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

async fn server_and_client() -> (MockServer, Client) {
    let server = MockServer::start().await;
    let mut config = ClientConfig::mock(&server.uri());
    config.retry = RetryPolicy {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(5),
        budget: Duration::from_secs(5),
        busy_budget: Duration::from_secs(5),
    };
    config.credentials = Credentials::token("tok");
    let client = Client::new(config).unwrap();
    (server, client)
}

fn refusal(code: u16, reason: &str) -> ResponseTemplate {
    ResponseTemplate::new(code).set_body_json(json!({"error": {"code": code, "message": reason,
        "errors": [{"reason": reason, "message": reason, "domain": "global"}]}}))
}

const NETWORKS: &str = "compute/v1/projects/p/global/networks";

fn at(p: &str) -> wiremock::matchers::PathExactMatcher {
    path(format!("/compute/{p}"))
}

#[tokio::test]
async fn what_was_refused_without_effect_is_sent_again() {
    let cases = [
        // (method, status, reason, sent in all, ends well)
        (Method::Post, 403, "rateLimitExceeded", 2, true),
        (Method::Post, 400, "resourceNotReady", 2, true),
        (Method::Post, 503, "backendError", 1, false),
        (Method::Get, 503, "backendError", 2, true),
        (Method::Post, 409, "alreadyExists", 1, false),
        (Method::Delete, 500, "internal", 1, false),
        (Method::Get, 404, "notFound", 1, false),
    ];
    for (verb, status, reason, sent, well) in cases {
        let (server, client) = server_and_client().await;
        Mock::given(at(NETWORKS))
            .respond_with(refusal(status, reason))
            .up_to_n_times(1)
            .mount(&server)
            .await;
        Mock::given(at(NETWORKS))
            .and(header("authorization", "Bearer tok"))
            .respond_with(ResponseTemplate::new(200).set_body_json(json!({"name": "op"})))
            .mount(&server)
            .await;
        let got = client.send(&Request::new(verb, "compute", NETWORKS)).await;
        assert_eq!(got.is_ok(), well, "{reason}");
        assert_eq!(
            server.received_requests().await.unwrap().len(),
            sent,
            "{reason}"
        );
        if let Err(e) = got {
            assert_eq!(e.outcome_known(), status < 500, "{reason}");
            assert!(e.request.ends_with("global/networks"));
        }
    }
}

#[tokio::test]
async fn no_connection_means_nothing_was_sent_and_a_cut_one_means_nobody_knows() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let mut config = ClientConfig::mock(&base);
    config.retry.budget = Duration::ZERO;
    let client = Client::new(config).unwrap();
    let cut = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut bytes = [0u8; 64];
        let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut bytes).await;
        drop(socket);
        drop(listener);
    });
    let post = Request::new(Method::Post, "compute", NETWORKS).json(json!({"name": "n"}));
    let e = client.send(&post).await.unwrap_err();
    assert_eq!((e.kind, e.outcome_known()), (ErrorKind::Cut, false), "{e}");
    cut.await.unwrap();
    let e = client.send(&post).await.unwrap_err();
    assert_eq!(
        (e.kind, e.outcome_known()),
        (ErrorKind::Unreachable, true),
        "{e}"
    );
    assert!(!format!("{e:?}").contains("tok"));
}

#[tokio::test]
async fn operations_are_awaited() {
    let (server, client) = server_and_client().await;
    let op_path = "compute/v1/projects/p/global/operations/op1";
    Mock::given(method("POST"))
        .and(at(&format!("{op_path}/wait")))
        .respond_with(
            ResponseTemplate::new(200).set_body_json(json!({"name": "op1", "status": "RUNNING"})),
        )
        .up_to_n_times(2)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(at(&format!("{op_path}/wait")))
        .respond_with(
            ResponseTemplate::new(200).set_body_json(json!({"name": "op1", "status": "DONE"})),
        )
        .mount(&server)
        .await;
    let insert = Request::new(Method::Post, "compute", NETWORKS);
    let first = json!({"name": "op1", "status": "RUNNING"});
    let op = Operation::from_answer(OperationKind::Compute, &insert, &first).unwrap();
    let begun = std::time::Instant::now();
    let body = client
        .wait(&op, Some(&first), Duration::from_secs(10))
        .await
        .unwrap();
    assert_eq!(body["status"], "DONE");
    // The floor: two answers that came at once cost a pause each.
    assert!(begun.elapsed() >= Duration::from_millis(350));
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
    // Done in the first answer: nothing is asked.
    let done = json!({"name": "op1", "status": "DONE"});
    client.wait(&op, Some(&done), Duration::ZERO).await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
    let late = client.wait(&op, None, Duration::ZERO).await.unwrap_err();
    assert_eq!(late.kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn lists_are_read_to_their_end() {
    let (server, client) = server_and_client().await;
    Mock::given(at(NETWORKS))
        .and(query_param("pageToken", "t"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"items": [{"name": "b"}]})))
        .mount(&server)
        .await;
    Mock::given(at(NETWORKS))
        .and(query_param_is_missing("pageToken"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!({"items": [{"name": "a"}], "nextPageToken": "t"})),
        )
        .mount(&server)
        .await;
    let listed = client
        .list(
            &Request::get("compute", NETWORKS),
            &Listing::Array("items".into()),
        )
        .await
        .unwrap();
    assert_eq!(listed.items, [json!({"name": "a"}), json!({"name": "b"})]);
    assert!(listed.incomplete.is_empty());
}
