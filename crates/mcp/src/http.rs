//! Clients over streamable HTTP: on loopback, with a token, and for no browser page.

use crate::server::{Server, Shared};
use crate::setup::Setup;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use stickpin_kernel::{Error, ErrorCode, Result};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// The largest request: arguments of ten megabytes fit.
const MAX_BODY: usize = 16 << 20;

/// How long a client session lives without a word; as long as a session of the daemon.
const IDLE: Duration = Duration::from_secs(3_600);

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// Where and for whom to listen.
#[derive(Debug, Clone)]
pub struct Http {
    /// Address and port; port 0 takes a free one.
    pub address: String,
    /// What every request has to carry: `Authorization: Bearer TOKEN`. Made up if none is given.
    pub token: Option<String>,
    /// Names under which this machine may be asked besides those of loopback. Needed to listen anywhere else.
    pub hosts: Vec<String>,
}

type Service<S> = StreamableHttpService<S, LocalSessionManager>;
type Body = BoxBody<Bytes, Infallible>;

/// Serves until a signal ends it. `ready` is told the address and the token.
///
/// # Errors
/// `INVALID_ARGS` for an address that is none, or not on loopback without a host name; `IO`.
pub fn serve_http(setup: Setup, http: &Http, ready: impl FnOnce(&str, &str)) -> Result<()> {
    let address = address(http)?;
    crate::runtime()?.block_on(async {
        let failed =
            |e: std::io::Error| Error::new(ErrorCode::Io, format!("could not listen at {address}: {e}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let token = http.token.clone().unwrap_or_else(crate::connection::fresh_name);
        ready(&format!("http://{}{PATH}", listener.local_addr().map_err(failed)?), &token);

        let shared = Shared::new(setup);
        let made = Arc::clone(&shared);
        let service = service(&http.hosts, move || Server::new(&made, false));
        let expected: Arc<str> = format!("Bearer {token}").into();
        let answer = move |request| {
            let (service, expected) = (service.clone(), Arc::clone(&expected));
            async move { answer(&service, &expected, request).await }
        };
        tokio::select! {
            () = accept(&listener, answer) => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        shared.leave_all().await;
        Ok(())
    })
}

fn address(http: &Http) -> Result<SocketAddr> {
    let bad =
        |why: String| Err(Error::new(ErrorCode::InvalidArgs, why).hint("stickpin mcp --http 127.0.0.1:8931"));
    match http.address.parse::<SocketAddr>() {
        Err(_) => bad(format!("{} is no address with a port", stickpin_tree::quote(&http.address))),
        Ok(address) if !address.ip().is_loopback() && http.hosts.is_empty() => {
            let why = format!("{address} can be reached from other machines");
            Err(Error::new(ErrorCode::InvalidArgs, why)
                .hint("name the host that clients ask for: --allow-host NAME; whoever has the token drives your apps"))
        }
        Ok(address) => Ok(address),
    }
}

/// Serves whoever connects, for as long as it is waited for.
pub(crate) async fn accept<F>(
    listener: &TcpListener,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let answer = answer.clone();
                tokio::spawn(async move {
                    let served = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service_fn(answer));
                    if let Err(e) = served.await {
                        tracing::debug!("a connection ended: {e}");
                    }
                });
            }
            // No file descriptor is free, or the peer went: the next one may be luckier.
            Err(e) => {
                tracing::warn!("accept: {e}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// The protocol over HTTP, with a handler for each client session. `hosts` are names of this machine besides loopback's.
pub(crate) fn service<S: ServerHandler>(
    hosts: &[String],
    make: impl Fn() -> S + Send + Sync + 'static,
) -> Service<S> {
    let mut allowed = StreamableHttpServerConfig::default().allowed_hosts;
    allowed.extend(hosts.iter().cloned());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(allowed)
        // No page of a browser is a client, those that are driven least of all.
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_BODY);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    StreamableHttpService::new(move || Ok(make()), Arc::new(sessions), config)
}

async fn answer(
    service: &Service<Server>,
    expected: &str,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
    if !given.is_some_and(|given| same(given, expected.as_bytes())) {
        let mut refused =
            plain(StatusCode::UNAUTHORIZED, "a bearer token is needed: Authorization: Bearer TOKEN");
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Ok(refused);
    }
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "the endpoint is /mcp"));
    }
    Ok(service.handle(request).await)
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Takes as long for a near miss as for a hit.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
