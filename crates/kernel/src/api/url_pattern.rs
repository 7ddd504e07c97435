//! Patterns of URLs for `wait url` and `wait request`, and of file names for `wait download`.

use std::borrow::Cow;

/// A URL pattern: a substring, or a glob if it contains `*`.
///
/// Without `*`, the URL must contain the text. `*` stands for any characters. A pattern with `*`
/// must match the whole URL or, if the pattern begins with `/`, the URL from its path on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UrlPattern(String);

impl UrlPattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    pub(crate) fn matches(&self, url: &str) -> bool {
        let pattern = self.0.as_str();
        if !pattern.contains('*') {
            return url.contains(pattern);
        }
        let of = if pattern.starts_with('/') { path(url) } else { url.into() };
        fits(pattern, &of)
    }
}

/// Returns the path, query and fragment of a URL. An empty path is returned as `/`.
fn path(url: &str) -> Cow<'_, str> {
    let host = url.find("://").map_or(0, |at| at + 3);
    let after_host = url[host..].find(['/', '?', '#']).map_or("", |at| &url[host + at..]);
    if after_host.starts_with('/') { after_host.into() } else { format!("/{after_host}").into() }
}

fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_contained_and_stars_fit_the_whole() {
        let url = "http://shop.example:8080/api/orders/7?full=1";
        for (pattern, fits) in [
            ("/api/orders", true),
            ("orders/8", false),
            ("", true),
            ("/api/*", true),
            ("/api/orders/*", true),
            ("/api/orders/7", true),
            ("/orders/*", false),
            ("/api/*/7?full=1", true),
            ("/api/*/7", false),
            ("*/orders/*", true),
            ("http://*/api/orders/7?*", true),
            ("https://*", false),
            ("*", true),
            ("/api/orders/7?full=1*", true),
            ("*full=1", true),
            ("*full=1*1", false),
        ] {
            assert_eq!(UrlPattern::new(pattern).matches(url), fits, "{pattern}");
        }
        assert!(UrlPattern::new("/*").matches("http://h"));
        for url in ["http://h?x=/a", "http://h#/a"] {
            assert!(!UrlPattern::new("/a*").matches(url), "{url}");
        }
        assert!(UrlPattern::new("/?x=*").matches("http://h?x=/a"));
    }
}
