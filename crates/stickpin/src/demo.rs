//! `stickpin demo`: a typical task in the simulated shop, each command with its output. Runs in
//! this process without a daemon, with the same output every time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stickpin_cli::{Env, Streams};
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Host, Response, Result};

/// Seeds generations, so that the transcript is reproducible.
const SEED: u64 = 2;

/// The lines of the demonstration. `#` begins a sentence, `$` a command that succeeds, and `!` a
/// command that is refused because its ref is stale. `@ name rest` stores the ref whose line in the
/// previous output continues with `rest`, for use as `{name}`.
const SCRIPT: &str = include_str!("demo.txt");

/// Runs the demonstration. Fails if a command does not have its expected result.
pub(crate) fn run(streams: &mut Streams<'_>) -> u8 {
    let shown = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorCode::Io, format!("cannot start the async runtime: {e}")))
        .and_then(|runtime| runtime.block_on(show(streams)));
    match shown {
        Ok(()) => 0,
        Err(error) => {
            // If stderr fails too, there is nowhere to report the error.
            let _ = writeln!(streams.err, "{}: {error}", error.code.name());
            error.code.exit()
        }
    }
}

async fn show(streams: &mut Streams<'_>) -> Result<()> {
    let scratch = ScratchFolder::new()?;
    let host = Host::builder(&scratch.0).providers(crate::backends::providers()).random(|| SEED).build()?;
    let env = Env { cwd: "/demo".into(), ..Env::default() };
    let (mut refs, mut text) = (HashMap::new(), String::new());
    for line in SCRIPT.lines() {
        let broken = || Error::new(ErrorCode::Internal, format!("`{line}` did not do what the demo shows"));
        let (kind, rest) = line.split_once(' ').ok_or_else(broken)?;
        match kind {
            "#" => print(streams, line)?,
            "@" => {
                let (name, shown) = rest.split_once(' ').ok_or_else(broken)?;
                let mut lines = text.lines().filter_map(|l| l.trim_start().split_once(' '));
                let (number, _) = lines.find(|(_, l)| l.starts_with(shown)).ok_or_else(broken)?;
                refs.insert(format!("{{{name}}}"), number.to_owned());
            }
            _ => {
                let refused = (kind == "!").then_some(ErrorCode::StaleRef);
                let command = refs.iter().fold(rest.to_owned(), |line, (name, r)| line.replace(name, r));
                print(streams, &format!("$ stickpin {command}"))?;
                let request = stickpin_cli::request(&words(&command), &env)?;
                let response = host.call(request, CancellationToken::new()).await;
                text = response.text.clone().unwrap_or_default();
                print(streams, &format!("{}{}\n", text.trim_end(), said_beside(&response)))?;
                if response.error.map(|e| e.code) != refused
                    || response.exit != refused.map_or(0, ErrorCode::exit)
                {
                    return Err(broken());
                }
            }
        }
    }
    Ok(())
}

/// Returns the warning of a response as the command line prints it on stderr; empty if there is
/// none.
fn said_beside(response: &Response) -> String {
    response.warning.as_ref().map(|warning| format!("\nwarning: {warning}")).unwrap_or_default()
}

fn print(streams: &mut Streams<'_>, text: &str) -> Result<()> {
    writeln!(streams.out, "{text}")
        .map_err(|e| Error::new(ErrorCode::Io, format!("cannot write to stdout: {e}")))
}

/// Splits a command line; single quotes enclose words that contain spaces.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// A folder that is removed after the demonstration.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("stickpin-demo-{}", std::process::id()));
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&dir).map_err(|e| stickpin_kernel::io_error("create the folder", &dir, &e))?;
        Ok(Self(dir))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(dir: &Path) {
    // A folder that cannot be removed stays among the temporary files.
    let _ = std::fs::remove_dir_all(dir);
}
