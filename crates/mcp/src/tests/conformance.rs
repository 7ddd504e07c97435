//! Runs the protocol's conformance suite against this server. The suite requests tools, prompts and
//! resources by name. The fixture adds them to the real [`Server`] and uses its answers, log,
//! progress and HTTP. Only the token is omitted, because the suite does not send one.

#![allow(deprecated, reason = "older revisions of the protocol have logging")]

use crate::http::{Limits, accept, service};
use crate::profile::Profile;
use crate::server::{Server, Shared, progress};
use crate::setup::{MAX_CHARS, Setup};
use crate::tool_result::ToolResult;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
    ServerConfig, SetLevelRequestParams, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use stickpin_client::Start;
use stickpin_kernel::{Caller, Error, Response};

/// A red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// An empty sound.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// The tools that the suite calls.
const TOOLS: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_reconnection",
];

/// The real server, with the tools that the suite calls.
struct Fixture {
    server: Server,
    /// The folder of images.
    dir: PathBuf,
}

impl Fixture {
    async fn said(&self, response: Response) -> rmcp::model::CallToolResult {
        ToolResult::new(&response, MAX_CHARS).result(None).await
    }

    fn text(text: &str) -> Response {
        Response { ok: true, text: Some(text.to_owned()), ..Response::default() }
    }

    fn picture(&self, text: &str) -> Response {
        let (image, state_dir) = (Some(self.dir.join("red.png")), Some(self.dir.clone()));
        Response { image, state_dir, ..Self::text(text) }
    }
}

fn resource(text: &str, uri: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri))
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        info.capabilities.prompts = Some(Default::default());
        info
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.set_level(request, context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.server.list_tools(request, context).await?;
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        let plain = |name: &&'static str| Tool::new(*name, "of the suite", object(json!({"type": "object"})));
        list.tools.extend(TOOLS.iter().map(plain));
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": false,
        });
        list.tools.push(Tool::new("json_schema_2020_12_tool", "of the suite", object(schema)));
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut more = None;
        let response = match &*request.name {
            "test_simple_text" | "test_reconnection" => Self::text("This is a simple text response."),
            "test_image_content" => self.picture("a picture"),
            "test_audio_content" => {
                more = Some(ContentBlock::audio(WAV, "audio/wav"));
                Self::text("a sound")
            }
            "test_embedded_resource" => {
                more = Some(resource("This is an embedded resource content.", "test://embedded-resource"));
                Self::text("a resource")
            }
            "test_multiple_content_types" => {
                more = Some(resource("{\"test\":\"data\"}", "test://mixed-content-resource"));
                self.picture("Multiple content types test:")
            }
            "test_tool_with_logging" => {
                for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    self.server.log(&context.peer, LoggingLevel::Info, json!(text)).await;
                }
                Self::text("logged")
            }
            "test_tool_with_progress" => {
                // Progress is reported once a second, and the suite wants three notifications.
                let (peer, token) = (&context.peer, context.meta.get_progress_token());
                let (_silent, heard) = tokio::sync::mpsc::unbounded_channel();
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(3_900)) => Self::text("done"),
                    never = progress(peer, token, &request.name, heard) => match never {},
                }
            }
            "test_error_handling" => {
                let error = Error::invalid_args("this tool intentionally fails");
                Response { error: Some(error), ..Response::default() }
            }
            _ => return self.server.call_tool(request, context).await,
        };
        let mut result = self.said(response).await;
        result.content.extend(more);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.server.list_resources(request, context).await?;
        for name in ["static-text", "static-binary"] {
            list.resources.push(Resource::new(format!("test://{name}"), name));
        }
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &*request.uri;
        let of_template = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, of_template) {
            ("test://static-text", _) => ResourceContents::text("some text", uri),
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            (_, Some(id)) => ResourceContents::text(format!("the data of {id}"), uri),
            _ => return self.server.read_resource(request, context).await,
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments: Vec<_> =
                arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
            Prompt::new(name, Some("of the suite"), (!arguments.is_empty()).then_some(arguments))
        };
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let args: Map<String, Value> = request.arguments.unwrap_or_default();
        let arg = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let content = match &*request.name {
            "test_simple_prompt" => ContentBlock::text("This is a simple prompt."),
            "test_prompt_with_arguments" => {
                ContentBlock::text(format!("arg1='{}', arg2='{}'", arg("arg1"), arg("arg2")))
            }
            "test_prompt_with_embedded_resource" => resource("a resource", &arg("resourceUri")),
            "test_prompt_with_image" => ContentBlock::image(PNG, "image/png"),
            other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new(Role::User, content)]).into())
    }
}

