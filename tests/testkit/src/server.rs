//! A web server on loopback that answers as a test says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// An answer of a server: status, headers, body.
#[derive(Clone, Default)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Headers besides those that every answer has.
    pub headers: Vec<(String, String)>,
    /// The body; not sent with status 204.
    pub body: Vec<u8>,
}

impl Answer {
    /// Status 200 with a body.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// With a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, if its length was told.
    pub body: Vec<u8>,
}

/// A server on loopback, for as long as the test runs.
pub struct Server {
    /// Address and port.
    pub host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Begins to serve; each connection is answered on a thread of its own, once.
    pub fn new(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (log.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut first = String::new();
                    if reader.read_line(&mut first).unwrap_or(0) == 0 {
                        return;
                    }
                    let mut words = first.split(' ').map(str::to_owned);
                    let method = words.next().unwrap_or_default();
                    let path = words.next().unwrap_or_default();
                    let mut headers = BTreeMap::new();
                    loop {
                        let mut line = String::new();
                        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                            break;
                        }
                        if let Some((n, v)) = line.split_once(':') {
                            headers.insert(n.to_ascii_lowercase(), v.trim().to_owned());
                        }
                    }
                    let length = headers.get("content-length");
                    let length = length.and_then(|n| n.parse().ok()).unwrap_or(0);
                    let mut body = vec![0; length];
                    if reader.read_exact(&mut body).is_err() {
                        return;
                    }
                    let request = Asked {
                        method,
                        path,
                        headers,
                        body,
                    };
                    log.lock().unwrap().push(request.clone());
                    let a = answer(&request);
                    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", a.status);
                    for (n, v) in &a.headers {
                        head.push_str(&format!("{n}: {v}\r\n"));
                    }
                    if a.status != 204 {
                        head.push_str(&format!("content-length: {}\r\n", a.body.len()));
                    }
                    head.push_str("\r\n");
                    let mut stream = stream;
                    let _ = stream.write_all(head.as_bytes());
                    let _ = stream.write_all(&a.body);
                });
            }
        });
        Self { host, asked }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}
