//! What a page exchanges with the world: the requests and downloads that are remembered, waits for them, and what an
//! expression of the page is.

use crate::cdp::Reply;
use crate::cdp::protocol as cdp;
use crate::device::WebDevice;
use crate::events::clip;
use crate::mouse::NONE;
use crate::state::TabState;
use crate::tab::{Fault, dialog_open, expression};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, Instant};
use stickpin_kernel::device::{
    CancellationToken, Download, DownloadState, Evaluated, Notice, RequestEnd, SeenRequest,
};
use stickpin_kernel::{Error, ErrorCode, Result};
use tokio::time::timeout;

/// Requests that are remembered.
const REMEMBERED: usize = 300;

/// Downloads that are remembered.
const DOWNLOADS: usize = 50;

/// What takes longer than this is held open by the server.
const LONG: Duration = Duration::from_secs(5);

/// How long an act is watched while something that it set off is under way.
const UNDER_WAY: Duration = Duration::from_millis(300);

/// How long a page that is busy may take until nothing is said to have happened in it.
const BUSY: Duration = Duration::from_secs(1);

/// How long a script is given to react to what came.
const REACTION: Duration = Duration::from_millis(50);

/// Notices of requests that an act set off.
const TOLD: usize = 3;

/// How long a look at an expression waits for what it promises.
const PROMISE: Duration = Duration::from_millis(250);

/// A promise that nobody asked about for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(2);

/// Characters of a value of the page.
const SHOWN: usize = 1_000;

/// Bytes of a file's name.
const NAME: usize = 150;

/// Objects of the page that are looked at.
const GROUP: &str = "stickpin-evaluated";

/// A request that was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) began: Instant,
    /// What it was answered with, while its body still comes.
    pub(crate) status: Option<u16>,
    pub(crate) end: Option<(RequestEnd, Instant)>,
    /// As in [`crate::state::Request`].
    pub(crate) counts: bool,
    /// A script asked, by `fetch` or the like.
    pub(crate) by_script: bool,
    /// It was told as the effect of an act.
    told: bool,
    /// The document of a frame.
    document: bool,
}

impl Seen {
    pub(crate) fn new(id: String, method: String, url: String, kind: &str) -> Self {
        let document = kind == "Document";
        let began = Instant::now();
        Self {
            id,
            method,
            url,
            began,
            status: None,
            end: None,
            counts: true,
            by_script: false,
            told: false,
            document,
        }
    }

    fn took(&self) -> Duration {
        self.end.as_ref().map_or_else(Instant::now, |(_, at)| *at).duration_since(self.began)
    }

    /// Whether it took so long that it is no answer that anybody waits for.
    pub(crate) fn is_long(&self) -> bool {
        self.by_script && self.took() >= LONG
    }

    /// Whether two ask for the same, queries aside.
    pub(crate) fn asks_like(&self, other: &Self) -> bool {
        let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        self.method == other.method && path(&self.url) == path(&other.url)
    }

    /// Whether it belongs to what came after a moment.
    fn is_since(&self, begun: Instant) -> bool {
        self.began >= begun || self.end.as_ref().is_none_or(|(_, at)| *at >= begun)
    }
}

/// A file that comes.
#[derive(Debug)]
pub(crate) struct Coming {
    guid: String,
    pub(crate) download: Download,
    began: Instant,
    ended: Option<Instant>,
    /// That it is under way was told.
    told: bool,
}

impl TabState {
    /// Remembers a request.
    pub(crate) fn saw(&mut self, seen: Seen) {
        if self.traffic.len() == REMEMBERED {
            self.traffic.pop_front();
        }
        self.traffic.push_back(seen);
    }

    /// The document went away, and what its scripts waited for with it.
    pub(crate) fn left_traffic(&mut self) {
        for seen in self.traffic.iter_mut().filter(|s| !s.document && s.end.is_none()) {
            seen.end = Some((RequestEnd::Failed("the page was left".to_owned()), Instant::now()));
        }
    }

    /// Whether something that began since then, and that an act may have set off, is not over.
    fn under_way(&self, begun: Instant) -> bool {
        let request = |s: &Seen| s.by_script && s.counts && s.end.is_none() && s.began >= begun;
        self.navigating.is_some() || self.traffic.iter().any(request)
    }
}

/// A download begins.
pub(crate) fn download_began(downloads: &mut Vec<Coming>, guid: String, suggested: &str) {
    if downloads.len() == DOWNLOADS {
        downloads.remove(0);
    }
    let download =
        Download { name: file_name(suggested), received: 0, total: None, state: DownloadState::UnderWay };
    downloads.push(Coming { guid, download, began: Instant::now(), ended: None, told: false });
}

