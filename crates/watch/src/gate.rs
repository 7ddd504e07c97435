//! Access control: one-time tokens, visits, and the headers that a browser sends truthfully.
//!
//! The page of a driven app may run in the same browser as ours, and may know our port. However, it
//! cannot send a `Host` other than the name it used, omit `Origin` from a POST request, or read the
//! key of a visit, which only our page keeps.

use hyper::Method;
use hyper::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::net::SocketAddr;

/// The maximum number of unused tokens. The oldest is dropped first.
const MAX_TOKENS: usize = 64;

/// The maximum number of visits. The oldest is dropped first.
const MAX_VISITS: usize = 256;

/// The header that contains the key of a visit.
pub(crate) const KEY_HEADER: &str = "x-watch-key";

/// The header in which the browser states whether a request comes from the same site.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a visitor may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// May watch, take the session, and act.
    Operator,
    /// May only watch.
    Viewer,
}

/// A browser that was admitted with a token.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    cookie: String,
    /// The secret that the page keeps. Unlike cookies, it is not sent to every port of a host.
    pub(crate) key: String,
    pub(crate) role: Role,
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The `Host` of the request is not the address that the server listens on.
    Host,
    /// The request comes from another page, or is a POST request without `Origin`.
    Origin,
    /// The token is invalid or was used before.
    Token,
    /// The request belongs to no visit or lacks the key of its visit.
    Visit,
    /// The visit permits only watching.
    Role,
}

/// Admits browsers and checks their requests.
#[derive(Debug)]
pub(crate) struct Gate {
    authority: String,
    origin: String,
    cookie_name: String,
    tokens: Mutex<VecDeque<(String, Role)>>,
    visits: Mutex<VecDeque<Visit>>,
}

impl Gate {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            authority: address.to_string(),
            origin: format!("http://{address}"),
            cookie_name: format!("stickpin-watch-{}", address.port()),
            tokens: Mutex::default(),
            visits: Mutex::default(),
        }
    }

    /// Returns an address that admits one browser, once.
    pub(crate) fn invite(&self, role: Role) -> String {
        let token = secret();
        let mut tokens = self.tokens.lock();
        if tokens.len() == MAX_TOKENS {
            tokens.pop_front();
        }
        tokens.push_back((token.clone(), role));
        format!("{}/?token={token}", self.origin)
    }

    /// Checks what every request must prove: that it is for this server and not from another page.
    ///
    /// # Errors
    /// Returns [`Refusal::Host`] or [`Refusal::Origin`].
    pub(crate) fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let only = |name: &HeaderName| {
            let mut values = headers.get_all(name).iter();
            (values.next().map(|value| value.as_bytes()), values.next().is_some())
        };
        if only(&HOST) != (Some(self.authority.as_bytes()), false) {
            return Err(Refusal::Host);
        }
        match only(&ORIGIN) {
            (Some(origin), false) if origin == self.origin.as_bytes() => {}
            (None, _) if method != Method::POST => {}
            _ => return Err(Refusal::Origin),
        }
        match only(&FETCH_SITE).0 {
            None | Some(b"same-origin" | b"none") => Ok(()),
            // A link in a chat that runs in the browser: the token decides.
            Some(_) if method == Method::GET && is_navigation(headers) => Ok(()),
            Some(_) => Err(Refusal::Origin),
        }
    }

    /// Admits a browser. A token works once.
    ///
    /// # Errors
    /// Returns [`Refusal::Token`].
    pub(crate) fn admit(&self, token: &str) -> Result<Visit, Refusal> {
        let role = {
            let mut tokens = self.tokens.lock();
            let found = tokens.iter().position(|(known, _)| same(known.as_bytes(), token.as_bytes()));
            found.and_then(|at| tokens.remove(at)).ok_or(Refusal::Token)?.1
        };
        let visit = Visit { cookie: secret(), key: secret(), role };
        let mut visits = self.visits.lock();
        if visits.len() == MAX_VISITS {
            visits.pop_front();
        }
        visits.push_back(visit.clone());
        Ok(visit)
    }

    /// Returns the value of `Set-Cookie` for a visit.
    pub(crate) fn set_cookie(&self, visit: &Visit) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name, visit.cookie)
    }

    /// Returns the visit that a request's cookie belongs to.
    ///
    /// # Errors
    /// Returns [`Refusal::Visit`].
    pub(crate) fn visit(&self, headers: &HeaderMap) -> Result<Visit, Refusal> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let ours: Vec<&str> = pairs.filter(|(name, _)| *name == self.cookie_name).map(|(_, v)| v).collect();
        let visits = self.visits.lock();
        let found =
            visits.iter().find(|visit| ours.iter().any(|v| same(v.as_bytes(), visit.cookie.as_bytes())));
        found.cloned().ok_or(Refusal::Visit)
    }

    /// Returns the visit of a request, provided that the request also contains the visit's key.
    ///
    /// # Errors
    /// Returns [`Refusal::Visit`].
    pub(crate) fn visit_with_key(&self, headers: &HeaderMap, key: Option<&str>) -> Result<Visit, Refusal> {
        let visit = self.visit(headers)?;
        match key.is_some_and(|key| same(key.as_bytes(), visit.key.as_bytes())) {
            true => Ok(visit),
            false => Err(Refusal::Visit),
        }
    }
}

