//! `cargo xtask`: the workspace's own tasks: set up a machine, test, lint, generate, measure.

mod bare;
mod bench;
mod codegen;
mod decisions;
mod deny;
mod dist;
mod flows;
mod fuzz;
mod language;
mod lint;
mod msrv;
mod run;
mod setup;
mod summary;
mod test;

use clap::{Arg, ArgAction, Command};
use std::process::ExitCode;

type Result<T = ()> = std::result::Result<T, String>;

fn cli() -> Command {
    Command::new("xtask")
        .about("Automation of the stickpin workspace")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("setup")
                .about("Install what tests on real devices need: Debian packages (prints them when not root), pages of the flows"),
        )
        .subcommand(
            Command::new("test")
                .about("Set up, lint, check generated files, run every test")
                .arg(switch("quick", "Only lint and the suites that need no browser and no desktop")),
        )
        .subcommand(Command::new("bare").about(
            "Try the set-up and the scenarios on the simulated device in a bare Debian (as root, with debootstrap), or say why not",
        ))
        .subcommand(
            Command::new("lint")
                .about("Format check, clippy, rustdoc, feature checks and the page script, warnings denied"),
        )
        .subcommand(
            Command::new("codegen")
                .about("Write the generated files")
                .arg(switch("check", "Fail when one is not current")),
        )
        .subcommand(
            Command::new("fuzz")
                .about("Feed random inputs to the parsers of untrusted data, three at a time")
                .arg(
                    option("seconds", "Seconds for each target")
                        .value_parser(clap::value_parser!(u64))
                        .default_value("30"),
                )
                .arg(Arg::new("target").help("Only this one: a module of fuzz/tests/targets")),
        )
        .subcommand(Command::new("dist").about("Build the shipped binary: one file that needs no system library"))
        .subcommand(
            Command::new("bench")
                .about("Measure the shipped binary; medians, no verdicts")
                .arg(switch("peers", "Fetch agent-browser from npm into target/ and run it in the same run"))
                .arg(switch("write", "Write the table to docs/bench.md"))
                .arg(
                    option("only", "Only the rows of one part")
                        .value_parser(clap::builder::PossibleValuesParser::new(bench::PARTS))
                        .conflicts_with("write"),
                )
                .arg(
                    option("binary", "Measure this binary instead of building one")
                        .value_parser(clap::value_parser!(std::path::PathBuf))
                        .conflicts_with("write"),
                )
                .arg(
                    option("runs", "Counted runs of each command")
                        .value_parser(clap::value_parser!(usize))
                        .default_value("15"),
                ),
        )
}

fn option(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    option(name, help).action(ArgAction::SetTrue)
}

fn main() -> ExitCode {
    let matches = cli().get_matches();
    let result = match matches.subcommand() {
        Some(("setup", _)) => setup::setup().map(drop),
        Some(("test", m)) if m.get_flag("quick") => test::quick(),
        Some(("test", _)) => test::test(),
        Some(("bare", _)) => bare::bare(),
        Some(("lint", _)) => lint::lint(),
        Some(("codegen", m)) => codegen::codegen(m.get_flag("check")),
        Some(("fuzz", m)) => {
            let target = m.get_one("target").map(String::as_str);
            run::run(&mut fuzz::fuzz(*m.get_one("seconds").expect("has a default"), target))
        }
        Some(("dist", _)) => dist::dist(),
        Some(("bench", m)) => bench::bench(&bench::Options {
            peers: m.get_flag("peers"),
            write: m.get_flag("write"),
            runs: *m.get_one("runs").expect("has a default"),
            only: m.get_one("only").cloned(),
            binary: m.get_one("binary").cloned(),
        }),
        _ => unreachable!("clap demands a subcommand"),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn command_line_is_consistent() {
        super::cli().debug_assert();
    }
}
