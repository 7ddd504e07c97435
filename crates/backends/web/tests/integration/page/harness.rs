//! A page in a browser with the script injected, a server of static files, and the browser's own
//! view of the page.

use crate::support;
use hashbrown::HashMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_backend_web::WebDevice;
use stickpin_devtools::Method;
use stickpin_tree::{SurfaceId, Tree};
use stickpin_webpage::agent::{AGENT, WORLD};
use stickpin_webpage::capture::{Columns, DocumentCapture, assemble};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Sends any command and returns its answer as JSON.
macro_rules! command {
    ($name:ident = $wire:literal) => {
        #[derive(Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(crate) Value);
        impl Method for $name {
            const NAME: &'static str = $wire;
            type Output = Value;
        }
    };
}
command!(Navigate = "Page.navigate");
command!(FrameTree = "Page.getFrameTree");
command!(CreateWorld = "Page.createIsolatedWorld");
command!(Evaluate = "Runtime.evaluate");
command!(CallOn = "Runtime.callFunctionOn");
command!(Document = "DOM.getDocument");
command!(Resolve = "DOM.resolveNode");
command!(CollectGarbage = "HeapProfiler.collectGarbage");
command!(AxTree = "Accessibility.getFullAXTree");
command!(Mouse = "Input.dispatchMouseEvent");
command!(InsertText = "Input.insertText");

/// A tab that shows a page, and our isolated world in it.
pub(crate) struct Page {
    device: WebDevice,
    world: u64,
    _dir: tempfile::TempDir,
}

impl Page {
    /// Starts a browser. Returns `None` if none is installed.
    pub(crate) async fn start() -> Option<Self> {
        let (dir, device) = support::start().await?;
        Some(Self { device, world: 0, _dir: dir })
    }

    pub(crate) async fn call<M: Method<Output = Value>>(&self, method: M) -> Value {
        let (client, session) = self.device.devtools();
        client.call(Some(session), &method).await.unwrap_or_else(|e| panic!("{e}"))
    }

    /// Shows a page and waits until it is loaded.
    pub(crate) async fn open(&mut self, url: &str) {
        let shown = self.call(Navigate(json!({ "url": url }))).await;
        assert!(shown.get("errorText").is_none(), "{url}: {shown}");
        let frame = self.call(FrameTree(json!({}))).await["frameTree"]["frame"]["id"].clone();
        let world = self.call(CreateWorld(json!({ "frameId": frame, "worldName": WORLD }))).await;
        self.world = world["executionContextId"].as_u64().unwrap();
        let loaded = "new Promise(done => document.readyState === 'complete' ? done(true) : addEventListener('load', () => done(true)))";
        assert_eq!(self.eval::<bool>(loaded).await, Some(true), "{url}");
        self.eval::<Value>(AGENT).await;
    }

