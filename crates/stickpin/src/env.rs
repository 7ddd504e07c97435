//! The environment variables of the program. No other file of the program reads such a variable,
//! but the names of those that reveal a harness or a terminal are defined elsewhere.

use rustix::termios::{Winsize, tcgetwinsize};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
#[cfg(feature = "linux")]
use std::path::PathBuf;
use stickpin_cli::{ColorVariables, Env};
use stickpin_kernel::{Error, ErrorCode, Result, Secret};

/// The state directory of the daemon.
const STATE_DIR: &str = "STICKPIN_STATE_DIR";
/// The project folder of an agent, for an MCP server without roots that is started in `/` or in the
/// home directory.
const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// The name of the session to use instead of the default session of the project.
const SESSION: &str = "STICKPIN_SESSION";
/// The default of `open --stale-refs`: `warn` or `enforce`.
const STALE_REFS: &str = "STICKPIN_STALE_REFS";
/// Which tools `mcp` lists: `slim`, `core` or `full`.
const MCP_PROFILE: &str = "STICKPIN_MCP_PROFILE";
/// The token that clients of `mcp --http` must send.
const MCP_TOKEN: &str = "STICKPIN_MCP_TOKEN";
/// The prefix of script variables. `-e` takes precedence.
const VAR: &str = "STICKPIN_VAR_";
/// The prefix that other runners of `.ad` scripts use for script variables. `STICKPIN_VAR_` takes
/// precedence.
const AD_VAR: &str = "AD_VAR_";
/// The prefix of the secrets that `fill --secret NAME` fills in. No response shows them.
const SECRET: &str = "STICKPIN_SECRET_";
/// The id of the agent that runs the commands: `harness:name`, instead of what the harness reveals.
const AGENT_ID: &str = "STICKPIN_AGENT_ID";
/// The level of the daemon's log: `error`, `warn`, `info`, `debug`, `trace`.
const LOG: &str = "STICKPIN_LOG";
/// The path of the browser to start.
#[cfg(feature = "web")]
const CHROMIUM: &str = "STICKPIN_CHROMIUM";
/// `1` starts the browser without its sandbox. The root user always starts the browser this way.
#[cfg(feature = "web")]
const NO_SANDBOX: &str = "STICKPIN_NO_SANDBOX";
/// Where to search for browsers, apps and the programs of agents.
const PATH: &str = "PATH";
/// The folder of Claude Code's settings, which otherwise are in the home directory and in
/// `~/.claude`.
const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// The folder of Codex, instead of `~/.codex`.
const CODEX_HOME: &str = "CODEX_HOME";
/// The folder that contains Gemini CLI's `.gemini`, instead of the home directory.
const GEMINI_CLI_HOME: &str = "GEMINI_CLI_HOME";
/// The folder that contains OpenCode's settings, instead of `~/.config`.
const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The address of the session bus, which provides the address of the accessibility bus.
#[cfg(feature = "linux")]
const SESSION_BUS: &str = "DBUS_SESSION_BUS_ADDRESS";
/// The address of the accessibility bus, instead of the one that the session bus provides.
#[cfg(feature = "linux")]
const ACCESSIBILITY_BUS: &str = "AT_SPI_BUS_ADDRESS";
/// The X display to use.
#[cfg(feature = "linux")]
const DISPLAY: &str = "DISPLAY";
/// The Wayland display, which is set in a Wayland session.
#[cfg(feature = "linux")]
const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";
/// Switches accessibility off in GTK 3 apps.
#[cfg(feature = "linux")]
const NO_AT_BRIDGE: &str = "NO_AT_BRIDGE";
/// `none` switches accessibility off in GTK 4 apps.
#[cfg(feature = "linux")]
const GTK_A11Y: &str = "GTK_A11Y";
/// `0` switches accessibility off in Qt apps.
#[cfg(feature = "linux")]
const QT_ACCESSIBILITY: &str = "QT_ACCESSIBILITY";
/// The folder with the user's own desktop files.
#[cfg(feature = "linux")]
const DATA_HOME: &str = "XDG_DATA_HOME";
/// The folders with the desktop files of all users.
#[cfg(feature = "linux")]
const DATA_DIRS: &str = "XDG_DATA_DIRS";

