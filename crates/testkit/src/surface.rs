//! The ways to call a command, behind one trait.

use crate::expect::Outcome;
use crate::scenario::SurfaceName;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use stickpin_cli::Env;
use stickpin_client::{Client, SocketClient, Start};
use stickpin_kernel::{CancellationToken, Format, Request, Response, Secret};
use stickpin_wire::StateDir;

/// A way to call commands. Owns what it started, and ends it when dropped.
pub trait Surface {
    /// Returns the name of the surface.
    fn name(&self) -> SurfaceName;

    /// Returns whether the surface's client pins refs itself and reads no generations.
    fn pins(&self) -> bool {
        false
    }

    /// Runs one command line, given as words without the program's name.
    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome;
}

/// Who runs a command, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The working directory.
    pub folder: &'a Path,
    /// The agent that the caller says it is.
    pub agent: Option<&'a str>,
}

/// The variable by which an agent names itself.
pub(crate) const AGENT: &str = "STICKPIN_AGENT_ID";

/// Returns the environment of a caller.
pub(crate) fn env_of(env: &Env, caller: Caller<'_>) -> Env {
    let mut env = Env { cwd: caller.folder.to_owned(), ..env.clone() };
    env.evidence.extend(caller.agent.map(|agent| (AGENT.to_owned(), agent.to_owned())));
    env
}

/// The name and value of the secret that every caller of a scenario has.
pub(crate) const TOKEN: (&str, &str) = ("TOKEN", "tok-5f2a91c7e0b3");

/// Returns the environment of a test, with its own state directory, home and working directory.
pub(crate) fn env(dir: &Path, program: &Path) -> Env {
    Env {
        cwd: dir.to_owned(),
        home: Some(dir.to_owned()),
        state_dir: Some(dir.join("state").to_string_lossy().into_owned()),
        session: Some("scenario".to_owned()),
        secrets: [(TOKEN.0.to_owned(), Secret::new(TOKEN.1))].into(),
        program: program.to_owned(),
        ..Env::default()
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built")
}

pub(crate) fn request(words: &[String], env: &Env) -> Result<Request, Box<Response>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut request = stickpin_cli::request(&words, env).map_err(|e| {
        Box::new(stickpin_client::failed_response(words.first().copied().unwrap_or(""), None, e))
    })?;
    request.render.format = Format::Both;
    Ok(request)
}

pub(crate) fn outcome(response: Response) -> Outcome {
    let text = match &response.error {
        Some(e) => {
            let text = response.text.clone().unwrap_or_default();
            Some(format!("{text}\n{}: {}\n{}", e.code.name(), e.message, e.hint))
        }
        None => response.text.clone(),
    };
    // A terminal shows the app's errors too, on stderr.
    let text = text.map(|text| response.app_errors().fold(text, |text, seen| format!("{text}\n{seen}")));
    Outcome {
        exit: response.exit,
        text,
        warning: Some(response.warning.clone().unwrap_or_default()),
        envelope: Some(response),
        received: Vec::new(),
    }
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

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        outcome(match request(words, &env_of(&self.env, caller)) {
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
    pub(crate) fn set_environment<'c>(
        &self,
        command: &'c mut Command,
        caller: Caller<'_>,
    ) -> &'c mut Command {
        if let Some(agent) = caller.agent {
            command.env(AGENT, agent);
        }
        command
            .current_dir(caller.folder)
            .env("HOME", &self.dir)
            .env("STICKPIN_STATE_DIR", self.dir.join("state"))
            .env("STICKPIN_SESSION", "scenario")
            .env(format!("STICKPIN_SECRET_{}", TOKEN.0), TOKEN.1)
            .env_remove("STICKPIN_STALE_REFS")
            .stdin(Stdio::null())
    }

    fn run(&self, words: &[String], caller: Caller<'_>) -> std::process::Output {
        let mut command = Command::new(&self.program);
        self.set_environment(&mut command, caller).args(words).output().expect("the binary runs")
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let caller = Caller { folder: &self.dir, agent: None };
        let output = self.run(&["daemon", "stop", "--force"].map(str::to_owned), caller);
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

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        let output = self.0.run(words, caller);
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

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        let mut words = words.to_vec();
        // Inserted before `--`, after which everything is text.
        let at = words.iter().position(|w| w == "--").unwrap_or(words.len());
        words.insert(at, "--json".to_owned());
        let output = self.0.run(&words, caller);
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
