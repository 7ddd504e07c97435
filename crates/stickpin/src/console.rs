//! `stickpin console`: configures the console from the command line and the environment.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::IsTerminal;
use std::sync::Arc;
use stickpin_cli::{Colors, Console, Env, Streams};
use stickpin_client::SocketClient;
use stickpin_console::{MAIN_CONTEXT, Mode, Printed, Setup, Terminal};
use stickpin_kernel::{Caller, Response, Result};
use stickpin_wire::StateDir;

/// Runs a console until the person leaves it.
pub(crate) fn run(console: &Console, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    let prompts = std::io::stdin().is_terminal() && env.answer_on_terminal;
    let mode = if console.plain || !prompts || env.dumb_terminal { Mode::Plain } else { Mode::Screen };
    let colors = env.colors(Default::default()).out;
    let setup = setup(console, env, colors && mode == Mode::Screen)?;
    let runtime = stickpin_client::runtime()?;
    let mut input = runtime.block_on(async { tokio::io::BufReader::new(tokio::io::stdin()) });
    let terminal = Terminal { input: &mut input, out: &mut *streams.out, err: &mut *streams.err, prompts };
    let ended = runtime.block_on(stickpin_console::run(setup, mode, terminal));
    // The thread that reads a terminal ends with the process.
    runtime.shutdown_background();
    ended
}

fn setup(console: &Console, env: &Env, colors: bool) -> Result<Setup> {
    let state_dir = StateDir::open(&env.state_dir(console.state_dir.as_deref())?)?;
    let installation = env.installation(&state_dir);
    let number = number();
    let context = console.context.clone().unwrap_or_else(|| MAIN_CONTEXT.to_owned());
    let context = (!console.ephemeral).then_some(context);
    let mut caller = env.caller(None);
    caller.evidence.console = Some(number);
    // The agents in the same folder were not shown the output of the console.
    let caller = Caller {
        client: Some(format!("console:{}", context.clone().unwrap_or_else(|| format!("{number:04x}")))),
        ..caller
    };
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let client_commands = crate::install::client_commands();
    Ok(Setup {
        client: Arc::new(SocketClient::new(state_dir, stickpin_cli::start(env))),
        caller,
        session: given(&console.session).or_else(|| given(&env.session)),
        context,
        colors,
        stale_refs: given(&env.stale_refs),
        client_commands,
        shell_only: stickpin_cli::shell_commands().collect(),
        variables: env.variables.clone(),
        installation: Arc::new(installation),
        print,
        help: Arc::new(move |topic| stickpin_cli::help_text(topic, client_commands)),
    })
}

/// Formats a response as the command line does, but without colors: the console adds its own.
fn print(response: &Response, json: bool) -> Printed {
    let (out, err) = stickpin_cli::printed(response, json, Colors::default());
    Printed { out, err }
}

/// Returns a number that distinguishes this console from others of the same person.
fn number() -> u16 {
    let hash = RandomState::new().build_hasher().finish().to_le_bytes();
    u16::from_le_bytes([hash[0], hash[1]])
}