/// Configures a daemon's allocator to return freed memory to the system at once, as decided in
/// `docs/adr`. The allocator reads this variable at process start, before any of our code runs.
const DAEMON_DEFAULTS: &[(&str, &str)] = &[("MIMALLOC_PURGE_DELAY", "0")];

/// Any value that is not empty: no colors, unless `--color` requests them.
const NO_COLOR: &str = "NO_COLOR";
/// Any value that is neither empty nor 0: colors even if the output is not a terminal.
const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// 0: no colors.
const CLICOLOR: &str = "CLICOLOR";
/// The kind of the terminal: `dumb` shows no colors.
const TERM: &str = "TERM";

/// The prefix of all stickpin variables.
const PREFIX: &str = "STICKPIN_";

/// Variables that contain paths of programs.
#[cfg(feature = "web")]
const PROGRAMS: &[&str] = &[CHROMIUM];
#[cfg(not(feature = "web"))]
const PROGRAMS: &[&str] = &[];

/// Returns the names of the variables that a client of the MCP server must pass on. These are
/// stickpin's own variables, without the token and the script variables, and the variables by which
/// apps find their desktop. Secrets are included only if set.
pub(crate) fn passed_variables(env: &Env) -> Vec<String> {
    let ours: &[&str] = &[STATE_DIR, SESSION, STALE_REFS, MCP_PROFILE, LOG, AGENT_ID];
    #[cfg(feature = "web")]
    let ours = [ours, &[CHROMIUM, NO_SANDBOX]].concat();
    #[cfg(feature = "linux")]
    let desktop: &[&str] = &[
        DISPLAY,
        WAYLAND_DISPLAY,
        SESSION_BUS,
        ACCESSIBILITY_BUS,
        DATA_HOME,
        DATA_DIRS,
        XAUTHORITY,
        RUNTIME_DIR,
    ];
    #[cfg(not(feature = "linux"))]
    let desktop: &[&str] = &[];
    let secrets = env.secrets.keys().map(|name| format!("{SECRET}{name}"));
    ours.iter().chain(desktop).map(|name| (*name).to_owned()).chain(secrets).collect()
}

/// The file with the credentials of the X display, which libraries and apps read.
#[cfg(feature = "linux")]
const XAUTHORITY: &str = "XAUTHORITY";
/// The user's runtime directory, which libraries and apps use.
#[cfg(feature = "linux")]
const RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

/// Checks that a path is UTF-8. `hint` says how to choose another path.
fn utf8(what: &str, path: &Path, hint: &str) -> Result<()> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => {
            let shown = path.to_string_lossy();
            Err(Error::new(ErrorCode::Io, format!("the path of {what}, {shown:?}, is not UTF-8")).hint(hint))
        }
    }
}

