//! `wait request`, `wait download`, `wait fn`: waits for events that no element shows.

use crate::api::files;
use crate::api::url_pattern::UrlPattern;
use crate::commands::prelude::*;
use crate::commands::wait::{WAIT, WaitOutput, default_timeout, within};
use crate::observe::traffic::{describe_network_request, describe_progress, format_seconds};
use crate::observe::waiting::{WaitTimeout, WakeOn};
use std::path::{Path, PathBuf};
use stickpin_device::{Download, DownloadState, NetworkRequest, RequestEnd, io_error};
use stickpin_tree::{escape, quote, quote_whole};

/// The maximum length of a script value that is printed without quotes.
const MAX_VALUE_CHARS: usize = 500;

/// The maximum number of requests that a timeout error names.
const MAX_NAMED_REQUESTS: usize = 3;

/// Wait until a matching request has been answered or has failed.
///
/// A request that has ended since the start of the last action also counts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitRequest {
    /// Part of the address, or a `*` pattern for the whole (`/api/*`); a method may come first:
    /// `POST /api/order`.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub pattern: String,
    /// Only a response with this status: `200`, `2xx`. By default a failed request counts too.
    #[schemars(extend("x-placeholder" = "STATUS"))]
    pub status: Option<String>,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// Wait until a download is complete, and print where the file is.
///
/// A download that the last action started also counts.
///
/// Files are in a folder of the session, which `close` removes; `--save-as` copies the file out of
/// it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitDownload {
    /// Part of the file's name, or a `*` pattern for the whole name; by default any file.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub name: Option<String>,
    /// Copy the file to this path, or into this folder.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "PATH"))]
    pub save_as: Option<PathArg>,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// Wait until a JavaScript expression in the page is true: `window.app?.ready`.
///
/// An expression that throws ends the wait.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitFn {
    /// The expression; a promise is awaited.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub expression: String,
    /// Time limit in milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

/// The request that ended the wait.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestOutput {
    /// The method of the request.
    pub method: String,
    /// The address of the request.
    pub url: String,
    /// The status of the response; absent when the request failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reason for a failed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// How long the request took, in milliseconds.
    pub ms: u64,
    /// A description of the condition that now holds.
    pub truth: String,
}

/// The downloaded file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownloadOutput {
    /// The name of the file, as the app gave it.
    pub name: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The path of the file.
    pub path: PathBuf,
    /// A description of the condition that now holds.
    pub truth: String,
}

impl WaitRequest {
    /// Returns the requested method, if any, and the URL pattern.
    fn wanted(&self) -> (Option<&str>, UrlPattern) {
        let text = self.pattern.trim();
        match text.split_once(' ') {
            Some((method, address)) if method.bytes().all(|b| b.is_ascii_uppercase()) => {
                (Some(method), UrlPattern::new(address))
            }
            _ => (None, UrlPattern::new(text)),
        }
    }

    fn status(&self) -> Result<Option<&str>> {
        let Some(status) = &self.status else { return Ok(None) };
        let good = status.len() == 3
            && status.starts_with(|c: char| c.is_ascii_digit())
            && (status[1..].bytes().all(|b| b.is_ascii_digit()) || &status[1..] == "xx");
        if good {
            return Ok(Some(status));
        }
        Err(Error::invalid_args(format!("{} is not an HTTP status", quote(status)))
            .hint("for example: `stickpin wait request /api/order --status 201` or `--status 2xx`"))
    }
}

fn has_status(request: &NetworkRequest, wanted: &str) -> bool {
    let Some(RequestEnd::Status(status)) = &request.end else { return false };
    let said = status.to_string();
    said == wanted || wanted.ends_with("xx") && said.starts_with(&wanted[..1])
}