/// A download goes on or ends: what is to be told, if anything. The browser named the file after its id.
pub(crate) fn download_progress(
    downloads: &mut [Coming],
    folder: &Path,
    event: &cdp::DownloadProgress,
) -> Option<Notice> {
    let coming = downloads.iter_mut().find(|d| d.guid == event.guid && d.ended.is_none())?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of files, not negative"
    )]
    let bytes = |count: f64| count.max(0.0) as u64;
    coming.download.received = bytes(event.received_bytes);
    coming.download.total = Some(bytes(event.total_bytes)).filter(|total| *total > 0);
    let name = coming.download.name.clone();
    let (state, notice) = match event.state.as_str() {
        "completed" => match give_name(folder, &event.guid, &name) {
            Ok(path) => (DownloadState::Done(path.clone()), Notice::Downloaded { path }),
            Err(why) => (DownloadState::Failed(why.clone()), Notice::DownloadFailed { name, why }),
        },
        "canceled" => {
            let why = "it was cancelled, or broke off".to_owned();
            (DownloadState::Failed(why.clone()), Notice::DownloadFailed { name, why })
        }
        _ => return None,
    };
    coming.download.state = state;
    coming.ended = Some(Instant::now());
    Some(notice)
}

/// Gives a file the name that was suggested for it, or one like it that is free.
fn give_name(folder: &Path, guid: &str, name: &str) -> Result<PathBuf, String> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let mut path = folder.join(name);
    let mut number = 2;
    while path.exists() {
        path = folder.join(format!("{stem} ({number}){extension}"));
        number += 1;
    }
    std::fs::rename(folder.join(guid), &path).map_err(|e| format!("it cannot be named: {e}"))?;
    Ok(path)
}

/// A name that stays in its folder and hides nothing: the page suggested it.
fn file_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if stickpin_tree::is_unsafe(c) || ":*?\"<>|".contains(c) { '_' } else { c };
    let name: String = last.chars().map(plain).collect();
    let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if name.is_empty() {
        return "download".to_owned();
    }
    if name.len() <= NAME {
        return name.to_owned();
    }
    // The end says what kind of file it is.
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let extension = if extension.len() < 20 { format!(".{extension}") } else { String::new() };
    let stem = &name[..name.floor_char_boundary(NAME - extension.len())];
    format!("{stem}{extension}")
}

/// An expression whose promise is not settled.
#[derive(Debug)]
pub(crate) struct Evaluating {
    expression: String,
    reply: Pin<Box<Reply<cdp::EvaluateInPage>>>,
    asked: Instant,
}

impl WebDevice {
    pub(crate) async fn wait_for_effects(
        &mut self,
        at_most: Duration,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let (told, begun) = (self.told, self.begun);
        let arrivals = self.tab.read(|tab| tab.arrivals)?;
        let stirred = |tab: &TabState| {
            let seen = tab.changes != told || !tab.notices.is_empty() || tab.dialog.is_some();
            (seen || tab.under_way(begun)).then_some(())
        };
        self.listen_closely(at_most, stirred).await?;
        let quiet = tokio::select! {
            stirred = timeout(at_most, self.tab.until(stirred)) => match stirred {
                Ok(stirred) => { stirred?; false }
                Err(_) => true,
            },
            () = cancel.cancelled() => return Ok(()),
        };
        if quiet {
            // The time is over by our clock. A page that had no time of its own yet did nothing yet, either.
            tokio::select! {
                stirred = self.tab.until(stirred) => stirred?,
                _ = timeout(BUSY, self.tab.turn()) => {}
                () = cancel.cancelled() => return Ok(()),
            }
        }
        if !self.tab.read(|tab| tab.under_way(begun))? {
            return Ok(());
        }
        let over = self.tab.until(|tab| {
            let gone = tab.dialog.is_some() || tab.navigating.is_none() && tab.arrivals != arrivals;
            (gone || !tab.under_way(begun)).then_some(tab.notices.len())
        });
        let noticed = tokio::select! {
            over = timeout(UNDER_WAY, over) => match over {
                Ok(noticed) => noticed?,
                Err(_) => return Ok(()),
            },
            () = cancel.cancelled() => return Ok(()),
        };
        // What the script says about it: an error on the console, a toast.
        let reaction = self.tab.until(|tab| (tab.notices.len() > noticed).then_some(()));
        timeout(REACTION, reaction).await.unwrap_or(Ok(()))
    }