fn text(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads the environment of the command line. Rejects a variable of stickpin or of a script if its
/// value is not UTF-8, because JSON cannot carry such a value. The error names the variable.
///
/// # Errors
/// Returns `IO` when the working directory or the path of this program cannot be determined, or
/// when the path of the working or home directory is not UTF-8. Returns `INVALID_ARGS` for a
/// variable whose name begins with `STICKPIN_` or `AD_VAR_` and whose value is not UTF-8, unless
/// the value is the path of a program.
pub(crate) fn command_line_env() -> Result<Env> {
    let all: Vec<(OsString, OsString)> = env::vars_os().collect();
    let io = |e| Error::new(ErrorCode::Io, format!("cannot determine the working directory: {e}"));
    let cwd = env::current_dir().map_err(io)?;
    utf8("the working directory", &cwd, "start stickpin from a folder whose path is UTF-8")?;
    // `HOME`, otherwise the system's entry for this user.
    let home = env::home_dir().filter(|home| home.is_absolute());
    if let Some(home) = &home {
        utf8("the home directory", home, "set HOME to a path that is UTF-8")?;
    }
    for (name, value) in &all {
        let name = name.to_string_lossy();
        // The path of a program need not be UTF-8.
        let ours = (name.starts_with(PREFIX) || name.starts_with(AD_VAR)) && !PROGRAMS.contains(&&*name);
        if ours && value.to_str().is_none() {
            let message = format!("the value of the variable `{name}` is not UTF-8");
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .hint("set the variable to a value that is UTF-8, or unset it"));
        }
    }
    let program = env::current_exe();
    let program = program
        .map_err(|e| Error::new(ErrorCode::Io, format!("cannot find the path of this program: {e}")))?;
    let secrets = named(&all, &[SECRET]).into_iter();
    Ok(Env {
        cwd,
        home,
        project_dir: text(PROJECT_DIR),
        state_dir: text(STATE_DIR),
        session: text(SESSION),
        stale_refs: text(STALE_REFS),
        mcp_profile: text(MCP_PROFILE),
        mcp_token: text(MCP_TOKEN),
        variables: named(&all, &[AD_VAR, VAR]),
        secrets: secrets.map(|(name, value)| (name, Secret::new(value))).collect(),
        harness_variables: harness_variables(),
        private: private(&all),
        evidence: evidence(),
        terminal: std::io::stderr().is_terminal(),
        answer_on_terminal: std::io::stdout().is_terminal(),
        dumb_terminal: text(TERM).is_some_and(|value| value == "dumb"),
        columns: terminal_size().map(|size| size.ws_col),
        progress_columns: Some(|| size_of(std::io::stderr()).ws_col),
        cell_width: terminal_size().and_then(cell_width),
        terminal_variables: terminal_variables(),
        color: ColorVariables {
            no_color: text(NO_COLOR).is_some(),
            force: text(CLICOLOR_FORCE).is_some_and(|value| value != "0"),
            never: text(CLICOLOR).is_some_and(|value| value == "0")
                || text(TERM).is_some_and(|value| value == "dumb"),
        },
        program,
        of_daemon: DAEMON_DEFAULTS,
    })
}

/// Returns the size of the terminal on stdout. `None` if stdout is not a terminal; 80 columns if
/// the terminal does not report its size.
fn terminal_size() -> Option<Winsize> {
    let stdout = std::io::stdout();
    stdout.is_terminal().then(|| size_of(&stdout))
}

fn size_of(terminal: impl AsFd) -> Winsize {
    let unknown = Winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    let size = tcgetwinsize(terminal).unwrap_or(unknown);
    if size.ws_col == 0 { Winsize { ws_col: 80, ..size } } else { size }
}

/// Returns the width of a character cell in pixels, if the terminal reports its size in pixels.
fn cell_width(size: Winsize) -> Option<u16> {
    Some(size.ws_xpixel / size.ws_col).filter(|width| *width > 0)
}

/// Returns the variables that reveal the kind of the terminal.
fn terminal_variables() -> BTreeMap<String, String> {
    stickpin_cli::terminal_variables().filter_map(|name| Some((name.to_owned(), text(name)?))).collect()
}

/// Returns the variables that reveal which agent runs this program.
fn evidence() -> BTreeMap<String, String> {
    let known = stickpin_kernel::Evidence::variables().into_iter();
    known.chain([AGENT_ID]).filter_map(|name| Some((name.to_owned(), text(name)?))).collect()
}

/// Returns the variables that locate the programs of agents and their settings.
fn harness_variables() -> BTreeMap<String, OsString> {
    let names = [PATH, CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, XDG_CONFIG_HOME];
    names.into_iter().filter_map(|name| Some((name.to_owned(), env::var_os(name)?))).collect()
}

/// Returns the names of variables that contain secrets.
fn private(all: &[(OsString, OsString)]) -> Vec<OsString> {
    let secret =
        |name: &OsString| name.as_encoded_bytes().starts_with(SECRET.as_bytes()) || name == MCP_TOKEN;
    all.iter().map(|(name, _)| name.clone()).filter(secret).collect()
}

