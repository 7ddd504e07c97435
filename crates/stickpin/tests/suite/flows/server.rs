//! Third-party web apps that run as servers (`fixtures/web/servers`): one process per flow.

use super::place;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stickpin_testkit::PageServer;

/// The requirements of a server.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The packages from PyPI.
    python: PathBuf,
    /// The packages from npm.
    modules: PathBuf,
}

impl Programs {
    /// Returns the installed programs. Returns `None`, with a message on stderr, if they are not
    /// installed.
    pub fn installed() -> Option<Self> {
        let python = place::installed("servers")?;
        let modules = place::installed("apps")?.join("node_modules");
        Some(Self { python, modules })
    }
}

/// A running server, which ends with this value and with this process.
pub struct Server {
    child: Child,
    origin: String,
    _data: tempfile::TempDir,
}

impl Server {
    /// Starts a script of `fixtures/web/servers` and waits until it listens. The app reports to
    /// `log`.
    ///
    /// # Panics
    /// Panics if the script ends before it listens.
    pub fn start(programs: &Programs, script: &str, log: &PageServer) -> Self {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/web/servers");
        let data = tempfile::tempdir().expect("a folder");
        let interpreter = if script.ends_with(".mjs") { "node" } else { "python3" };
        let mut child = Command::new(interpreter)
            .arg(sources.join(script))
            .env("PYTHONPATH", &programs.python)
            // The checkout stays unchanged; compiled Python files stay with the packages.
            .env("PYTHONPYCACHEPREFIX", programs.python.with_file_name("pycache"))
            .env("FLOWS_MODULES", &programs.modules)
            .env("FLOWS_DIR", data.path())
            .env("FLOWS_LOG", format!("{}/__log", log.origin()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{interpreter}: {e}"));
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let listens = |line: std::io::Result<String>| {
            line.expect("its output is text").strip_prefix("listening ").map(str::to_owned)
        };
        let origin = lines.by_ref().find_map(listens).unwrap_or_else(|| panic!("{script} never listened"));
        // Later output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, origin, _data: data }
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the app's current data, as JSON.
    pub fn state(&self) -> serde_json::Value {
        let address = self.origin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the server listens");
        write!(stream, "GET /__state HTTP/1.0\r\nHost: {address}\r\n\r\n").expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {answer}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("the server was still there");
        self.child.wait().expect("the server ends");
    }
}