    async fn evaluate(&self, parameters: Value) -> Value {
        let answer = self.call(Evaluate(parameters)).await;
        assert!(answer.get("exceptionDetails").is_none(), "{:#}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Evaluates an expression in our world; `None` for null and undefined.
    pub(crate) async fn eval<T: DeserializeOwned>(&self, expression: &str) -> Option<T> {
        let value = self
            .evaluate(json!({
                "expression": expression, "contextId": self.world, "returnByValue": true, "awaitPromise": true,
            }))
            .await;
        serde_json::from_value(value).unwrap()
    }

    /// Evaluates an expression in the world of the page's own scripts.
    pub(crate) async fn page_eval(&self, expression: &str) -> Value {
        self.evaluate(json!({ "expression": expression, "returnByValue": true, "awaitPromise": true })).await
    }

    pub(crate) async fn capture(&self) -> Tree {
        let json: String = self.eval("__stickpin.capture({})").await.unwrap();
        let part =
            DocumentCapture { columns: Columns::parse(&json).unwrap(), scope: 1, frame: String::new() };
        assemble(&part, &HashMap::new(), SurfaceId(0)).unwrap()
    }

    /// Returns the number of the first element that matches.
    pub(crate) async fn id(&self, selector: &str) -> u64 {
        let expression = format!("__stickpin.idOf(document.querySelector({}))", json!(selector));
        self.eval(&expression).await.unwrap()
    }

    /// Returns the object of a node in our world.
    pub(crate) async fn resolve(&self, backend_node: u64) -> String {
        let resolve = Resolve(json!({ "backendNodeId": backend_node, "executionContextId": self.world }));
        self.call(resolve).await["object"]["objectId"].as_str().unwrap().to_owned()
    }

    /// Returns what the browser's own tree reports for the elements of the document and its open
    /// shadow roots, in that tree's order.
    pub(crate) async fn oracle(&self) -> Vec<AxNode> {
        let tree = self.call(AxTree(json!({}))).await;
        let all = tree["nodes"].as_array().unwrap();
        let by_id: HashMap<&str, &Value> = all.iter().map(|n| (n["nodeId"].as_str().unwrap(), n)).collect();
        let mut nodes: Vec<AxNode> = Vec::new();
        // The nodes to visit, each with the index of its nearest listed ancestor.
        let mut open: Vec<(&Value, Option<usize>)> =
            all.first().map(|root| (root, None)).into_iter().collect();
        while let Some((node, above)) = open.pop() {
            let mut here = above;
            if let Some(found) = self.told(node, above).await {
                here = Some(nodes.len());
                nodes.push(found);
            }
            let children = node["childIds"].as_array().into_iter().flatten().rev();
            open.extend(children.filter_map(|id| Some((*by_id.get(id.as_str()?)?, here))));
        }
        nodes
    }

    /// Returns what a node reports, or `None` for nodes that are not elements of the page or are
    /// hidden from assistive technology.
    async fn told(&self, node: &Value, above: Option<usize>) -> Option<AxNode> {
        let role = node["role"]["value"].as_str().unwrap_or("");
        let text = ["StaticText", "InlineTextBox", "ListMarker", "LineBreak", "RootWebArea", "MenuListPopup"];
        let backend = node["backendDOMNodeId"].as_u64()?;
        if node["ignored"] == json!(true) || text.contains(&role) {
            return None;
        }
        let (client, session) = self.device.devtools();
        let resolve = Resolve(json!({ "backendNodeId": backend, "executionContextId": self.world }));
        // Nodes of other documents cannot be resolved into this world.
        let found = client.call(Some(session), &resolve).await.ok()?;
        // The internals of the browser's own controls are not part of the page.
        let function = "function() {
            let root = this.getRootNode();
            while (root instanceof ShadowRoot && root.host.shadowRoot === root) root = root.host.getRootNode();
            if (root !== document || this.nodeType !== 1) return null;
            return { id: __stickpin.idOf(this), reason: Element.prototype.getAttribute.call(this, 'data-chrome'), html: this.outerHTML.slice(0, 100) };
        }";
        let call = json!({
            "objectId": found["object"]["objectId"], "functionDeclaration": function, "returnByValue": true,
        });
        let about = self.call(CallOn(call)).await;
        let about: About =
            serde_json::from_value::<Option<About>>(about["result"]["value"].clone()).ok()??;
        let level = node["properties"].as_array().into_iter().flatten().find(|p| p["name"] == "level");
        let value = &node["value"]["value"];
        Some(AxNode {
            id: about.id,
            role: own_role(role).to_owned(),
            name: squeeze(node["name"]["value"].as_str().unwrap_or("")),
            value: value
                .as_str()
                .map_or_else(|| value.as_f64().map_or_else(String::new, |n| n.to_string()), squeeze),
            description: squeeze(node["description"]["value"].as_str().unwrap_or("")),
            level: level.and_then(|l| l["value"]["value"].as_u64()).unwrap_or(0),
            above,
            reason: about.reason,
            html: about.html,
        })
    }
}

#[derive(Deserialize)]
struct About {
    id: u64,
    reason: Option<String>,
    html: String,
}

/// An element in the browser's own accessibility tree.
pub(crate) struct AxNode {
    pub(crate) id: u64,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) description: String,
    /// The level of headings and tree items, otherwise 0.
    pub(crate) level: u64,
    /// The index of the containing element.
    pub(crate) above: Option<usize>,
    /// The reason why our tree may differ.
    pub(crate) reason: Option<String>,
    pub(crate) html: String,
}