/// Restarts this program in this process without secrets, if its environment contains any. Browsers
/// and apps inherit a daemon's environment, and every program of this user can read it.
///
/// # Errors
/// Returns the error if the restart fails. A successful restart does not return.
pub(crate) fn forget_secrets() -> std::io::Result<()> {
    let private = private(&env::vars_os().collect::<Vec<_>>());
    if private.is_empty() {
        return Ok(());
    }
    let mut command = std::process::Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1));
    for name in &private {
        command.env_remove(name);
    }
    Err(command.exec())
}

/// Returns the variables whose names have one of these prefixes, by the rest of their names. If
/// names differ only in their prefixes, the last prefix takes precedence.
fn named(all: &[(OsString, OsString)], beginnings: &[&str]) -> BTreeMap<String, String> {
    let of = |beginning: &str| {
        let named = all.iter().filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix(beginning).filter(|name| !name.is_empty())?;
            Some((name.to_owned(), value.to_str()?.to_owned()))
        });
        named.collect::<Vec<_>>()
    };
    beginnings.iter().flat_map(|beginning| of(beginning)).collect()
}

/// Returns the value of `STICKPIN_LOG`.
pub(crate) fn log_level() -> Option<String> {
    text(LOG)
}

/// Returns the configuration of the web backend: program, search path, and whether to disable the
/// sandbox.
#[cfg(feature = "web")]
pub(crate) fn web_config() -> (Option<std::path::PathBuf>, Option<OsString>, bool) {
    let chromium = env::var_os(CHROMIUM).filter(|value| !value.is_empty()).map(Into::into);
    (chromium, env::var_os(PATH), text(NO_SANDBOX).is_some_and(|value| value == "1"))
}

/// Returns the configuration of the Linux backend: buses, display, and the locations of apps.
#[cfg(feature = "linux")]
pub(crate) fn linux_config() -> stickpin_backend_linux::LinuxConfig {
    let home = env::home_dir().filter(|home| home.is_absolute());
    stickpin_backend_linux::LinuxConfig {
        session_bus: text(SESSION_BUS),
        accessibility_bus: text(ACCESSIBILITY_BUS),
        display: text(DISPLAY),
        wayland: text(WAYLAND_DISPLAY),
        no_at_bridge: text(NO_AT_BRIDGE),
        gtk_a11y: text(GTK_A11Y),
        qt_accessibility: text(QT_ACCESSIBILITY),
        path: env::var_os(PATH),
        home: home.clone(),
        data: data(text(DATA_HOME), text(DATA_DIRS), home.as_deref()),
    }
}

/// Returns the folders of desktop files. Relative paths are ignored, as the XDG Base Directory
/// Specification requires: the program for a name must not depend on where the daemon was started.
#[cfg(feature = "linux")]
fn data(own: Option<String>, all: Option<String>, home: Option<&Path>) -> Vec<PathBuf> {
    let own = own.map(PathBuf::from).filter(|path| path.is_absolute());
    let own = own.or_else(|| home.map(|home| home.join(".local/share")));
    let all = all.unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
    own.into_iter().chain(env::split_paths(&all).filter(|path| path.is_absolute())).collect()
}

#[cfg(all(test, feature = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn desktop_files_are_looked_for_below_the_root_alone() {
        let data = |own: &str, all: &str| {
            data(Some(own.to_owned()), Some(all.to_owned()), Some(Path::new("/home/a")))
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(data("/own", "/usr/share:/opt/share"), paths(&["/own", "/usr/share", "/opt/share"]));
        // An empty part means the current folder.
        assert_eq!(data("own", "/usr/share::here:"), paths(&["/home/a/.local/share", "/usr/share"]));
        let none = super::data(None, None, None);
        assert_eq!(none, paths(&["/usr/local/share", "/usr/share"]));
    }
}