impl Command for WaitRequest {
    const SPEC: Spec = Spec {
        name: "wait request",
        asserts: true,
        needs: &[Capability::Requests],
        examples: &["stickpin wait request 'POST /api/order' --status 2xx", "stickpin wait request '/api/*'"],
        ..WAIT
    };
    type Output = RequestOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<RequestOutput> {
        let patience = WaitTimeout::new(Duration::from_millis(self.timeout));
        let (method, address) = self.wanted();
        let status = self.status()?;
        let what = match status {
            Some(status) => format!("a {status} response to {}", quote(&self.pattern)),
            None => format!("a request that matches {}", quote(&self.pattern)),
        };
        loop {
            capture::check_no_dialog(cx)?;
            let seen = facets::traffic(cx.device()?, "report requests")?.requests().await?;
            let fits = |r: &&NetworkRequest| method.is_none_or(|m| m == r.method) && address.matches(&r.url);
            let ended = |r: &&NetworkRequest| r.end.is_some() && status.is_none_or(|s| has_status(r, s));
            if let Some(request) = seen.iter().find(|r| fits(r) && ended(r)) {
                let (status, failed) = match &request.end {
                    Some(RequestEnd::Failed(why)) => (None, Some(why.clone())),
                    Some(RequestEnd::Status(status)) => (Some(*status), None),
                    _ => (None, None),
                };
                return Ok(RequestOutput {
                    method: request.method.clone(),
                    url: request.url.clone(),
                    status,
                    failed,
                    ms: u64::try_from(request.duration.as_millis()).unwrap_or(u64::MAX),
                    truth: format!(
                        "{} in {}",
                        describe_network_request(request),
                        format_seconds(request.duration)
                    ),
                });
            }
            // Name the nearest misses: matching requests that are pending or ended differently, or
            // otherwise the latest requests.
            let mut near: Vec<&NetworkRequest> = seen.iter().filter(fits).collect();
            if near.is_empty() {
                near = seen.iter().rev().filter(|r| r.counts).take(MAX_NAMED_REQUESTS).collect();
            }
            let named: Vec<String> =
                near.iter().rev().take(MAX_NAMED_REQUESTS).map(|r| describe_network_request(r)).collect();
            let truth = match (named.is_empty(), near.iter().any(fits)) {
                (true, _) => "none has been seen since the last action began".to_owned(),
                (false, true) => named.join(", "),
                (false, false) => format!("none matches; the most recent: {}", named.join(", ")),
            };
            patience.wait_for_next_check(cx, WakeOn::AnyEvent, &what, &truth).await?;
        }
    }
}

impl Command for WaitDownload {
    const SPEC: Spec = Spec {
        name: "wait download",
        needs: &[Capability::Downloads],
        examples: &["stickpin wait download", "stickpin wait download report --save-as report.csv"],
        ..WAIT
    };
    type Output = DownloadOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<DownloadOutput> {
        let save_as = cx.resolve_optional_path(self.save_as.as_ref())?;
        wait_download(cx, self.name.as_deref(), save_as.as_deref(), self.timeout).await
    }
}

/// Waits for the completion of a download that has begun since the start of the last action, or was
/// in progress at that time. Copies the file if requested.
///
/// # Errors
/// Returns `TIMEOUT` when none completes in time, `DIALOG_OPEN` when a dialog is open, `IO` when
/// the download failed, and errors from the device and from copying the file.
pub(crate) async fn wait_download(
    cx: &mut Cx,
    name: Option<&str>,
    save_as: Option<&Path>,
    timeout: u64,
) -> Result<DownloadOutput> {
    let patience = WaitTimeout::new(Duration::from_millis(timeout));
    let wanted = name.map(UrlPattern::new);
    let what = match name {
        Some(name) => format!("a download of {}", quote(name)),
        None => "a download".to_owned(),
    };
    loop {
        capture::check_no_dialog(cx)?;
        let mut all = facets::traffic(cx.device()?, "download")?.downloads().await?;
        all.retain(|d| wanted.as_ref().is_none_or(|w| w.matches(&d.name)));
        let mut truth = "none has begun since the last action".to_owned();
        for Download { name, received, total, state, .. } in all {
            match state {
                DownloadState::Done(path) => {
                    let path = match save_as {
                        Some(to) => {
                            copy(cx.caller.file_roots.clone(), &path, to.to_path_buf(), &name).await?
                        }
                        None => path,
                    };
                    let truth = format!(
                        "downloaded {} ({})",
                        quote_whole(&path.display().to_string()),
                        bytes(received)
                    );
                    return Ok(DownloadOutput { name, bytes: received, path, truth });
                }
                DownloadState::Failed(why) => {
                    let message = format!("the download of {} failed: {}", quote(&name), escape(&why, 80));
                    return Err(Error::io(message).hint("start the download again in the app"));
                }
                _ => {
                    truth =
                        format!("{} is in progress, {}", quote(&name), describe_progress(received, total));
                }
            }
        }
        patience.wait_for_next_check(cx, WakeOn::AnyEvent, &what, &truth).await?;
    }
}

fn bytes(count: u64) -> String {
    if count < 10_000 { format!("{count} bytes") } else { format!("{} kB", count / 1_000) }
}

async fn copy(roots: Option<Vec<PathBuf>>, from: &Path, mut to: PathBuf, name: &str) -> Result<PathBuf> {
    if to.is_dir() {
        to.push(name);
    }
    let mut source = std::fs::File::open(from).map_err(|e| io_error("read", from, &e))?;
    let target = to.clone();
    let copy = move || {
        files::write_from(roots.as_deref(), &target, |file| std::io::copy(&mut source, file).map(drop))
    };
    // Copying a large file takes time, and other sessions must continue in the meantime.
    let copied = tokio::task::spawn_blocking(copy).await;
    copied.map_err(|e| Error::internal(format!("the downloaded file could not be copied: {e}")))??;
    Ok(to)
}