/// Returns whether the browser opens a page, as opposed to fetching a resource for one.
fn is_navigation(headers: &HeaderMap) -> bool {
    let value = |name: &str| headers.get(name).map(|value| value.as_bytes());
    value("sec-fetch-mode") == Some(b"navigate") && value("sec-fetch-dest") == Some(b"document")
}

/// Returns 256 random bits in hexadecimal digits.
fn secret() -> String {
    rand::random::<[u8; 32]>().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns whether two secrets are equal. For equal lengths, the comparison takes constant time: a
/// near miss takes as long as a match.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn gate() -> Gate {
        Gate::new("127.0.0.1:4321".parse().expect("an address"))
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("a value");
        pairs.iter().map(|(name, text)| (HeaderName::from_static(name), value(text))).collect()
    }

    fn token(gate: &Gate) -> String {
        gate.invite(Role::Operator).split_once("token=").expect("a token").1.to_owned()
    }

    #[test]
    fn token_works_once() {
        let gate = gate();
        let token = token(&gate);
        assert_eq!(gate.admit(&token[1..]).unwrap_err(), Refusal::Token);
        let visit = gate.admit(&token).expect("the right token");
        assert_eq!(gate.admit(&token).unwrap_err(), Refusal::Token, "it was used");
        let cookie = gate.set_cookie(&visit);
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    }

    #[test]
    fn unused_tokens_and_visits_are_bounded() {
        let gate = gate();
        let first = token(&gate);
        for _ in 0..MAX_TOKENS {
            token(&gate);
        }
        assert_eq!(gate.admit(&first).unwrap_err(), Refusal::Token, "the oldest is dropped");
        for _ in 0..=MAX_VISITS {
            gate.admit(&token(&gate)).expect("the newest");
        }
        assert_eq!(gate.visits.lock().len(), MAX_VISITS);
    }

    #[test]
    fn host_must_be_the_address_that_is_listened_on() {
        let gate = gate();
        let checked = |host: &[(&'static str, &str)]| gate.check(&Method::GET, &headers(host));
        assert_eq!(checked(&[("host", "127.0.0.1:4321")]), Ok(()));
        for host in ["rebound.example:4321", "127.0.0.1", "127.0.0.1:4322", "localhost:4321", ""] {
            assert_eq!(checked(&[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(checked(&[]), Err(Refusal::Host));
        let mut twice = headers(&[("host", "127.0.0.1:4321")]);
        twice.append(HOST, HeaderValue::from_static("rebound.example"));
        assert_eq!(gate.check(&Method::GET, &twice), Err(Refusal::Host));
    }

    #[test]
    fn posts_need_our_origin() {
        let gate = gate();
        let host = ("host", "127.0.0.1:4321");
        let post =
            |more: &[(&'static str, &str)]| gate.check(&Method::POST, &headers(&[&[host], more].concat()));
        assert_eq!(post(&[("origin", "http://127.0.0.1:4321")]), Ok(()));
        for origin in ["http://127.0.0.1:3000", "https://127.0.0.1:4321", "null", "http://evil.example"] {
            assert_eq!(post(&[("origin", origin)]), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(post(&[]), Err(Refusal::Origin), "a browser always sends one");
    }

    #[test]
    fn pages_of_other_ports_fetch_nothing() {
        let gate = gate();
        let get = |more: &[(&'static str, &str)]| {
            gate.check(&Method::GET, &headers(&[&[("host", "127.0.0.1:4321")], more].concat()))
        };
        assert_eq!(get(&[("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(get(&[("sec-fetch-site", "same-site")]), Err(Refusal::Origin));
        assert_eq!(
            get(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]),
            Err(Refusal::Origin)
        );
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(get(&[&link[..], &[("sec-fetch-dest", "document")]].concat()), Ok(()));
        assert_eq!(get(&[&link[..], &[("sec-fetch-dest", "iframe")]].concat()), Err(Refusal::Origin));
    }

    #[test]
    fn cookie_without_the_key_proves_nothing() {
        let gate = gate();
        let visit = gate.admit(&token(&gate)).expect("the right token");
        let cookie = gate.set_cookie(&visit).split(';').next().expect("a pair").to_owned();
        let sent = headers(&[("cookie", &format!("a=b; {cookie}"))]);
        assert!(gate.visit(&sent).is_ok());
        assert_eq!(gate.visit_with_key(&sent, None).unwrap_err(), Refusal::Visit);
        assert_eq!(gate.visit_with_key(&sent, Some("x")).unwrap_err(), Refusal::Visit);
        assert!(gate.visit_with_key(&sent, Some(&visit.key)).is_ok());
        assert_eq!(gate.visit_with_key(&headers(&[]), Some(&visit.key)).unwrap_err(), Refusal::Visit);
    }
}
