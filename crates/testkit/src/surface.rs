//! The ways to call a command, behind one trait.

use crate::expect::Outcome;
use crate::scenario::SurfaceName;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use stickpin_cli::Env;
use stickpin_client::{Client, SocketClient, Start};
use stickpin_daemon::DiskNumbers;
use stickpin_device::Provider;
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Format, Host, Request, Response, Secret};
use stickpin_replay::script::{Node, NodeKind, Script as ScriptOf, Template, write};
use stickpin_replay::{AdScriptWriter, Plan, RunOptions, Vars, run};
use stickpin_wire::StateDir;

/// A way to call commands. Owns what it started, and ends it when dropped.
pub trait Surface {
    /// Returns the name of the surface.
    fn name(&self) -> SurfaceName;

    /// Returns whether its client pins refs itself and reads no generations.
    fn pins(&self) -> bool {
        false
    }

    /// Runs one command line in a folder, given as words without the program's name.
    fn call(&mut self, words: &[String], folder: &Path) -> Outcome;
}

/// The name and value of the secret that every caller of a scenario has.
pub(crate) const TOKEN: (&str, &str) = ("TOKEN", "tok-5f2a91c7e0b3");

/// Returns the environment of a test, with its own state directory, home and working directory.
fn env(dir: &Path, program: &Path) -> Env {
    Env {
        cwd: dir.to_owned(),
        home: Some(dir.to_owned()),
        project_dir: None,
        state_dir: Some(dir.join("state").to_string_lossy().into_owned()),
        session: Some("scenario".to_owned()),
        stale_refs: None,
        mcp_profile: None,
        mcp_token: None,
        variables: Default::default(),
        secrets: [(TOKEN.0.to_owned(), Secret::new(TOKEN.1))].into(),
        terminal: false,
        answer_on_terminal: false,
        dumb_terminal: false,
        columns: None,
        color: Default::default(),
        program: program.to_owned(),
        of_daemon: &[],
        evidence: Default::default(),
        harness_variables: Default::default(),
        private: Vec::new(),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built")
}

fn request(words: &[String], env: &Env) -> Result<Request, Box<Response>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut request = stickpin_cli::request(&words, env).map_err(|e| {
        Box::new(stickpin_client::failed_response(words.first().copied().unwrap_or(""), None, e))
    })?;
    request.render.format = Format::Both;
    Ok(request)
}

fn outcome(response: Response) -> Outcome {
    let text = match &response.error {
        Some(e) => {
            let text = response.text.clone().unwrap_or_default();
            Some(format!("{text}\n{}: {}\n{}", e.code.name(), e.message, e.hint))
        }
        None => response.text.clone(),
    };
    // A terminal shows them too, on stderr.
    let text = text.map(|text| response.app_errors().fold(text, |text, seen| format!("{text}\n{seen}")));
    Outcome {
        exit: response.exit,
        text,
        warning: Some(response.warning.clone().unwrap_or_default()),
        envelope: Some(response),
        received: Vec::new(),
    }
}

/// A `Host` in this process.
pub struct InProcess {
    runtime: tokio::runtime::Runtime,
    host: Host,
    env: Env,
}

impl InProcess {
    /// Creates a host with these providers.
    ///
    /// # Panics
    /// Panics if the state directory cannot be created.
    #[must_use]
    pub fn new(dir: &Path, providers: Vec<Arc<dyn Provider>>) -> Self {
        let runtime = runtime();
        let env = env(dir, Path::new("stickpin"));
        let state = dir.join("state");
        std::fs::create_dir_all(&state).expect("a state dir");
        // Numbers continue from one lifetime to the next, as in the daemon.
        let numbers = DiskNumbers::new(&state, Arc::new(SystemTime::now));
        let host = Host::builder(&state)
            .providers(providers)
            .numbers(move |session| Ok(numbers.for_session(session)))
            .script_writer(Arc::new(AdScriptWriter));
        let host = host.build().expect("no command is added");
        Self { runtime, host, env }
    }

    /// Runs a request with changes that a command line cannot express (pins, `since`).
    pub fn request(&mut self, words: &[&str], change: impl FnOnce(&mut Request)) -> Response {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        match request(&words, &self.env) {
            Ok(mut request) => {
                change(&mut request);
                self.runtime.block_on(self.host.call(request, CancellationToken::new()))
            }
            Err(response) => *response,
        }
    }
}

