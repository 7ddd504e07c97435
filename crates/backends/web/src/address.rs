//! Parses the address given to `open` into a URL.

use std::net::IpAddr;
use std::path::Path;
use stickpin_device::{Error, ErrorCode, Result};
use url::Url;

/// The schemes that can be opened.
const SCHEMES: &[&str] = &["http", "https", "file", "about", "data"];

/// Schemes that are claimed only so that an error reports them as unsupported.
const REFUSED_SCHEMES: &[&str] =
    &["javascript", "chrome", "view-source", "blob", "ftp", "ws", "wss", "devtools"];

/// Returns whether the text looks like the address of a page.
pub(crate) fn claims(what: &str) -> bool {
    let what = what.trim();
    match scheme(what) {
        Some(scheme) => {
            let known = |list: &[&str]| list.iter().any(|s| s.eq_ignore_ascii_case(scheme));
            known(SCHEMES) || known(REFUSED_SCHEMES) || what[scheme.len()..].starts_with("://")
        }
        None => is_page_file(what) || host(what).is_some(),
    }
}

/// Parses an address.
///
/// # Errors
/// Returns `INVALID_ARGS` when the text is not an address, has an unsupported scheme, or is a
/// relative path.
pub(crate) fn parse(what: &str) -> Result<Url> {
    let what = what.trim();
    let bad = |why: String| {
        Err(Error::new(ErrorCode::InvalidArgs, why)
            .hint("use an address like `http://127.0.0.1:8000/`, `example.com` or `./page.html`"))
    };
    let text = match scheme(what) {
        Some(_) => what.to_owned(),
        None if is_page_file(what) => {
            let path = Path::new(what);
            let Some(url) = path.is_absolute().then(|| Url::from_file_path(path).ok()).flatten() else {
                return bad(format!("there is no file {what:?}"));
            };
            return Ok(url);
        }
        None => match host(what) {
            Some(local) => format!("{}://{what}", if local { "http" } else { "https" }),
            None => return bad(format!("{what:?} is not an address")),
        },
    };
    match Url::parse(&text) {
        Ok(url) if SCHEMES.contains(&url.scheme()) => Ok(url),
        Ok(url) => {
            bad(format!("the scheme {:?} is not supported; use one of {}", url.scheme(), SCHEMES.join(", ")))
        }
        Err(e) => bad(format!("{what:?} is not an address: {e}")),
    }
}

/// Returns the scheme, if any: `localhost:8000` and `example.com:80` have none.
fn scheme(what: &str) -> Option<&str> {
    let (scheme, rest) = what.split_once(':')?;
    let valid = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let port = rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.split(['/', '?', '#']).next().is_some_and(|p| p.parse::<u16>().is_ok());
    (valid && !port).then_some(scheme)
}

/// Returns whether the text is the path of a file with an HTML extension.
fn is_page_file(what: &str) -> bool {
    let lower = what.to_ascii_lowercase();
    let name = lower.ends_with(".html") || lower.ends_with(".htm") || lower.ends_with(".xhtml");
    // `example.com/a.html` is an address; `a.html`, `./a.html` and `/srv/a.html` are files.
    name && (what.starts_with(['/', '.', '~']) || !what.contains('/') || host(what).is_none())
}

/// Returns whether the host at the start of the text is local: `Some(true)` for an IP address, this
/// machine or the local network, `Some(false)` for any other host name, and `None` if the text does
/// not start with a host.
fn host(what: &str) -> Option<bool> {
    let authority = what.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let port_fits = port.is_empty() || port.strip_prefix(':').is_some_and(|p| p.parse::<u16>().is_ok());
        return (port_fits && address.parse::<std::net::Ipv6Addr>().is_ok()).then_some(true);
    }
    let (name, port) = authority.split_once(':').map_or((authority, None), |(n, p)| (n, Some(p)));
    if port.is_some_and(|p| p.parse::<u16>().is_err()) {
        return None;
    }
    if name.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost") {
        return Some(true);
    }
    let labels: Vec<&str> = name.split('.').collect();
    let label = |l: &&str| {
        !l.is_empty() && !l.starts_with('-') && l.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
    };
    let top = labels.last().is_some_and(|t| t.len() >= 2 && t.chars().all(char::is_alphabetic));
    // A name with a port and without a dot is a machine on the local network.
    if labels.len() == 1 {
        return (port.is_some() && labels.iter().all(label)).then_some(true);
    }
    (top && labels.iter().all(label)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type() {
        for (typed, meant) in [
            ("http://127.0.0.1:8000/a?b#c", "http://127.0.0.1:8000/a?b#c"),
            ("HTTPS://Example.com", "https://example.com/"),
            ("localhost:8080", "http://localhost:8080/"),
            ("localhost", "http://localhost/"),
            ("127.0.0.1:80/x", "http://127.0.0.1/x"),
            ("[::1]:8000", "http://[::1]:8000/"),
            ("example.com", "https://example.com/"),
            ("example.com:8443/a/b.html", "https://example.com:8443/a/b.html"),
            ("/srv/page.html", "file:///srv/page.html"),
            ("file:///srv/a", "file:///srv/a"),
            ("about:blank", "about:blank"),
            ("data:text/html,<p>x", "data:text/html,<p>x"),
        ] {
            assert!(claims(typed), "{typed}");
            assert_eq!(parse(typed).unwrap().as_str(), meant, "{typed}");
        }
    }

    #[test]
    fn what_is_for_others() {
        for other in ["sim:shop", "linux:gedit", "shop", "notes.txt stuff", "", "a b.com", "1.2"] {
            assert!(!claims(other), "{other}");
        }
    }

    #[test]
    fn what_is_claimed_and_refused() {
        for bad in [
            "ftp://example.com/",
            "javascript:alert(1)",
            "chrome://settings",
            "http://",
            "page.html",
            "x://y",
        ] {
            assert!(claims(bad), "{bad}");
            assert_eq!(parse(bad).unwrap_err().code, ErrorCode::InvalidArgs, "{bad}");
        }
    }
}