    /// Unless something is seen already, lets every document tell at once of what changes: otherwise what comes soon
    /// after another change is held back for a moment.
    async fn listen_closely(
        &self,
        at_most: Duration,
        stirred: impl Fn(&TabState) -> Option<()>,
    ) -> Result<()> {
        if self.tab.read(stirred)?.is_some() {
            return Ok(());
        }
        let worlds = match timeout(at_most, self.tab.worlds()).await {
            // It shows something else, or nothing yet: that is a sign by itself.
            Err(_) | Ok(Err(Fault::Dialog(_) | Fault::WorldGone)) => return Ok(()),
            Ok(worlds) => worlds?,
        };
        match self.tab.ask_all(&worlds, |_| expression("tell", NONE)) {
            // What they are asked for comes as signals; the answers say nothing more. A dialog holds them all up.
            Ok(_) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    pub(crate) async fn wait_for_news(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        tokio::task::yield_now().await;
        let heard = self.heard;
        let news = self.tab.shared.until_after(heard);
        let came = tokio::select! {
            version = timeout(wait, news) => version.ok(),
            () = cancel.cancelled() => None,
        };
        if let Some(version) = came {
            self.heard = version;
        }
        // A tab that is gone says so.
        self.tab.read(|_| came.is_some())
    }

    pub(crate) fn seen_requests(&self) -> Result<Vec<SeenRequest>> {
        let begun = self.begun;
        self.tab.read(|tab| {
            let seen = tab.traffic.iter().filter(|s| s.is_since(begun));
            let tell = |s: &Seen| SeenRequest {
                method: s.method.clone(),
                url: s.url.clone(),
                end: s.end.as_ref().map(|(end, _)| end.clone()),
                took: s.took(),
                counts: s.counts,
            };
            seen.map(tell).collect()
        })
    }

    pub(crate) fn seen_downloads(&self) -> Result<Vec<Download>> {
        self.tab.read(|_| ())?;
        let state = self.tab.shared.state();
        let since = |d: &&Coming| d.began >= self.begun || d.ended.is_none_or(|at| at >= self.begun);
        Ok(state.downloads.iter().filter(since).map(|d| d.download.clone()).collect())
    }

    /// What an act set off besides what was noticed by itself.
    pub(crate) fn set_off(&self) -> Result<Vec<Notice>> {
        let begun = self.begun;
        let mut notices = self.tab.write(|tab| {
            let leaving = tab.navigating.as_ref().map(|(url, _)| Notice::Leaving { url: clip(url) });
            let fresh = |s: &&mut Seen| s.by_script && s.counts && !s.told && s.began >= begun;
            let requests = tab.traffic.iter_mut().filter(fresh).filter_map(|s| {
                s.told = true;
                let status = match s.end {
                    None => None,
                    Some((RequestEnd::Status(status), _)) if status < 400 => Some(status),
                    // What failed has a notice of its own.
                    Some(_) => return None,
                };
                Some(Notice::Requested { method: s.method.clone(), url: clip(&s.url), status })
            });
            let requests: Vec<Notice> = requests.collect();
            leaving.into_iter().chain(requests.into_iter().take(TOLD)).collect::<Vec<_>>()
        })?;
        let mut state = self.tab.shared.state();
        for coming in state.downloads.iter_mut().filter(|d| d.ended.is_none() && !d.told) {
            coming.told = true;
            let Download { name, received, total, .. } = coming.download.clone();
            notices.push(Notice::Downloading { name, received, total });
        }
        Ok(notices)
    }

    /// What an expression is in the world of the page itself.
    pub(crate) async fn value_of(
        &mut self,
        expression: &str,
        at_most: Duration,
    ) -> Result<Option<Evaluated>> {
        let mut expression = expression.to_owned();
        let called = format!("({expression})()");
        loop {
            let Some(answer) = self.evaluated(&expression, at_most).await? else { return Ok(None) };
            if let Some(thrown) = answer.exception_details {
                let said = thrown.exception.and_then(|e| e.description).unwrap_or(thrown.text);
                let said = clip(said.lines().next().unwrap_or_default());
                return Err(Error::new(
                    ErrorCode::InvalidArgs,
                    format!("the expression threw {}", stickpin_tree::quote(&said)),
                )
                .hint("what may not be there yet is asked with `?.`: stickpin wait fn 'window.app?.ready'")
                .details(serde_json::json!({ "exception": said })));
            }
            let value = answer.result;
            // A function is asked, too: that is how other tools want it.
            if value.r#type == "function" && expression != called {
                expression.clone_from(&called);
                continue;
            }
            let truthy = is_truthy(&value);
            let shown = self.shown(value).await?;
            return Ok(Some(Evaluated { truthy, shown }));
        }
    }

    async fn evaluated(&mut self, expression: &str, at_most: Duration) -> Result<Option<cdp::Evaluated>> {
        let kept =
            self.evaluating.take().filter(|e| e.expression == expression && e.asked.elapsed() < FORGOTTEN);
        let mut evaluating = kept.unwrap_or_else(|| {
            let method = cdp::EvaluateInPage {
                expression: expression.to_owned(),
                await_promise: true,
                user_gesture: false,
                // An endless loop ends, too.
                timeout: at_most.as_secs_f64() * 1_000.0,
                object_group: GROUP,
            };
            let reply = Box::pin(self.tab.client.send(Some(&self.tab.session), &method));
            Evaluating { expression: expression.to_owned(), reply, asked: Instant::now() }
        });
        let answer = tokio::select! {
            biased;
            answer = timeout(at_most.min(PROMISE), evaluating.reply.as_mut()) => answer,
            gone = self.tab.until(|tab| tab.dialog.clone()) => return Err(dialog_open(&gone?)),
        };
        match answer {
            Ok(Ok(evaluated)) => Ok(Some(evaluated)),
            // The document went away: the next look is at the new one.
            Ok(Err(crate::cdp::CallError::Refused { .. })) => self.tab.read(|_| None),
            Ok(Err(e)) => Err(self.tab.call_error(&e)),
            Err(_) => {
                evaluating.asked = Instant::now();
                self.evaluating = Some(evaluating);
                Ok(None)
            }
        }
    }

    async fn shown(&self, value: cdp::RemoteObject) -> Result<String> {
        let Some(object_id) = value.object_id else {
            let word = value.unserializable_value.unwrap_or(value.r#type);
            return Ok(clip_chars(value.value.map_or(word, |v| v.get().to_owned())));
        };
        let function = format!(
            "function(){{let s;try{{s=JSON.stringify(this)}}catch{{}}return s===undefined||this instanceof Node?null:s.slice(0,{SHOWN})}}"
        );
        let ask = cdp::CallFunctionOn { function_declaration: function, object_id, return_by_value: true };
        let answer = self.tab.ask(&self.tab.session, &ask).await;
        let json = match answer {
            Ok(answer) => {
                answer.result.value.and_then(|v| serde_json::from_str::<Option<String>>(v.get()).ok())
            }
            Err(Fault::Failed(e)) if e.code == ErrorCode::Internal => None,
            Err(fault) => return Err(fault.into()),
        };
        let release = cdp::ReleaseObjectGroup { object_group: GROUP };
        drop(self.tab.client.send(Some(&self.tab.session), &release));
        Ok(clip_chars(json.flatten().or(value.description).unwrap_or(value.r#type)))
    }
}

fn clip_chars(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// ECMAScript, 7.1.2 ToBoolean.
fn is_truthy(value: &cdp::RemoteObject) -> bool {
    if let Some(word) = &value.unserializable_value {
        return !matches!(word.as_str(), "NaN" | "-0" | "0n");
    }
    match value.value.as_deref().map(|v| v.get()) {
        Some(json) => !matches!(json, "false" | "0" | "\"\"" | "null"),
        None => value.r#type != "undefined",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_stays_in_its_folder_and_hides_nothing() {
        for (suggested, name) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("..", "download"),
            ("", "download"),
            (".bashrc", "bashrc"),
            ("a\u{202e}fdp.exe", "a_fdp.exe"),
            ("a\nb\u{7}.txt ", "a_b_.txt"),
            ("C:stream", "C_stream"),
        ] {
            assert_eq!(file_name(suggested), name);
        }
        let long = file_name(&format!("{}.tar.gz", "é".repeat(200)));
        assert!(long.len() <= NAME && long.ends_with(".gz"), "{long}");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let mut downloads = Vec::new();
        for (guid, name) in [("g1", "a.txt"), ("g2", "a.txt"), ("g3", "none"), ("g4", "none")] {
            std::fs::write(folder.path().join(guid), guid).unwrap();
            download_began(&mut downloads, guid.to_owned(), name);
            let event = cdp::DownloadProgress {
                guid: guid.to_owned(),
                state: "completed".to_owned(),
                received_bytes: 2.0,
                total_bytes: 2.0,
            };
            assert!(matches!(
                download_progress(&mut downloads, folder.path(), &event),
                Some(Notice::Downloaded { .. })
            ));
            // Twice is once.
            assert_eq!(download_progress(&mut downloads, folder.path(), &event), None);
        }
        for (name, content) in [("a.txt", "g1"), ("a (2).txt", "g2"), ("none", "g3"), ("none (2)", "g4")] {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), content);
        }
    }
}
