//! Commands that only a command line has, because they are about the command line or the daemon itself: a program
//! that embeds the kernel has neither, and a daemon cannot start itself.

use clap::{Arg, ArgAction, Command};
use stickpin_lines::Own;

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
        (self.grammar)(stickpin_lines::own(self.name, self.about))
    }
}

impl Own for Local {
    fn name(&self) -> &'static str {
        self.name
    }

    fn hidden(&self) -> bool {
        self.hidden
    }
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
        name: "help",
        about: "Explain a topic or a command",
        grammar: |command| {
            let help = "workflow, refs, selectors, web, paths, or a command";
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
