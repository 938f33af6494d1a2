//! The HTTP server: one port of the loopback interface, every service, and the control pages.

use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri, header};
use axum::serve::{IncomingStream, Listener};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::cloud::{Cloud, Incoming, Outcome};
use crate::control;
use crate::error::ApiError;
use crate::request::Answer;

/// How often a waiting `wait` looks at the clock at least, should the clock not be the real one.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What stands in the place of `https://SERVICE.googleapis.com/`: see [`crate::endpoint`].
    #[must_use]
    pub fn endpoint(&self, service: &str) -> String {
        crate::endpoint(&self.url(), service)
    }

    /// Stops listening, lets running requests end (for a second at most), gives the world free.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if tokio::time::timeout(Duration::from_secs(1), &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves a cloud. `process` is told to others in `serve.json`.
pub(crate) async fn serve(
    cloud: Arc<Cloud>,
    listen: SocketAddr,
    process: u32,
) -> io::Result<Server> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    cloud.announce(address, process)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let router = Router::new()
        .fallback(handle)
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(&cloud))
        .into_make_service_with_connect_info::<Scissors>();
    let task = tokio::spawn(async move {
        let serving = axum::serve(CuttableListener(listener), router)
            .with_graceful_shutdown(async {
                let _ = stopped.await;
            })
            .into_future();
        let _ = serving.await;
        cloud.withdraw();
    });
    Ok(Server {
        address,
        stop: Some(stop),
        task,
    })
}

async fn handle(
    State(cloud): State<Arc<Cloud>>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let text = |name: header::HeaderName| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let incoming = Incoming {
        http: method.as_str().to_owned(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        host: text(header::HOST),
        content_type: text(header::CONTENT_TYPE).unwrap_or_default(),
        content_range: text(header::CONTENT_RANGE),
        no_308: headers.contains_key("x-guploader-no-308"),
        upload_type: text(header::HeaderName::from_static("x-upload-content-type")),
        body: body.to_vec(),
    };
    if let Some(page) = control::page(&cloud, &incoming) {
        return page;
    }
    let admitted = cloud.admit(&incoming);
    if admitted.delay_ms() > 0 {
        tokio::time::sleep(Duration::from_millis(admitted.delay_ms())).await;
    }
    // journals are written with the world's lock held; keep the runtime's workers free of it
    let playing = Arc::clone(&cloud);
    let Ok(outcome) =
        tokio::task::spawn_blocking(move || playing.execute(admitted, incoming)).await
    else {
        return scissors.cut();
    };
    if outcome.cut {
        cloud.record(outcome.into_line(), None);
        return scissors.cut();
    }
    let response = answer(&cloud, &outcome).await;
    cloud.record(outcome.into_line(), Some(response.status().as_u16()));
    response
}

async fn answer(cloud: &Cloud, outcome: &Outcome) -> Response<Body> {
    match &outcome.result {
        Ok(Answer::Json(value)) => json(StatusCode::OK, value),
        Ok(Answer::Empty) => respond(StatusCode::NO_CONTENT, Vec::new(), &[]),
        Ok(Answer::Content {
            content_type,
            bytes,
            headers,
        }) => {
            let mut all = vec![("content-type", content_type.clone())];
            all.extend(headers.iter().cloned());
            respond(StatusCode::OK, bytes.clone(), &all)
        }
        Ok(Answer::Session { address }) => {
            respond(StatusCode::OK, Vec::new(), &[("location", address.clone())])
        }
        Ok(Answer::More { received, no_308 }) => {
            let mut all = Vec::new();
            if let Some(last) = received.checked_sub(1) {
                all.push(("range", format!("bytes=0-{last}")));
            }
            let status = if *no_308 {
                all.push(("x-http-status-code-override", "308".to_owned()));
                StatusCode::OK
            } else {
                StatusCode::PERMANENT_REDIRECT
            };
            respond(status, Vec::new(), &all)
        }
        Ok(Answer::Wait { key }) => wait(cloud, key, outcome.seq()).await,
        Err((error, service)) => failure(error, service),
    }
}

/// Answers an operation when it is done, or as it is when the patience is at an end.
async fn wait(cloud: &Cloud, key: &str, seq: u64) -> Response<Body> {
    let mut patience = Duration::from_millis(cloud.patience(seq));
    loop {
        let Some((shown, left)) = cloud.look(key) else {
            return failure(&ApiError::not_found(key), "compute");
        };
        match left {
            Some(left) if !patience.is_zero() => {
                let nap = Duration::from_millis(left.max(1))
                    .min(LOOK_EVERY)
                    .min(patience);
                patience -= nap;
                tokio::time::sleep(nap).await;
            }
            _ => return json(StatusCode::OK, &shown),
        }
    }
}

fn failure(error: &ApiError, service: &str) -> Response<Body> {
    let status = StatusCode::from_u16(error.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(status, &error.body(service))
}

pub(crate) fn json(status: StatusCode, value: &Value) -> Response<Body> {
    respond(
        status,
        value.to_string().into_bytes(),
        &[("content-type", "application/json; charset=UTF-8".to_owned())],
    )
}

fn respond(
    status: StatusCode,
    bytes: Vec<u8>,
    headers: &[(&'static str, String)],
) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    for (name, value) in headers {
        if let Ok(value) = header::HeaderValue::from_str(value) {
            response.headers_mut().insert(*name, value);
        }
    }
    response
}

/// Cuts its connection: nothing more is written to it.
#[derive(Debug, Clone)]
struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// What is answered here never leaves: the connection fails at its first byte.
    fn cut(&self) -> Response<Body> {
        self.0.store(true, Ordering::SeqCst);
        Response::new(Body::empty())
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Scissors {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        stream.io().scissors.clone()
    }
}

struct CuttableListener(TcpListener);

impl Listener for CuttableListener {
    type Io = Cuttable;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        let _ = stream.set_nodelay(true);
        (
            Cuttable {
                stream,
                scissors: Scissors(Arc::default()),
            },
            address,
        )
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// A connection that can be cut before the next byte is written.
struct Cuttable {
    stream: TcpStream,
    scissors: Scissors,
}

impl Cuttable {
    fn check(&self) -> io::Result<()> {
        if self.scissors.0.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