/// Returns the setup of a server that never starts a daemon, which the suite does not need.
fn setup(dir: &Path) -> Setup {
    let state = dir.to_owned();
    Setup {
        client_commands: &[],
        variables: Default::default(),
        profile: Profile::default(),
        read_only: true,
        allow: Vec::new(),
        project_dir: None,
        state_dirs: Vec::new(),
        allow_script: false,
        allow_programs: false,
        structured: false,
        max_chars: MAX_CHARS,
        session: None,
        stale_refs: None,
        caller: Arc::new(|_| Caller::default()),
        state_dir: Arc::new(move |_| Ok(state.clone())),
        start: Start {
            program: "false".into(),
            args: Vec::new(),
            env: &[],
            removed_env: Vec::new(),
            timeout: Duration::ZERO,
        },
    }
}

/// Serves from a thread that ends with the test process; returns the address.
fn serve(dir: &Path) -> String {
    use base64::Engine;
    let png = base64::engine::general_purpose::STANDARD.decode(PNG).expect("a picture");
    std::fs::write(dir.join("red.png"), png).expect("a picture");
    let (dir, (send, receive)) = (dir.to_owned(), std::sync::mpsc::channel());
    std::thread::spawn(move || {
        stickpin_client::runtime().expect("a runtime").block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            send.send(listener.local_addr().expect("an address")).expect("the test waits");
            let shared = Shared::new(setup(&dir));
            let service =
                service(&[], move || Fixture { server: Server::new(&shared, false), dir: dir.clone() }).0;
            let answer = move |request| {
                let service = service.clone();
                async move { Ok(service.handle(request).await) }
            };
            accept(&listener, Limits::default(), answer).await;
        });
    });
    format!("http://{}/mcp", receive.recv().expect("the server listens"))
}

/// Returns the scenarios that may fail, with the reason, from lines like `  - name # reason`.
fn expected() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("conformance/expected-failures.yml").lines();
    let entry =
        |line: &'static str| line.strip_prefix("  - ").map(|e| e.split_once(" # ").expect("a reason"));
    lines.filter_map(entry).collect()
}

/// Returns the number of passed checks and the messages of failed ones, by scenario.
fn results(dir: &Path, scenarios: &[String]) -> BTreeMap<String, (usize, Vec<String>)> {
    let mut results = BTreeMap::new();
    for folder in std::fs::read_dir(dir).expect("results") {
        let folder = folder.expect("a folder").path();
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let scenario = scenarios.iter().filter(|s| name.starts_with(&format!("server-{s}-")));
        let scenario = scenario.max_by_key(|s| s.len()).unwrap_or_else(|| panic!("whose is {name}?"));
        let checks = std::fs::read(folder.join("checks.json")).expect("checks");
        let checks: Vec<Value> = serde_json::from_slice(&checks).expect("a list");
        let with = |status: &'static str| checks.iter().filter(move |check| check["status"] == status);
        let why = |check: &Value| format!("{}: {}", check["id"], check["errorMessage"]);
        results.insert(scenario.clone(), (with("SUCCESS").count(), with("FAILURE").map(why).collect()));
    }
    results
}

#[test]
fn the_conformance_suite_passes_where_it_applies() {
    let Some(npm) = stickpin_testkit::npm() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/conformance");
    let tmp = tempfile::tempdir().expect("a folder");
    let suite = |args: &[&str]| {
        let mut command = Command::new("node");
        command.arg("--import").arg(here.join("old-node.mjs"));
        command.arg(npm.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        let output = command.args(args).current_dir(tmp.path()).output().expect("node runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (_, list, err) = suite(&["list", "--server"]);
    let scenarios: Vec<String> = list
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next().map(str::to_owned))
        .collect();
    assert!(scenarios.len() > 20, "{list}{err}");

    let (url, out) = (serve(tmp.path()), tmp.path().join("results"));
    let failures = here.join("expected-failures.yml");
    let (url, dir, failures) = (&*url, out.to_str().expect("text"), failures.to_str().expect("text"));
    let run =
        ["server", "--url", url, "--suite", "all", "--output-dir", dir, "--expected-failures", failures];
    let (passed, said, err) = suite(&run);

    let (results, expected) = (results(&out, &scenarios), expected());
    let mut table = String::from("| scenario | passed | failed | |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    for scenario in &scenarios {
        let Some((good, bad)) = results.get(scenario) else {
            wrong.push(format!("{scenario} has not run"));
            continue;
        };
        let note = expected.get(&**scenario).map(|why| format!("expected: {why}")).unwrap_or_default();
        table.push_str(&format!("| {scenario} | {good} | {} | {note} |\n", bad.len()));
        match (bad.is_empty() && *good > 0, note.is_empty()) {
            (true, false) => wrong.push(format!("{scenario} passes and need not be expected to fail")),
            (false, true) => wrong.push(format!("{scenario} fails: {bad:?}")),
            _ => {}
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:#?}\n{said}{err}");
    assert!(passed, "the suite itself disagrees:\n{said}{err}");
    let docs = std::fs::read_to_string(here.join("../../../../../docs/mcp.md")).expect("the page");
    assert!(docs.contains(&table), "docs/mcp.md has another table than this one:\n{table}");
}