/// Collapses white space as trees do.
pub(crate) fn squeeze(s: &str) -> String {
    s.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Maps the browser's internal roles to the role names of our trees.
pub(crate) fn own_role(role: &str) -> &str {
    match role {
        "image" => "img",
        "LabelText" => "label",
        "Legend" => "legend",
        "Iframe" => "iframe",
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => "button",
        // HTML-AAM has no role for these; they are filled like text boxes.
        "ColorWell" | "Date" | "DateTime" | "InputTime" => "textbox",
        // The browser's heuristic for tables that look like layout; HTML-AAM has no such role.
        "LayoutTable" => "table",
        "LayoutTableRow" => "row",
        "LayoutTableCell" => "cell",
        "Canvas" => "canvas",
        "Video" => "video",
        "Audio" => "audio",
        "MathMLMath" => "math",
        "MenuListOption" | "ListBoxOption" => "option",
        // Roles that are not in ARIA 1.2.
        "SvgRoot" | "DescriptionList" | "Figcaption" | "Pre" | "Abbr" | "none" | "presentation"
        | "sectionheader" | "sectionfooter" | "PluginObject" | "EmbeddedObject" | "Ruby"
        | "RubyAnnotation" => "generic",
        "Details" => "group",
        "directory" => "list",
        role if role.starts_with("MathML") => "generic",
        other => other,
    }
}

/// Returns the root of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The response of a server to a path: content type and body.
pub(crate) type Answer = Option<(&'static str, Vec<u8>)>;

/// Serves files on the loopback interface until the test ends. Returns `http://host:port`.
pub(crate) async fn serve(files: impl Fn(&str) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let files = Arc::new(files);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let files = Arc::clone(&files);
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut chunk = [0; 2048];
                while !head.windows(4).any(|w| w == b"\r\n\r\n") {
                    match stream.read(&mut chunk).await {
                        Ok(n) if n > 0 => head.extend_from_slice(&chunk[..n]),
                        _ => return,
                    }
                }
                let head = String::from_utf8_lossy(&head);
                let path = head.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/");
                let (status, kind, body) = match files(path) {
                    Some((kind, body)) => ("200 OK", kind, body),
                    None => ("404 Not Found", "text/plain", Vec::new()),
                };
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                // A browser that has disconnected needs no response.
                let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
            });
        }
    });
    format!("http://{address}")
}

/// Serves the files below a folder.
pub(crate) async fn serve_folder(folder: PathBuf) -> String {
    serve(move |path| {
        let file = folder.join(path.trim_start_matches('/'));
        let kind = if path.ends_with(".js") { "text/javascript" } else { "text/html; charset=utf-8" };
        Some((kind, std::fs::read(file).ok()?))
    })
    .await
}

/// Returns the pages below a folder, sorted.
pub(crate) fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|e| e == "html") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Checks that the list between the marks in a documentation page equals the given lines.
/// `INSTA_UPDATE=always` writes it.
pub(crate) fn documented(page: &str, lines: &[String]) {
    const BEGIN: &str = "<!-- list: begin -->\n";
    const END: &str = "<!-- list: end -->";
    let path = root().join("docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = text.find(BEGIN).unwrap() + BEGIN.len();
    let end = text.find(END).unwrap();
    let list = format!("```text\n{}\n```\n", lines.join("\n"));
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, format!("{}{list}{}", &text[..begin], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[begin..end], list, "{page}: run with INSTA_UPDATE=always to rewrite the list");
    }
}
