//! A browser per test, and a small server for its pages.

#[path = "../../../../../testkit/src/skip.rs"]
pub mod skip;

use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stickpin_backend_web::{WebConfig, WebDevice, WebOptions, WebProvider};
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, CaptureRequest, CaptureResult, Device, ErrorCode, HitResult,
    InputOutcome, LeavePolicy, Modifiers, Navigation, NavigationResult, OpenRequest, PreparedInput, Ticket,
    Viewport,
};
use stickpin_devtools::protocol::{Evaluate, Navigate};
use stickpin_tree::{Handle, Role, Tree};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A page in its own browser.
pub struct Page {
    pub device: WebDevice,
    pub site: Site,
    pub dir: tempfile::TempDir,
    /// The files of the test.
    pub files: tempfile::TempDir,
}

/// Returns the browser that the tests drive.
pub fn provider() -> WebProvider {
    WebProvider::new(WebConfig {
        chromium: std::env::var_os("STICKPIN_CHROMIUM").map(PathBuf::from),
        path: std::env::var_os("PATH"),
        no_sandbox: false,
    })
}

pub fn request(dir: &tempfile::TempDir, what: &str) -> OpenRequest<WebOptions> {
    let options = WebOptions { viewport: Some(Viewport(1000, 700)), ..WebOptions::default() };
    OpenRequest::new(what, "test", dir.path()).with_options(options)
}

/// Starts a browser with an empty tab. Returns `None` and prints a message if no browser is
/// installed.
pub async fn start() -> Option<(tempfile::TempDir, WebDevice)> {
    let dir = tempfile::tempdir().unwrap();
    match provider().start(&request(&dir, "about:blank")).await {
        Ok(device) => Some((dir, device)),
        Err(e) if e.code == ErrorCode::ToolMissing => {
            skip::skipped("STICKPIN_REQUIRE_CHROMIUM", format!("{e} ({})", e.hint));
            None
        }
        Err(e) => panic!("{e} ({})", e.hint),
    }
}

impl Page {
    /// Shows one page of HTML.
    pub async fn show(html: &str) -> Option<Self> {
        Self::site(&[("/", html)]).await
    }

    /// Shows the first of several pages.
    pub async fn site(pages: &[(&str, &str)]) -> Option<Self> {
        let (dir, device) = start().await?;
        let site = Site::serve(pages).await;
        let mut page = Self { device, site, dir, files: tempfile::tempdir().unwrap() };
        let first = page.site.url(pages[0].0);
        assert!(page.go(&first).await.quiet.is_quiet, "{first} did not settle");
        Some(page)
    }

    /// Shows other HTML in the same browser, in place of the first page.
    pub async fn replace(&mut self, html: &str) {
        let first = self.site.replace_first(html);
        assert!(self.go(&first).await.quiet.is_quiet, "{first} did not settle");
    }

    /// Navigates as `open` does.
    pub async fn go(&mut self, url: &str) -> NavigationResult {
        let to = Navigation::To(url.to_owned());
        self.device
            .navigator()
            .unwrap()
            .navigate(&to, LeavePolicy::Discard, Duration::from_secs(10), &CancellationToken::new())
            .await
            .unwrap()
    }

