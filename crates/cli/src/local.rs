//! Commands that only the command line has, because they concern the command line or the daemon
//! itself. A program that embeds the kernel has neither, and a daemon cannot start itself.

use clap::{Arg, ArgAction, Command};
use stickpin_client::{ClientCommand, ClientCommands};
use stickpin_cmdline::Own;
use stickpin_kernel::registry;

/// A command of the command line itself.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) grammar: fn(Command) -> Command,
    pub(crate) act: Act,
    /// Whether help omits the command, which is meant for programs.
    pub(crate) hidden: bool,
}

impl Local {
    /// Creates a visible command without arguments.
    const fn new(name: &'static str, about: &'static str, act: Act) -> Self {
        Self { name, about, grammar: |command| command, act, hidden: false }
    }

    /// Returns the grammar of the command, with the common options.
    pub(crate) fn command(&self) -> Command {
        (self.grammar)(stickpin_cmdline::own(self.name, self.about))
    }
}

/// A command outside the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Other {
    /// A command of the command line itself.
    Local(&'static Local),
    /// A command that runs in this process through a client.
    ClientCommand(&'static dyn ClientCommand),
}

impl Other {
    /// Returns the first line of its help.
    pub(crate) fn about(&self) -> &str {
        match self {
            Self::Local(local) => local.about,
            Self::ClientCommand(command) => command.form().summary(),
        }
    }

    /// Returns the grammar of the command, with the common options.
    pub(crate) fn command(&self) -> Command {
        match self {
            Self::Local(local) => local.command(),
            Self::ClientCommand(command) => stickpin_cmdline::leaf(command.form()),
        }
    }
}

impl Own for Other {
    fn name(&self) -> &'static str {
        match self {
            Self::Local(local) => local.name,
            Self::ClientCommand(command) => command.form().spec.name,
        }
    }

    fn hidden(&self) -> bool {
        matches!(self, Self::Local(local) if local.hidden)
    }
}

/// Returns all commands outside the registry, in the order of help.
pub(crate) fn others(client_commands: ClientCommands) -> Vec<Other> {
    client_commands.iter().copied().map(Other::ClientCommand).chain(LOCAL.iter().map(Other::Local)).collect()
}

/// Returns the grammar of the command with this name.
pub(crate) fn grammar(name: &str, others: &[Other]) -> Option<Command> {
    let other = || others.iter().find(|other| other.name() == name).map(Other::command);
    registry::find(name).map(|entry| stickpin_cmdline::leaf(entry)).or_else(other)
}

/// The action of a local command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Status,
    Start,
    Stop,
    /// Become the daemon.
    Run,
    Completions,
    /// Print the current values for a completion.
    Complete,
    Man,
    Help,
    Demo,
    /// Serve an MCP client.
    Mcp,
}

pub(crate) const LOCAL: &[Local] = &[
    Local::new("daemon status", "Tell whether a daemon runs, and what it has open", Act::Status),
    Local::new("daemon start", "Start the daemon, as the first command does", Act::Start),
    Local {
        grammar: |command| {
            let help = "Also close open sessions";
            command.arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help(help))
        },
        ..Local::new("daemon stop", "Stop the daemon", Act::Stop)
    },
    Local {
        grammar: |command| {
            let help = "Stop after this many seconds without sessions";
            command.arg(Arg::new("idle-exit").long("idle-exit").value_name("S").help(help))
        },
        hidden: true,
        ..Local::new("daemon run", "Run as the daemon of a state directory", Act::Run)
    },
    Local {
        grammar: crate::mcp::grammar,
        ..Local::new("mcp", "Serve the commands as tools to an MCP client, over stdio or HTTP", Act::Mcp)
    },
    Local {
        grammar: |command| {
            let shells = ["bash", "zsh", "fish"];
            command.arg(
                Arg::new("shell").value_name("SHELL").required(true).value_parser(shells).help("Which shell"),
            )
        },
        ..Local::new("completions", "Print the completions for a shell", Act::Completions)
    },
    Local {
        grammar: |command| {
            let kinds = [crate::complete::APPS, crate::complete::SESSIONS];
            command.arg(
                Arg::new("what")
                    .value_name("WHAT")
                    .required(true)
                    .value_parser(kinds)
                    .help("The kind of values"),
            )
        },
        hidden: true,
        ..Local::new("complete", "Print the current values for a completion", Act::Complete)
    },
    Local {
        grammar: |command| {
            let help = "A command; by default the page of the program";
            let out = "Write the pages of all commands to this folder";
            command
                .arg(Arg::new("command").value_name("COMMAND").num_args(0..).help(help))
                .arg(Arg::new("out").long("out").value_name("DIR").conflicts_with("command").help(out))
        },
        ..Local::new(
            "man",
            "Print a manual page, or write all of them: stickpin man open | man -l -",
            Act::Man,
        )
    },
    Local {
        grammar: |command| {
            let help = "A topic or a command; by default a list of both";
            command.arg(Arg::new("topic").value_name("TOPIC").num_args(0..).help(help))
        },
        ..Local::new("help", "Explain a topic or a command", Act::Help)
    },
    Local::new(
        "demo",
        "Show the main workflow on a simulated shop, without a browser or a daemon",
        Act::Demo,
    ),
];
