//! Commands that only a command line has, because they are about the command line or the daemon itself: a program
//! that embeds the kernel has neither, and a daemon cannot start itself.

use clap::{Arg, ArgAction, Command};
use stickpin_client::{ClientCommand, ClientCommands};
use stickpin_cmdline::Own;
use stickpin_kernel::registry;

/// One of them.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) grammar: fn(Command) -> Command,
    pub(crate) act: Act,
    /// Not shown: meant for programs.
    pub(crate) hidden: bool,
}

impl Local {
    /// Its grammar, with the options of every command.
    pub(crate) fn command(&self) -> Command {
        (self.grammar)(stickpin_cmdline::own(self.name, self.about))
    }
}

/// A command that is not of the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Other {
    /// Of the command line itself.
    Local(&'static Local),
    /// Run by this process, through a client.
    ClientCommand(&'static dyn ClientCommand),
}

impl Other {
    /// Its first line of help.
    pub(crate) fn about(&self) -> &str {
        match self {
            Self::Local(local) => local.about,
            Self::ClientCommand(command) => command.form().summary(),
        }
    }

    /// Its grammar, with the options of every command.
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

/// All of them, in the order of help.
pub(crate) fn others(client_commands: ClientCommands) -> Vec<Other> {
    client_commands.iter().copied().map(Other::ClientCommand).chain(LOCAL.iter().map(Other::Local)).collect()
}

/// The grammar of a command by its name.
pub(crate) fn grammar(name: &str, others: &[Other]) -> Option<Command> {
    let other = || others.iter().find(|other| other.name() == name).map(Other::command);
    registry::find(name).map(|entry| stickpin_cmdline::leaf(entry)).or_else(other)
}

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Status,
    Start,
    Stop,
    /// Become the daemon.
    Run,
    Completions,
    /// Print the values that a completion offers now.
    Complete,
    Man,
    Help,
    Demo,
    /// Serve an MCP client.
    Mcp,
}

pub(crate) const LOCAL: &[Local] = &[
    Local {
        name: "daemon status",
        about: "Say whether a daemon runs, and what it has open",
        grammar: |command| command,
        act: Act::Status,
        hidden: false,
    },
    Local {
        name: "daemon start",
        about: "Start the daemon, which the first command does as well",
        grammar: |command| command,
        act: Act::Start,
        hidden: false,
    },
    Local {
        name: "daemon stop",
        about: "End the daemon",
        grammar: |command| {
            let help = "Also when sessions are open: they are closed";
            command.arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help(help))
        },
        act: Act::Stop,
        hidden: false,
    },
    Local {
        name: "daemon run",
        about: "Be the daemon of a state dir",
        grammar: |command| {
            let help = "End after so many seconds without sessions";
            command.arg(Arg::new("idle-exit").long("idle-exit").value_name("S").help(help))
        },
        act: Act::Run,
        hidden: true,
    },
    Local {
        name: "mcp",
        about: "Serve these commands as tools to an MCP client, over stdio or HTTP",
        grammar: crate::mcp::grammar,
        act: Act::Mcp,
        hidden: false,
    },
    Local {
        name: "completions",
        about: "Print the completions of a shell",
        grammar: |command| {
            let shells = ["bash", "zsh", "fish"];
            command.arg(
                Arg::new("shell").value_name("SHELL").required(true).value_parser(shells).help("Which shell"),
            )
        },
        act: Act::Completions,
        hidden: false,
    },
    Local {
        name: "complete",
        about: "Print the values that a completion offers now",
        grammar: |command| {
            let kinds = [crate::complete::APPS, crate::complete::SESSIONS];
            command.arg(
                Arg::new("what").value_name("WHAT").required(true).value_parser(kinds).help("Which values"),
            )
        },
        act: Act::Complete,
        hidden: true,
    },
    Local {
        name: "man",
        about: "Print a manual page, or write all of them: stickpin man open | man -l -",
        grammar: |command| {
            let help = "A command; without one, the page of the program";
            let out = "Write the pages of all commands into this folder";
            command
                .arg(Arg::new("command").value_name("COMMAND").num_args(0..).help(help))
                .arg(Arg::new("out").long("out").value_name("DIR").conflicts_with("command").help(out))
        },
        act: Act::Man,
        hidden: false,
    },
    Local {
        name: "help",
        about: "Explain a topic or a command",
        grammar: |command| {
            let help = "A topic, or a command; without one, all commands and topics";
            command.arg(Arg::new("topic").value_name("TOPIC").num_args(0..).help(help))
        },
        act: Act::Help,
        hidden: false,
    },
    Local {
        name: "demo",
        about: "Show the main job on a simulated shop, without a browser or a daemon",
        grammar: |command| command,
        act: Act::Demo,
        hidden: false,
    },
];
