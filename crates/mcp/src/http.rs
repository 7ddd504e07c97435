//! Clients over streamable HTTP: with a token, not from a browser page, and only on loopback unless
//! host names are allowed.

use crate::active_sessions::ActiveSessions;
use crate::server::{Server, Shared};
use crate::setup::Setup;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use stickpin_kernel::{Error, Result};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The maximum size of a request in bytes; arguments of ten megabytes fit.
const MAX_BODY: usize = 16 << 20;

/// The maximum number of request bodies read at the same time, which limits their memory.
const MAX_BODIES: usize = 16;

/// How long a client session may be idle: as long as a session of the daemon.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The default time without a connection after which a client counts as disconnected.
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(600);

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The options of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Address and port; port 0 selects a free port.
    pub address: String,
    /// The token that every request must carry: `Authorization: Bearer TOKEN`. Generated if `None`.
    pub token: Option<String>,
    /// Accepted host names of this machine besides those of loopback. Required for listening on an
    /// address outside loopback.
    pub hosts: Vec<String>,
    /// How long a client may be without a connection before its session is closed.
    pub client_timeout: Duration,
}

/// Limits of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time limit for the head of a request and for an idle connection.
    pub(crate) head: Duration,
    /// The time limit for the body of a request.
    pub(crate) body: Duration,
    /// The maximum number of concurrent connections.
    pub(crate) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: Duration::from_secs(30), body: Duration::from_secs(30), connections: 256 }
    }
}

type Service<S> = StreamableHttpService<S, LocalSessionManager>;
type Body = BoxBody<Bytes, Infallible>;

/// Serves until a signal ends it. `ready` receives the URL of the endpoint and the token.
///
/// # Errors
/// Returns `INVALID_ARGS` for an invalid address, or for an address outside loopback if no host
/// name is given. Returns `IO` when the runtime, listening or waiting for signals fails.
pub fn serve_http(setup: Setup, http: &HttpOptions, ready: impl FnOnce(&str, &str)) -> Result<()> {
    let address = address(http)?;
    stickpin_client::runtime()?.block_on(async {
        let failed = |e: std::io::Error| Error::io(format!("cannot listen on {address}: {e}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let signalled = crate::end_signal()?;
        let token = http.token.clone().unwrap_or_else(crate::connection::random_name);
        ready(&format!("http://{}{PATH}", listener.local_addr().map_err(failed)?), &token);

        let shared = Shared::new(setup);
        let shared_state = Arc::clone(&shared);
        let limits = Limits::default();
        let (service, sessions) = service(&http.hosts, move || Server::new(&shared_state, false));
        let gate = RequestGate {
            service,
            expected: format!("Bearer {token}").into(),
            sessions: Arc::default(),
            bodies: Arc::new(Semaphore::new(MAX_BODIES)),
            limits,
        };
        let present = Arc::clone(&gate.sessions);
        let answer = move |request| {
            let gate = gate.clone();
            async move { Ok(gate.answer(request).await) }
        };
        tokio::select! {
            () = accept(&listener, limits, answer) => {}
            () = present.reap_disconnected(&sessions, http.client_timeout) => {}
            () = signalled => {}
        }
        shared.leave_all().await;
        Ok(())
    })
}

fn address(http: &HttpOptions) -> Result<SocketAddr> {
    let bad =
        |why: String| Err(Error::invalid_args(why).hint("for example: `stickpin mcp --http 127.0.0.1:8931`"));
    match http.address.parse::<SocketAddr>() {
        Err(_) => bad(format!("{} is not an address with a port", stickpin_tree::quote(&http.address))),
        Ok(address) if !address.ip().is_loopback() && http.hosts.is_empty() => {
            let why = format!("{address} can be reached from other machines");
            Err(Error::invalid_args(why)
                .hint("pass `--allow-host NAME` with the host name that clients use; anyone with the token can drive your apps"))
        }
        Ok(address) => Ok(address),
    }
}

/// Accepts and serves connections for as long as the future is polled.
pub(crate) async fn accept<F>(
    listener: &TcpListener,
    limits: Limits,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(limits.connections));
    loop {
        match listener.accept().await {
            Ok((mut stream, _)) => {
                let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                    tokio::spawn(async move {
                        // A client that does not read this gets no other answer.
                        let _ =
                            timeout(Duration::from_secs(1), stream.write_all(SERVER_FULL.as_bytes())).await;
                    });
                    continue;
                };
                let answer = answer.clone();
                tokio::spawn(async move {
                    let _place = place;
                    let served = hyper::server::conn::http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(limits.head)
                        // A client may close its sending side and wait for the answer.
                        .half_close(true)
                        .serve_connection(TokioIo::new(stream), service_fn(answer));
                    if let Err(e) = served.await {
                        tracing::debug!("a connection ended: {e}");
                    }
                });
            }
            // No file descriptor is free, or the client disconnected. The next `accept` may
            // succeed.
            Err(e) => {
                tracing::warn!("accept: {e}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// The answer to a connection above the limit.
const SERVER_FULL: &str =
    "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\nretry-after: 5\r\n\r\n";

/// Creates the HTTP service, with a handler for each client session, and the manager of these
/// sessions. `hosts` are names of this machine besides those of loopback.
pub(crate) fn service<S: ServerHandler>(
    hosts: &[String],
    make: impl Fn() -> S + Send + Sync + 'static,
) -> (Service<S>, Arc<LocalSessionManager>) {
    let mut allowed = StreamableHttpServerConfig::default().allowed_hosts;
    allowed.extend(hosts.iter().cloned());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(allowed)
        // No browser page may be a client, least of all a page that is being driven.
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_BODY);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    let sessions = Arc::new(sessions);
    (StreamableHttpService::new(move || Ok(make()), Arc::clone(&sessions), config), sessions)
}

/// Checks requests before they reach the protocol.
#[derive(Clone)]
struct RequestGate {
    service: Service<Server>,
    expected: Arc<str>,
    sessions: Arc<ActiveSessions>,
    bodies: Arc<Semaphore>,
    limits: Limits,
}

impl RequestGate {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let authorization = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if !authorization.is_some_and(|given| constant_time_eq(given, self.expected.as_bytes())) {
            let mut refused = text_response(
                StatusCode::UNAUTHORIZED,
                "a bearer token is required; send `Authorization: Bearer TOKEN`",
            );
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        }
        if request.uri().path() != PATH {
            return text_response(StatusCode::NOT_FOUND, "the endpoint is /mcp");
        }
        let session = session(request.headers());
        let open_request = session.as_deref().and_then(|session| self.sessions.enter(session, false));
        let is_delete = request.method() == Method::DELETE;
        let request = match read_body(request, &self.bodies, self.limits.body).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
        let json = request.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON));
        let mut response = self.service.handle(request).await;
        // JSON that is not a protocol message is a bad request, although its content type is
        // correct.
        if json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            *response.status_mut() = StatusCode::BAD_REQUEST;
        }
        if let (true, Some(session)) = (is_delete, &session) {
            self.sessions.remove(session);
        }
        let new_session = crate::http::session(response.headers()).filter(|_| session.is_none());
        match open_request.or_else(|| self.sessions.enter(new_session.as_deref()?, true)) {
            Some(here) => response.map(|body| {
                // The client counts as connected until the answer is fully read or the connection
                // ends.
                body.map_frame(move |frame| {
                    let _ = &here;
                    frame
                })
                .boxed()
            }),
            None => response,
        }
    }
}