impl Surface for InProcess {
    fn name(&self) -> SurfaceName {
        SurfaceName::InProcess
    }

    fn call(&mut self, words: &[String], folder: &Path) -> Outcome {
        let env = Env { cwd: folder.to_owned(), ..self.env.clone() };
        outcome(match request(words, &env) {
            Ok(request) => self.runtime.block_on(self.host.call(request, CancellationToken::new())),
            Err(response) => *response,
        })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.runtime.block_on(self.host.shutdown());
    }
}

/// Scripts: each command is written as a line, parsed, planned and run, in a run that continues the
/// previous one. The run does not wait, because command lines do not wait either.
pub struct Script {
    host: InProcess,
    client_refs: Vec<(u32, u32)>,
}

impl Script {
    /// Creates a host with these providers.
    #[must_use]
    pub fn new(dir: &Path, providers: Vec<Arc<dyn Provider>>) -> Self {
        Self { host: InProcess::new(dir, providers), client_refs: Vec::new() }
    }
}

/// Keeps the answer to a script's single command. Other questions that a failed run asks would
/// issue refs that no other surface issues.
struct CapturingClient {
    host: Host,
    command: &'static str,
    answer: Mutex<Option<Response>>,
}

#[async_trait::async_trait]
impl Client for CapturingClient {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        if request.command != self.command || self.answer.lock().expect("no call panicked").is_some() {
            let e = Error::new(ErrorCode::Unsupported, "this surface answers one command");
            return stickpin_client::failed_response(&request.command, None, e);
        }
        let response = self.host.call(request, cancel).await;
        self.answer.lock().expect("no call panicked").insert(response).clone()
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self
    }
}

impl Surface for Script {
    fn name(&self) -> SurfaceName {
        SurfaceName::Script
    }

    fn call(&mut self, words: &[String], folder: &Path) -> Outcome {
        let InProcess { runtime, host, env } = &self.host;
        let words = words.iter().map(Template::text).collect();
        let body = vec![Node { line: 0, kind: NodeKind::Command(words) }];
        let text = write(&ScriptOf { body, ..ScriptOf::default() });
        let plan = Plan::read(Path::new("step.ad"), &Vars::default(), &|_| Ok(text.clone()));
        let plan = match plan {
            Ok(plan) => plan,
            Err(e) => return outcome(stickpin_client::failed_response("", None, e)),
        };
        let options = RunOptions {
            session: env.session.clone(),
            client_refs: self.client_refs.clone(),
            wait: Duration::ZERO,
            ..RunOptions::new(Env { cwd: folder.to_owned(), ..env.clone() }.caller(None))
        };
        let command = plan.first_step().map_or("", |step| step.line.entry.spec.name);
        let client = CapturingClient { host: host.clone(), command, answer: Mutex::default() };
        let ran = runtime.block_on(run(&plan, &client, &options, &mut |_| {}));
        match client.answer.into_inner().expect("no call panicked") {
            Some(answer) => {
                self.client_refs.extend(issued_refs(&answer));
                outcome(answer)
            }
            None => {
                let error = ran.steps.into_iter().find_map(|step| step.error).expect("it was not sent");
                outcome(stickpin_client::failed_response("", None, error))
            }
        }
    }
}

/// Returns the refs that a response issues, including those of a batch's steps.
fn issued_refs(response: &Response) -> Vec<(u32, u32)> {
    let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
    let read = |step: &serde_json::Value| serde_json::from_value::<Response>(step.clone()).ok();
    let steps = steps.into_iter().flatten().filter_map(read);
    std::iter::once(response.clone())
        .chain(steps)
        .filter_map(|response| response.refs)
        .flat_map(|refs| refs.issued)
        .collect()
}

/// The daemon's socket.
pub struct Socket {
    runtime: tokio::runtime::Runtime,
    client: SocketClient,
    env: Env,
    _binary: Binary,
}

impl Socket {
    /// Creates a client of a separate daemon.
    ///
    /// # Panics
    /// Panics if the state directory cannot be created.
    #[must_use]
    pub fn new(dir: &Path, program: &Path) -> Self {
        let env = env(dir, program);
        let place = StateDir::open(&dir.join("state")).expect("a state dir");
        let args = ["daemon", "run"].map(Into::into).to_vec();
        let start = Start {
            program: program.to_owned(),
            args,
            env: &[],
            removed_env: Vec::new(),
            timeout: Duration::from_secs(20),
        };
        Self {
            runtime: runtime(),
            client: SocketClient::new(place, start),
            env,
            _binary: Binary::new(dir, program),
        }
    }
}

