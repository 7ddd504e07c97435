//! Routes requests and answers them.

use crate::acts::{self, Act, ActAnswer};
use crate::board::Board;
use crate::bundle;
use crate::gate::{Gate, KEY_HEADER, Refusal, Role, Visit};
use crate::remote::Remote;
use crate::server::Body;
use crate::{past, stream};
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The maximum number of viewers.
const MAX_VIEWERS: usize = 50;

/// The maximum size of an action, in bytes.
const MAX_BODY: usize = 64 << 10;

/// The time limit for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The content security policy: only our own files may run, and nothing may be sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// The state with which requests are answered.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) gate: Arc<Gate>,
    pub(crate) board: Arc<Board>,
    pub(crate) remote: Remote,
}

impl Site {
    /// Answers one request.
    pub(crate) async fn answer(self, request: Request<Incoming>) -> Response<Body> {
        let mut response = self.route(request).await.unwrap_or_else(refuse);
        let headers = response.headers_mut();
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            (REFERRER_POLICY, "no-referrer"),
            (CACHE_CONTROL, "no-store"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        self.gate.check(request.method(), request.headers())?;
        let path = request.uri().path().to_owned();
        let (key, token) = (parameter(&request, "key"), parameter(&request, "token"));
        let header = request.headers().get(KEY_HEADER).and_then(|value| value.to_str().ok());
        let proven = || self.gate.visit_with_key(request.headers(), key.as_deref().or(header));
        match (request.method().clone(), path.as_str()) {
            (Method::GET, "/") => match token {
                Some(token) => self.enter(&token),
                None => {
                    self.gate.visit(request.headers()).map(|_| answer(StatusCode::OK, HTML, bundle::page("")))
                }
            },
            (Method::GET, "/stream") => proven().map(|_| self.stream()),
            (Method::GET, path) if path.starts_with("/picture/") => {
                proven()?;
                let picture = path.rsplit('/').next().and_then(|name| self.board.picture(name));
                Ok(picture.map_or_else(missing, picture_answer))
            }
            (Method::GET, path) if path.starts_with("/step/") => {
                proven()?;
                let number = path.rsplit('/').next().unwrap_or_default().parse().ok();
                let step = match number {
                    Some(command) => past::show(command, &self.board, &self.remote).await,
                    None => None,
                };
                Ok(step.map_or_else(missing, |step| answer(StatusCode::OK, JSON, step.to_string())))
            }
            (Method::POST, "/act") => {
                let visit = proven()?;
                self.act(visit, request).await
            }
            (Method::POST, "/invite") => {
                operator(&proven()?)?;
                let link = json!({ "link": self.gate.invite(Role::Viewer) });
                Ok(answer(StatusCode::OK, JSON, link.to_string()))
            }
            (Method::GET, path) => Ok(bundle::asset(path)
                .map_or_else(missing, |asset| answer(StatusCode::OK, asset.kind, asset.text))),
            _ => Ok(missing()),
        }
    }

    /// Admits a browser that has a token, and returns the page.
    fn enter(&self, token: &str) -> Result<Response<Body>, Refusal> {
        let visit = self.gate.admit(token)?;
        let mut response = answer(StatusCode::OK, HTML, bundle::page(&visit.key));
        // The value has only letters, digits and our own punctuation.
        if let Ok(cookie) = HeaderValue::from_str(&self.gate.set_cookie(&visit)) {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        Ok(response)
    }

    fn stream(&self) -> Response<Body> {
        let Some(viewer) = self.board.enter(MAX_VIEWERS) else {
            return answer(
                StatusCode::SERVICE_UNAVAILABLE,
                TEXT,
                format!("{MAX_VIEWERS} viewers are already watching"),
            );
        };
        let body = StreamBody::new(stream::events(viewer));
        with_kind(Response::new(body.boxed_unsync()), "text/event-stream")
    }

    async fn act(&self, visit: Visit, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        operator(&visit)?;
        let body = timeout(BODY_TIMEOUT, Limited::new(request.into_body(), MAX_BODY).collect()).await;
        let act = match body {
            Ok(Ok(body)) => serde_json::from_slice::<Act>(&body.to_bytes()).map_err(|e| e.to_string()),
            Ok(Err(e)) => Err(e.to_string()),
            Err(_) => {
                return Ok(answer(StatusCode::REQUEST_TIMEOUT, TEXT, "the body did not arrive in time"));
            }
        };
        let act = match act {
            Ok(act) => act,
            Err(why) => {
                return Ok(answer(StatusCode::BAD_REQUEST, TEXT, format!("cannot read the action: {why}")));
            }
        };
        let done = acts::perform(act, &self.board, &self.remote).await.unwrap_or_else(ActAnswer::from);
        Ok(answer(StatusCode::OK, JSON, json!(done).to_string()))
    }
}

fn operator(visit: &Visit) -> Result<(), Refusal> {
    if visit.role == Role::Operator { Ok(()) } else { Err(Refusal::Role) }
}

/// Returns a parameter of the query string.
fn parameter(request: &Request<Incoming>, name: &str) -> Option<String> {
    let query = request.uri().query()?;
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn refuse(refusal: Refusal) -> Response<Body> {
    let why = match refusal {
        Refusal::Host => "the Host header must name this address and port",
        Refusal::Origin => "requests from other pages are refused",
        Refusal::Token => "this link is invalid or has been used; `stickpin watch` prints a new one",
        Refusal::Visit => "open the link that `stickpin watch` printed",
        Refusal::Role => "with this link, you can only watch",
    };
    answer(StatusCode::FORBIDDEN, TEXT, why)
}

fn missing() -> Response<Body> {
    answer(StatusCode::NOT_FOUND, TEXT, "there is no such page")
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()).boxed_unsync());
    *response.status_mut() = status;
    with_kind(response, kind)
}

/// Answers with a picture, which is a PNG or a JPEG.
fn picture_answer(image: Bytes) -> Response<Body> {
    let kind = if image.starts_with(b"\xff\xd8") { "image/jpeg" } else { "image/png" };
    answer(StatusCode::OK, kind, image)
}

fn with_kind(mut response: Response<Body>, kind: &'static str) -> Response<Body> {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
