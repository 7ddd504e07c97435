//! `cargo xtask`: what this workspace does with itself: set up a machine, test, lint, generate, measure.

mod bare;
mod bench;
mod codegen;
mod deny;
mod dist;
mod flows;
mod lint;
mod run;
mod setup;
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
        .subcommand(Command::new("test").about("Set up, lint, check generated files, run every test"))
        .subcommand(Command::new("bare").about(
            "Try the set-up and the quick suites in a bare Debian (as root, with debootstrap), or say why not",
        ))
        .subcommand(
            Command::new("lint")
                .about("Format check, clippy, rustdoc, feature checks and the page script, warnings denied"),
        )
        .subcommand(Command::new("codegen").about("Write the generated files").arg(
            Arg::new("check").long("check").action(ArgAction::SetTrue).help("Fail when one is not current"),
        ))
        .subcommand(Command::new("dist").about("Build what is shipped: one file that needs no library of the system"))
        .subcommand(
            Command::new("bench")
                .about("Measure the shipped binary; medians, no verdicts")
                .arg(
                    Arg::new("peers")
                        .long("peers")
                        .action(ArgAction::SetTrue)
                        .help("Fetch agent-browser from npm into target/ and run it in the same run"),
                )
                .arg(
                    Arg::new("write")
                        .long("write")
                        .action(ArgAction::SetTrue)
                        .help("Write the table to docs/bench.md"),
                )
                .arg(
                    Arg::new("only")
                        .long("only")
                        .value_parser(["mcp", "web", "desktop", "replay"])
                        .conflicts_with("write")
                        .help("Only the rows of one part"),
                )
                .arg(
                    Arg::new("binary")
                        .long("binary")
                        .conflicts_with("write")
                        .value_parser(clap::value_parser!(std::path::PathBuf))
                        .help("Measure this binary and build none"),
                )
                .arg(
                    Arg::new("runs")
                        .long("runs")
                        .default_value("15")
                        .value_parser(clap::value_parser!(usize))
                        .help("Counted runs of each command"),
                ),
        )
}

fn main() -> ExitCode {
    let matches = cli().get_matches();
    let result = match matches.subcommand() {
        Some(("setup", _)) => setup::setup().map(drop),
        Some(("test", _)) => test::test(),
        Some(("bare", _)) => bare::bare(),
        Some(("lint", _)) => lint::lint(),
        Some(("codegen", m)) => codegen::codegen(m.get_flag("check")),
        Some(("dist", _)) => dist::dist(),
        Some(("bench", m)) => bench::bench(&bench::Options {
            peers: m.get_flag("peers"),
            write: m.get_flag("write"),
            runs: *m.get_one("runs").expect("has a default"),
            only: m.get_one::<String>("only").map(|part| match part.as_str() {
                "mcp" => bench::Part::Mcp,
                "desktop" => bench::Part::Desktop,
                "replay" => bench::Part::Replay,
                _ => bench::Part::Web,
            }),
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