/// The content type of messages.
const JSON: &[u8] = b"application/json";

/// Returns the name of the client session that a request belongs to, if it names one.
fn session(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

/// Reads the whole body of a request. Rejects a body that is too large, incomplete or late, and a
/// `POST` message whose content type is JSON but whose body is not.
async fn read_body(
    request: Request<Incoming>,
    bodies: &Semaphore,
    limit: Duration,
) -> Result<Request<Full<Bytes>>, Response<Body>> {
    let (head, body) = request.into_parts();
    let read = async {
        let _turn = bodies.acquire().await.map_err(|e| e.to_string())?;
        Limited::new(body, MAX_BODY).collect().await.map_err(|e| e.to_string())
    };
    let body = match timeout(limit, read).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(why)) if why.contains("length limit") => {
            return Err(text_response(StatusCode::PAYLOAD_TOO_LARGE, "the body exceeds 16 MiB"));
        }
        Ok(Err(_)) => {
            return Err(text_response(StatusCode::BAD_REQUEST, "the body is incomplete"));
        }
        Err(_) => {
            let mut timed_out = text_response(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
            timed_out.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return Err(timed_out);
        }
    };
    let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON));
    if head.method == Method::POST
        && is_json
        && let Err(e) = serde_json::from_slice::<IgnoredAny>(&body)
    {
        let error = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": -32700, "message": format!("the body is not JSON: {e}") },
        });
        let mut response = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Err(response);
    }
    Ok(Request::from_parts(head, Full::new(body)))
}

fn text_response(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Compares in constant time for equal lengths: a near miss takes as long as a match.
fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests;
