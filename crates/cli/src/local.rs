//! Commands that only the command line has, because they concern the command line or the daemon
//! itself. A program that embeds the kernel has neither, and a daemon cannot start itself.

use clap::{Arg, ArgAction, Command};
use stickpin_client::{ClientCommand, ClientCommands};
use stickpin_cmdline::LocalCommand;
use stickpin_kernel::{PathArg, registry};

/// A command of the command line itself.
#[derive(Debug)]
pub(crate) struct CliCommand {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) grammar: fn(Command) -> Command,
    pub(crate) action: LocalAction,
    /// Whether help omits the command because it is meant for programs.
    pub(crate) hidden: bool,
}

impl CliCommand {
    /// Creates a visible command without arguments.
    const fn new(name: &'static str, about: &'static str, act: LocalAction) -> Self {
        Self { name, summary: about, grammar: |command| command, action: act, hidden: false }
    }

    /// Returns the grammar of the command, with the common options.
    pub(crate) fn command(&self) -> Command {
        (self.grammar)(stickpin_cmdline::local_grammar(self.name, self.summary))
    }
}

/// A command outside the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FrontEndCommand {
    /// A command of the command line itself.
    Local(&'static CliCommand),
    /// A command that runs in this process through a client.
    ClientCommand(&'static dyn ClientCommand),
}

impl FrontEndCommand {
    /// Returns the first line of the command's help.
    pub(crate) fn summary(&self) -> &str {
        match self {
            Self::Local(local) => local.summary,
            Self::ClientCommand(command) => command.definition().summary(),
        }
    }

    /// Returns the grammar of the command, with the common options.
    pub(crate) fn command(&self) -> Command {
        match self {
            Self::Local(local) => local.command(),
            Self::ClientCommand(command) => stickpin_cmdline::command_grammar(command.definition()),
        }
    }
}

impl LocalCommand for FrontEndCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Local(local) => local.name,
            Self::ClientCommand(command) => command.definition().spec.name,
        }
    }

    fn hidden(&self) -> bool {
        matches!(self, Self::Local(local) if local.hidden)
    }
}

/// Returns all commands outside the registry, in the order in which help lists them.
pub(crate) fn front_end_commands(client_commands: ClientCommands) -> Vec<FrontEndCommand> {
    client_commands
        .iter()
        .copied()
        .map(FrontEndCommand::ClientCommand)
        .chain(LOCAL_COMMANDS.iter().map(FrontEndCommand::Local))
        .collect()
}

/// Returns the grammar of the command with this name, if there is one.
pub(crate) fn grammar(name: &str, others: &[FrontEndCommand]) -> Option<Command> {
    let other = || others.iter().find(|other| other.name() == name).map(FrontEndCommand::command);
    registry::find(name).map(|entry| stickpin_cmdline::command_grammar(entry)).or_else(other)
}

/// Returns an option without a value.
pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Returns an option with a value.
pub(crate) fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// Returns an argument without a name on the command line.
pub(crate) fn positional(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).help(help)
}

/// The action of a local command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalAction {
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
    /// Run the interactive console.
    Console,
    /// Remove stale registrations.
    Cleanup,
}

pub(crate) const LOCAL_COMMANDS: &[CliCommand] = &[
    CliCommand::new(
        "daemon status",
        "Show whether a daemon is running and which sessions are open",
        LocalAction::Status,
    ),
    CliCommand::new("daemon start", "Start the daemon, as the first command does", LocalAction::Start),
    CliCommand {
        grammar: |command| {
            let help = "Stop even if sessions are open, commands are running or agents hold turns";
            command.arg(switch("force", help))
        },
        ..CliCommand::new("daemon stop", "Stop the daemon", LocalAction::Stop)
    },
    CliCommand {
        grammar: |command| {
            command.arg(option("idle-exit", "S", "Stop after this many seconds without sessions"))
        },
        hidden: true,
        ..CliCommand::new("daemon run", "Run as the daemon of a state directory", LocalAction::Run)
    },
    CliCommand {
        grammar: crate::console::grammar,
        ..CliCommand::new(
            "console",
            "Open an interactive console on a session: its tree, its calls as they happen, and a prompt",
            LocalAction::Console,
        )
    },
    CliCommand {
        grammar: crate::console::attach_grammar,
        ..CliCommand::new("session attach", "Run the interactive console on a session", LocalAction::Console)
    },
    CliCommand {
        grammar: crate::mcp::grammar,
        ..CliCommand::new(
            "mcp",
            "Serve the commands as tools to an MCP client, over stdio or HTTP",
            LocalAction::Mcp,
        )
    },
    CliCommand {
        grammar: |command| {
            let shell = positional("shell", "SHELL", "The shell").required(true);
            command.arg(shell.value_parser(crate::complete::SHELLS))
        },
        ..CliCommand::new("completions", "Print the completions for a shell", LocalAction::Completions)
    },
    CliCommand {
        grammar: |command| {
            let what = positional("what", "WHAT", "The kind of values to print").required(true);
            command.arg(what.value_parser([crate::complete::APPS, crate::complete::SESSIONS]))
        },
        hidden: true,
        ..CliCommand::new("complete", "Print the current values for a completion", LocalAction::Complete)
    },
    CliCommand {
        grammar: |command| {
            let help = "A command; without one, the page of the program";
            let out = "Write the pages of all commands to this folder";
            command
                .after_help(PathArg::RULES)
                .arg(positional("command", "COMMAND", help).num_args(0..))
                .arg(option("out", "DIR", out).conflicts_with("command"))
        },
        ..CliCommand::new(
            "man",
            "Print a manual page, or write all of them; to read one: stickpin man open | man -l -",
            LocalAction::Man,
        )
    },
    CliCommand {
        grammar: |command| {
            let help = "A topic or a command; without one, a list of both";
            command.arg(positional("topic", "TOPIC", help).num_args(0..))
        },
        ..CliCommand::new("help", "Explain a topic or a command", LocalAction::Help)
    },
    CliCommand {
        grammar: |command| {
            let reason = option("reason", "REASON", "Why the cleanup runs");
            command.arg(reason.value_parser(["update", "manual"]).default_value("manual"))
        },
        hidden: true,
        ..CliCommand::new(
            "maintenance cleanup",
            "Remove registrations that earlier versions left in agent configurations",
            LocalAction::Cleanup,
        )
    },
    CliCommand::new(
        "demo",
        "Show the main workflow on a simulated shop, without a browser or a daemon",
        LocalAction::Demo,
    ),
];
