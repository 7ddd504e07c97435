//! The `stickpin` binary: the only crate that knows about the command line, the daemon and the
//! backends.

mod backends;
mod console;
mod demo;
mod env;
mod install;
mod mcp;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use stickpin_cli::{Hooks, Streams};

/// Returns freed memory to the system. The allocator of the C library does so only for memory at
/// the end of the heap.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Buffered, so that a response of many lines does not need many system calls. Not locked,
    // because this may become the daemon, whose other threads write to stderr.
    let (mut out, mut err) = (io::BufWriter::new(io::stdout()), io::stderr());
    let mut streams = Streams::new(&mut out, &mut err);
    let args = std::env::args_os().skip(1);
    let hooks = Hooks {
        daemon,
        apps: backends::installed_apps,
        demo: demo::run,
        mcp: mcp::run,
        console: console::run,
        first_run: install::first_run,
        cleanup: install::cleanup,
        client_commands: install::client_commands(),
    };
    let code = match env::command_line_env() {
        Ok(env) => stickpin_cli::run(args, &env, hooks, &mut streams),
        Err(e) => stickpin_cli::refuse(args, e, &mut streams),
    };
    ExitCode::from(streams.finish(code))
}

/// Becomes the daemon of a state directory.
fn daemon(state_dir: PathBuf, idle_exit: Option<Duration>) -> u8 {
    if let Err(e) = env::forget_secrets() {
        eprintln!("IO: cannot restart the daemon to remove the secrets from its environment: {e}");
        return stickpin_kernel::ErrorCode::Io.exit();
    }
    stickpin_daemon::run(&stickpin_daemon::Options {
        state_dir,
        idle_exit: idle_exit.unwrap_or(stickpin_daemon::IDLE_EXIT),
        log: env::log_level()
            .and_then(|level| level.parse().ok())
            .unwrap_or(stickpin_daemon::LevelFilter::INFO),
        providers: backends::providers,
        scribe: Arc::new(stickpin_replay::AdScriptWriter),
        files: Arc::new(stickpin_daemon::DiskFiles),
    })
}
