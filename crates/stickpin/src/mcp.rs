//! `stickpin mcp`: configures the server from the command line and the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stickpin_cli::{Env, Mcp, Streams};
use stickpin_kernel::{EnvAge, Error, ErrorCode, Result};
use stickpin_mcp::{CLIENT_TIMEOUT, HttpOptions, MAX_CHARS, Profile, Setup};

/// Serves clients, or prints how to configure one.
pub(crate) fn run(mcp: &Mcp, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    if let Some(client) = &mcp.print_config {
        let text =
            stickpin_mcp::config(client, &env.program, &kept(mcp), &crate::env::passed_variables(env))?;
        print(streams, &text)?;
        return Ok(0);
    }
    let setup = setup(mcp, env)?;
    match &mcp.http {
        None => stickpin_mcp::serve_stdio(setup)?,
        Some(address) => {
            let (token, hosts) = (env.mcp_token.clone(), mcp.hosts.clone());
            let client_timeout = mcp.client_timeout.map_or(CLIENT_TIMEOUT, Duration::from_secs);
            let http = HttpOptions { address: address.clone(), token, hosts, client_timeout };
            let mut told = Ok(());
            let given = http.token.is_some();
            stickpin_mcp::serve_http(setup, &http, |url, token| {
                // A token that the caller provided is not repeated.
                let token = if given { "as in STICKPIN_MCP_TOKEN" } else { token };
                told = print(streams, &format!("listening at {url}\ntoken {token}"));
            })?;
            told?;
        }
    }
    Ok(0)
}

/// Returns the options of this call that a client's configuration must contain.
fn kept(mcp: &Mcp) -> Vec<String> {
    let value = |name: &str, value: &Option<String>| value.iter().map(|v| format!("--{name}={v}")).collect();
    let options: [Vec<String>; 3] =
        [value("profile", &mcp.profile), value("session", &mcp.session), value("state-dir", &mcp.state_dir)];
    let mut kept = options.concat();
    kept.extend(mcp.read_only.then(|| "--read-only".to_owned()));
    kept.extend(mcp.structured.then(|| "--structured".to_owned()));
    kept.extend(mcp.allow.iter().map(|dir| format!("--allow-path={dir}")));
    kept.extend(mcp.allow_state_dirs.iter().map(|dir| format!("--allow-state-dir={dir}")));
    kept.extend(mcp.allow_script.then(|| "--allow-script".to_owned()));
    kept.extend(mcp.allow_programs.then(|| "--allow-programs".to_owned()));
    kept.extend(mcp.max_chars.map(|n| format!("--max-chars={n}")));
    kept
}

fn setup(mcp: &Mcp, env: &Env) -> Result<Setup> {
    let word = mcp.profile.as_deref().or(env.mcp_profile.as_deref());
    let folders =
        |named: &[String]| named.iter().map(|dir| env.resolve(dir)).collect::<Result<Vec<PathBuf>>>();
    // An empty variable counts as unset; an empty option was already refused.
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let (of_caller, of_dir, state_dir) = (env.clone(), env.clone(), mcp.state_dir.clone());
    Ok(Setup {
        profile: word.map(str::parse).transpose()?.unwrap_or(Profile::default()),
        read_only: mcp.read_only,
        allow: folders(&mcp.allow)?,
        project_dir: env.project_dir.as_ref().map(PathBuf::from).filter(|dir| dir.is_absolute()),
        state_dirs: folders(&mcp.allow_state_dirs)?,
        allow_script: mcp.allow_script,
        allow_programs: mcp.allow_programs,
        structured: mcp.structured,
        max_chars: mcp.max_chars.map_or(MAX_CHARS, |n| usize::try_from(n).unwrap_or(usize::MAX)),
        session: given(&mcp.session).or_else(|| given(&env.session)),
        stale_refs: given(&env.stale_refs),
        caller: Arc::new(move |client| {
            let mut caller = of_caller.caller(Some(client));
            // The environment of the server is as old as the server itself.
            caller.evidence.env_age = EnvAge::Spawn;
            caller.evidence.connection = Some(client.to_owned());
            caller
        }),
        state_dir: Arc::new(move |named| of_dir.state_dir(named.or(state_dir.as_deref()))),
        client_commands: stickpin_replay::COMMANDS,
        variables: env.variables.clone(),
        start: stickpin_cli::start(env),
    })
}

fn print(streams: &mut Streams<'_>, text: &str) -> Result<()> {
    writeln!(streams.out, "{text}")
        .and_then(|()| streams.out.flush())
        .map_err(|e| Error::new(ErrorCode::Io, format!("cannot write to stdout: {e}")))
}
