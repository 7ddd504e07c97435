//! `cargo xtask bench`: measures whole processes of the shipped binary, next to a peer's in the
//! same run.
//!
//! Figures are medians of alternating runs. They are reported, not checked. The table is written to
//! `docs/bench.md`.

mod desktop;
mod log;
mod mcp;
mod measure;
mod page;
mod peer;
mod replay;
mod sessions;
mod table;
mod watch;
mod web;

use crate::Result;
use crate::dist::{self, Built};
use crate::run::{OnPath as _, output, root, target_dir, write};
use measure::{Tool, median, run_timed};
use std::path::{Path, PathBuf};
use std::process::Command;
use table::Table;

/// The parts of the table that `--only` selects.
pub const PARTS: &[&str] = &["web", "watch", "mcp", "desktop", "replay", "sessions", "log"];

/// The options of `bench`.
pub struct Options {
    /// Whether to run the peer too.
    pub peers: bool,
    /// Whether to write the table.
    pub write: bool,
    /// The number of counted runs of each command.
    pub runs: usize,
    /// The only part to measure, if set.
    pub only: Option<String>,
    /// A binary to measure instead of building the shipped one.
    pub binary: Option<PathBuf>,
}

/// Builds the shipped binary and measures it.
pub fn bench(options: &Options) -> Result {
    let target = target_dir()?;
    let built = match &options.binary {
        Some(binary) => Built { binary: binary.clone(), linkage: "given" },
        None => dist::build()?,
    };
    let binary = &built.binary;
    let server = page::Server::start()?;
    let peer = options.peers.then(|| peer::fetch(&target.join("peers"))).transpose()?;
    let mut table = Table::new(options.peers.then_some(peer::PACKAGE));
    let ours = Tool::stickpin(binary, &target.join("bench-state"))?;
    let peers = options.peers.then(|| target.join("peers"));
    if options.only.is_none() {
        measure_binary(&mut table, &ours, binary, options.runs)?;
    }
    let is_selected = |part| options.only.as_ref().is_none_or(|only| only == part);
    if is_selected("web") {
        web::measure(&mut table, &ours, peer.as_ref(), &server, options.runs)?;
    }
    if is_selected("watch") {
        watch::measure(&mut table, &ours, &server)?;
    }
    if is_selected("mcp") {
        mcp::measure(&mut table, &ours, &server, peers.as_deref(), options.runs)?;
    }
    if is_selected("desktop") {
        desktop::measure(&mut table, &ours, peers.as_deref(), options.runs)?;
    }
    if is_selected("replay") {
        replay::measure(&mut table, &ours, &server, &target.join("bench-scripts"), options.runs)?;
    }
    if is_selected("sessions") {
        sessions::measure(&mut table, binary, &target.join("bench-sessions"), options.runs)?;
    }
    if is_selected("log") {
        log::measure(&mut table)?;
    }
    ours.run(ours.end)?;
    if let Some(peer) = &peer {
        peer.run(peer.end)?;
    }
    let text = table.render(&format!("{}; {} binary", machine()?, built.linkage));
    println!("{text}");
    if options.write {
        write(&root().join("docs/bench.md"), &text)?;
    }
    Ok(())
}

/// Measures the binary and its daemon without an app.
fn measure_binary(table: &mut Table, ours: &Tool, binary: &Path, runs: usize) -> Result {
    let size = std::fs::metadata(binary).with_path(binary)?.len();
    table.add("binary (sim, web, linux), stripped", mib(size), "MiB", "under 15");

    let start = median(
        (0..runs)
            .map(|_| {
                ours.run(&["daemon", "stop"])?;
                run_timed(&mut ours.command(&["daemon", "start"]))
            })
            .collect::<Result<Vec<_>>>()?,
    );
    table.add("daemon start, whole process", start, "ms", "under 30");
    table.add("daemon idle, resident", mib(ours.daemon_rss()?), "MiB", "under 15");
    let empty = median((0..runs).map(|_| run_timed(&mut Command::new("true"))).collect::<Result<Vec<_>>>()?);
    table.add("an empty process (`true`), for scale", empty, "ms", "");

    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "sizes of files and processes")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// Returns one line about the machine.
fn machine() -> Result<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu =
        cpu.lines().find_map(|l| Some(l.strip_prefix("model name")?.trim_start_matches([' ', '\t', ':'])));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let date = output(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let version = output(Command::new(measure::chromium()?).arg("--version"))?;
    let browser = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(format!("{}; {cores} cores, {}; {browser}", date.trim(), cpu.unwrap_or_default()))
}