impl Surface for Socket {
    fn name(&self) -> SurfaceName {
        SurfaceName::Socket
    }

    fn call(&mut self, words: &[String], folder: &Path) -> Outcome {
        let env = Env { cwd: folder.to_owned(), ..self.env.clone() };
        outcome(match request(words, &env) {
            Ok(request) => self.runtime.block_on(self.client.call(request, CancellationToken::new())),
            Err(response) => *response,
        })
    }
}

/// The built binary with a separate state directory, whose daemon is stopped on drop.
pub(crate) struct Binary {
    pub(crate) program: PathBuf,
    pub(crate) dir: PathBuf,
}

impl Binary {
    pub(crate) fn new(dir: &Path, program: &Path) -> Self {
        Self { program: program.to_owned(), dir: dir.to_owned() }
    }

    /// Sets the environment that the binary reads.
    pub(crate) fn set_environment<'c>(&self, command: &'c mut Command, folder: &Path) -> &'c mut Command {
        command
            .current_dir(folder)
            .env("HOME", &self.dir)
            .env("STICKPIN_STATE_DIR", self.dir.join("state"))
            .env("STICKPIN_SESSION", "scenario")
            .env(format!("STICKPIN_SECRET_{}", TOKEN.0), TOKEN.1)
            .env_remove("STICKPIN_STALE_REFS")
            .stdin(Stdio::null())
    }

    fn run(&self, words: &[String], folder: &Path) -> std::process::Output {
        let mut command = Command::new(&self.program);
        self.set_environment(&mut command, folder).args(words).output().expect("the binary runs")
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let output = self.run(&["daemon", "stop", "--force"].map(str::to_owned), &self.dir);
        if !output.status.success() {
            eprintln!("daemon stop: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

fn exit_code(output: &std::process::Output) -> u8 {
    output.status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(255)
}

/// The binary with text output.
pub struct ProcessText(Binary);

impl ProcessText {
    /// Creates a surface with a separate daemon.
    #[must_use]
    pub fn new(dir: &Path, program: &Path) -> Self {
        Self(Binary::new(dir, program))
    }
}

impl Surface for ProcessText {
    fn name(&self) -> SurfaceName {
        SurfaceName::ProcessText
    }

    fn call(&mut self, words: &[String], folder: &Path) -> Outcome {
        let output = self.0.run(words, folder);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let (warnings, errors): (Vec<&str>, Vec<&str>) =
            err.lines().partition(|l| l.starts_with("warning: "));
        let warning = warnings.first().map_or("", |w| w.trim_start_matches("warning: ")).to_owned();
        let text = if errors.is_empty() { out } else { format!("{out}{}", errors.join("\n")) };
        Outcome { exit: exit_code(&output), text: Some(text), warning: Some(warning), ..Outcome::default() }
    }
}

/// The binary with `--json`.
pub struct ProcessJson(Binary);

impl ProcessJson {
    /// Creates a surface with a separate daemon.
    #[must_use]
    pub fn new(dir: &Path, program: &Path) -> Self {
        Self(Binary::new(dir, program))
    }
}

impl Surface for ProcessJson {
    fn name(&self) -> SurfaceName {
        SurfaceName::ProcessJson
    }

    fn call(&mut self, words: &[String], folder: &Path) -> Outcome {
        let mut words = words.to_vec();
        // Inserted before `--`, after which everything is text.
        let at = words.iter().position(|w| w == "--").unwrap_or(words.len());
        words.insert(at, "--json".to_owned());
        let output = self.0.run(&words, folder);
        let out = String::from_utf8_lossy(&output.stdout);
        match serde_json::from_str::<Response>(&out) {
            Ok(envelope) => Outcome {
                exit: exit_code(&output),
                warning: Some(envelope.warning.clone().unwrap_or_default()),
                envelope: Some(envelope),
                ..Outcome::default()
            },
            Err(e) => {
                let text = format!("no envelope ({e}): {out}{}", String::from_utf8_lossy(&output.stderr));
                Outcome { exit: exit_code(&output), text: Some(text), ..Outcome::default() }
            }
        }
    }
}