    /// Crashes the renderer and waits until that is known.
    pub async fn go_crash(&mut self) {
        let (client, session) = self.device.devtools();
        // The request fails: this address crashes the renderer that receives it.
        drop(client.send(Some(session), &Navigate { url: "chrome://crash".to_owned() }));
        for _ in 0..250 {
            if self.device.notices().await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it did not crash");
    }

    /// Evaluates an expression in the page's own world.
    pub async fn truth<T: DeserializeOwned>(&self, expression: &str) -> T {
        let (client, session) = self.device.devtools();
        let evaluate = Evaluate {
            expression: expression.to_owned(),
            return_by_value: true,
            await_promise: true,
            ..Evaluate::default()
        };
        let answer = client.call(Some(session), &evaluate).await.unwrap();
        assert!(answer.exception_details.is_none(), "{expression}: {:?}", answer.exception_details);
        let value = answer.result.value;
        serde_json::from_str(value.as_deref().map_or("null", |v| v.get())).unwrap()
    }

    /// Returns the entries that the page wrote to `log`.
    pub async fn log(&self) -> Vec<String> {
        self.truth("log").await
    }

    /// Waits until an expression of the page is true, even across navigations.
    pub async fn until(&self, expression: &str) {
        let (client, session) = self.device.devtools();
        let script = format!(
            "new Promise(yes=>{{const t=Date.now();(function f(){{if({expression})yes(true);\
             else if(Date.now()-t>5000)yes(false);else setTimeout(f,5)}})()}})"
        );
        let evaluate = Evaluate {
            expression: script,
            return_by_value: true,
            await_promise: true,
            ..Evaluate::default()
        };
        for _ in 0..100 {
            // The evaluation fails if its document is unloaded first.
            if let Ok(answer) = client.call(Some(session), &evaluate).await
                && answer.exception_details.is_none()
            {
                assert_eq!(answer.result.value.unwrap().get(), "true", "never: {expression}");
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("never: {expression}");
    }

    pub async fn capture(&mut self) -> Tree {
        match self.device.capture(CaptureRequest::default()).await.unwrap() {
            CaptureResult::Tree(tree) => Arc::unwrap_or_clone(tree),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the element with a role and name.
    pub async fn find(&mut self, role: Role, name: &str) -> Handle {
        let tree = self.capture().await;
        let found: Vec<Handle> = tree
            .nodes()
            .filter(|n| n.role() == role && n.name() == name)
            .filter_map(stickpin_tree::NodeRef::handle)
            .collect();
        assert_eq!(found.len(), 1, "{role:?} {name:?} in {:?}", names(&tree));
        found[0]
    }

    pub async fn aim(&mut self, handle: Handle) -> Aim {
        self.device.aim(handle, AimOptions::PLAIN_PRESS).await.unwrap()
    }

    pub async fn perform(&mut self, action: &Action) -> InputOutcome {
        self.device.perform(action, &CancellationToken::new()).await.unwrap()
    }

    /// Aims at an element as the kernel does, after locating it.
    pub async fn prepare(&mut self, handle: Handle) -> PreparedInput {
        let seen = self.device.locate(handle, &[]).await.unwrap().unwrap().ticket;
        let options = AimOptions::PLAIN_PRESS;
        self.device.prepare(handle, &[], options, seen).await.unwrap()
    }

    /// Presses an element as the kernel does.
    pub async fn press(&mut self, handle: Handle) -> InputOutcome {
        let PreparedInput { aim, ticket, .. } = self.prepare(handle).await;
        assert_eq!(aim.hit, HitResult::Target);
        self.commit(&press(aim.point, Some(handle)), ticket).await
    }

    pub async fn commit(&mut self, action: &Action, prepared: Ticket) -> InputOutcome {
        self.device.commit(action, prepared, &CancellationToken::new()).await.unwrap()
    }

    pub async fn fill(&mut self, handle: Handle, text: &str) -> InputOutcome {
        self.perform(&Action::Fill { target: handle, text: text.to_owned() }).await
    }

    pub async fn key(&mut self, modifiers: Modifiers, key: &str) -> InputOutcome {
        self.perform(&Action::Key { modifiers, key: key.to_owned() }).await
    }

    /// Ends the browser and checks that nothing remains of it.
    pub async fn close(mut self) {
        self.device.close().await.unwrap();
        let left: Vec<_> = std::fs::read_dir(self.dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

pub fn press(point: (f64, f64), target: Option<Handle>) -> Action {
    Action::press(point, target)
}

pub fn names(tree: &Tree) -> Vec<String> {
    tree.nodes()
        .filter(|n| !n.name().is_empty())
        .map(|n| format!("{} {:?}", n.role().name(), n.name()))
        .collect()
}

/// The HTML of a server, with its paths.
type Pages = Arc<Mutex<Vec<(String, String)>>>;

/// A server on its own port. Unknown paths return 404. Besides the pages, it serves `/never`
/// (accepts and never answers) and `/slow` (starts a page and never finishes it).
pub struct Site {
    port: u16,
    pages: Pages,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Site {
    pub async fn serve(pages: &[(&str, &str)]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: Vec<(String, String)> =
            pages.iter().map(|(p, h)| ((*p).to_owned(), h.replace("PORT", &port.to_string()))).collect();
        let pages: Pages = Arc::new(Mutex::new(pages));
        let served = Arc::clone(&pages);
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, Arc::clone(&served)));
            }
        });
        Self { port, pages, server }
    }

    /// Serves other HTML on the first path, and returns its address.
    fn replace_first(&self, html: &str) -> String {
        let mut pages = self.pages.lock().unwrap();
        pages[0].1 = html.replace("PORT", &self.port.to_string());
        self.url(&pages[0].0)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

async fn answer(mut stream: tokio::net::TcpStream, pages: Pages) {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            // The browser disconnected, which is allowed.
            Ok(0) | Err(_) => return,
            Ok(n) => request.extend(&chunk[..n]),
        }
    }
    let text = String::from_utf8_lossy(&request);
    let target = text.split(' ').nth(1).unwrap_or("");
    let path = target.split('?').next().unwrap_or("").to_owned();
    let kind = if path.ends_with(".js") { "javascript" } else { "html" };
    let head = |status: &str, rest: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/{kind}; charset=utf-8\r\nConnection: close\r\nCache-Control: no-store\r\n{rest}\r\n"
        )
    };
    let reply = match path.as_str() {
        "/never" => {
            std::future::pending::<()>().await;
            unreachable!()
        }
        "/slow" => {
            let begin =
                format!("{}<!doctype html><title>Slow</title><button>Early</button>", head("200 OK", ""));
            // The browser may have disconnected.
            if stream.write_all(begin.as_bytes()).await.is_ok() {
                std::future::pending::<()>().await;
            }
            return;
        }
        "/empty" => head("204 No Content", ""),
        "/file" => format!(
            "{}hello",
            head("200 OK", "Content-Disposition: attachment; filename=hello.txt\r\nContent-Length: 5\r\n")
        ),
        path => match pages.lock().unwrap().iter().find(|(p, _)| p == path) {
            Some((_, html)) => {
                format!("{}{html}", head("200 OK", &format!("Content-Length: {}\r\n", html.len())))
            }
            None => head("404 Not Found", "Content-Length: 0\r\n"),
        },
    };
    if stream.write_all(reply.as_bytes()).await.is_ok() {
        // Everything has been written; whether the browser still reads does not matter.
        let _ = stream.shutdown().await;
    }
}