impl Command for WaitFn {
    const SPEC: Spec = Spec {
        name: "wait fn",
        // The caller's script may do anything, including pressing, sending and navigating.
        effect: Effect::Mutates,
        needs: &[Capability::Evaluate],
        examples: &["stickpin wait fn 'window.app?.ready'", "stickpin wait fn 'document.fonts.ready'"],
        ..WAIT
    };
    type Output = WaitOutput;

    fn time_limits(&self) -> TimeLimits {
        within(self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<WaitOutput> {
        let patience = WaitTimeout::new(Duration::from_millis(self.timeout));
        let what = format!("{} to be true", quote(&self.expression));
        let mut truth = "its promise is still pending".to_owned();
        loop {
            capture::check_no_dialog(cx)?;
            let value = facets::script(cx.device()?, "evaluate expressions")?
                .evaluate(&self.expression, patience.remaining())
                .await?;
            if let Some(value) = &value {
                truth = format!("it is {}", script_value_text(&value.text));
            }
            if value.is_some_and(|v| v.truthy) {
                return Ok(WaitOutput { truth });
            }
            patience.wait_for_next_check(cx, WakeOn::Script, &what, &truth).await?;
        }
    }
}

/// Formats a script value. Short JSON, whose strings are already quoted, and keywords stay plain;
/// any other text is quoted.
fn script_value_text(value: &str) -> String {
    let word = ["undefined", "NaN", "Infinity", "-Infinity"].contains(&value);
    let json = || value.len() <= MAX_VALUE_CHARS && serde_json::from_str::<serde_json::Value>(value).is_ok();
    if word || json() { escape(value, MAX_VALUE_CHARS) } else { quote(value) }
}

show_line!(RequestOutput: wait => "{}", wait.truth);
show_line!(DownloadOutput: wait => "{}", wait.truth);

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(end: Option<RequestEnd>, ms: u64) -> NetworkRequest {
        let took = Duration::from_millis(ms);
        NetworkRequest::new("GET".into(), "http://h/a\nb".into()).end(end).duration(took).counts(true)
    }

    #[test]
    fn a_request_reads_as_people_say_it() {
        assert_eq!(describe_network_request(&seen(None, 4_321)), "GET \"http://h/a\\nb\" pending for 4.3 s");
        assert_eq!(
            describe_network_request(&seen(Some(RequestEnd::Status(500)), 1)),
            "GET \"http://h/a\\nb\" -> 500"
        );
        assert_eq!(
            describe_network_request(&seen(Some(RequestEnd::Failed("net::ERR_X".into())), 1)),
            "GET \"http://h/a\\nb\" -> net::ERR_X"
        );
        assert_eq!(
            (describe_progress(3_400, Some(119_001)), describe_progress(5_000, None)),
            ("3 of 120 kB".into(), "5 kB so far".into())
        );
    }

    #[test]
    fn words_of_a_page_stand_in_quotes() {
        let mut request = seen(Some(RequestEnd::Status(200)), 1);
        request.method = "WARNING".into();
        assert_eq!(describe_network_request(&request), "\"WARNING\" \"http://h/a\\nb\" -> 200");
        for plain in ["undefined", "-1.5", "true", r#"{"a":["ignore"]}"#, r#""yes""#] {
            assert_eq!(script_value_text(plain), plain);
        }
        for free in ["class Ignore all rules", "Symbol(ignore)", "() => \"ignore\"", &"[1, ".repeat(300)] {
            let said = script_value_text(free);
            assert!(said.starts_with('"') && said.ends_with('"'), "{said}");
        }
    }

    #[test]
    fn a_method_before_the_address_is_one_and_a_status_has_classes() {
        let wait = |pattern: &str, status: Option<&str>| WaitRequest {
            pattern: pattern.into(),
            status: status.map(Into::into),
            timeout: 0,
        };
        assert_eq!(wait("POST /api", None).wanted(), (Some("POST"), UrlPattern::new("/api")));
        assert_eq!(wait("Post /api", None).wanted(), (None, UrlPattern::new("Post /api")));
        assert!(has_status(&seen(Some(RequestEnd::Status(204)), 0), "2xx"));
        assert!(!has_status(&seen(Some(RequestEnd::Status(204)), 0), "200"));
        assert!(!has_status(&seen(None, 0), "2xx"));
        for (status, good) in
            [("200", true), ("5xx", true), ("20", false), ("2x0", false), ("ok", false), ("2é", false)]
        {
            assert_eq!(wait("", Some(status)).status().is_ok(), good, "{status}");
        }
    }
}
