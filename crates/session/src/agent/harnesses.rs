//! The known agent harnesses and terminals, as data to be checked against new releases.

/// Whether one root process of a harness serves several sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplicity {
    /// One session at a time: a newer session replaces the older one.
    One,
    /// Several sessions at once.
    Many,
    /// Several sessions at once if this word is among the arguments of the root process.
    ManyIf(&'static str),
}

/// One family of agent harnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harness {
    /// The family, which is the first part of an agent id.
    pub name: &'static str,
    /// Variables that reveal the harness: the name, and the required value, if any.
    pub markers: &'static [(&'static str, Option<&'static str>)],
    /// Variables that name a session, best first.
    pub session_variables: &'static [&'static str],
    /// Variables that name a process of the harness, best first.
    pub process_variables: &'static [&'static str],
    /// Names of the executable, or of the script that an interpreter runs.
    pub executables: &'static [&'static str],
    /// Keys of an MCP request's metadata that name a session.
    pub metadata: &'static [&'static str],
    /// Whether one process serves several sessions.
    pub multiplicity: Multiplicity,
}

/// All known harnesses. If the markers of several harnesses are set, the first of these harnesses
/// is used.
pub const HARNESSES: &[Harness] = &[
    Harness {
        name: "codex",
        markers: &[("CODEX_THREAD_ID", None), ("CODEX_MANAGED_BY_NPM", Some("1"))],
        session_variables: &["CODEX_THREAD_ID"],
        process_variables: &[],
        executables: &["codex"],
        metadata: &["threadId"],
        multiplicity: Multiplicity::ManyIf("app-server"),
    },
    Harness {
        name: "gemini",
        markers: &[("GEMINI_CLI", Some("1"))],
        session_variables: &[],
        process_variables: &[],
        executables: &["gemini"],
        metadata: &[],
        multiplicity: Multiplicity::One,
    },
    Harness {
        name: "opencode",
        markers: &[("OPENCODE", Some("1"))],
        session_variables: &["OPENCODE_SESSION_ID"],
        process_variables: &["OPENCODE_RUN_ID", "OPENCODE_PID"],
        executables: &["opencode", "opencode2"],
        metadata: &["sessionID"],
        multiplicity: Multiplicity::Many,
    },
    Harness {
        name: "antigravity",
        markers: &[
            ("ANTIGRAVITY_AGENT", Some("1")),
            ("ANTIGRAVITY_CONVERSATION_ID", None),
            ("ANTIGRAVITY_TRAJECTORY_ID", None),
        ],
        session_variables: &["ANTIGRAVITY_CONVERSATION_ID", "ANTIGRAVITY_TRAJECTORY_ID"],
        process_variables: &[],
        executables: &["agy", "antigravity"],
        metadata: &[],
        multiplicity: Multiplicity::One,
    },
    Harness {
        name: "grok",
        markers: &[("GROK_AGENT", Some("1")), ("CMUX_AGENT_LAUNCH_KIND", Some("grok"))],
        session_variables: &["GROK_SESSION_ID"],
        process_variables: &[],
        executables: &["grok"],
        metadata: &[],
        multiplicity: Multiplicity::One,
    },
    Harness {
        name: "claude",
        markers: &[("CLAUDECODE", Some("1"))],
        session_variables: &["CLAUDE_CODE_SESSION_ID"],
        process_variables: &[],
        executables: &["claude", "claude-code"],
        metadata: &[],
        multiplicity: Multiplicity::One,
    },
];

/// Variables that name a terminal or one of its panes, best first.
pub const TERMINAL_VARIABLES: &[&str] = &[
    "ITERM_SESSION_ID",
    "CMUX_TAB_ID",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "TERMINATOR_UUID",
    "TMUX_PANE",
    "STY",
];

/// The variable with which a caller names itself.
pub(super) const AGENT_VARIABLE: &str = "STICKPIN_AGENT_ID";

/// Programs that run a harness written as a script.
pub(super) const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "python3"];
