//! `cargo xtask bench`: whole processes of the shipped binary, beside a peer's in the same run.
//!
//! Figures are medians of alternating runs; nothing here passes or fails. The table goes to `docs/bench.md`.

mod desktop;
mod mcp;
mod measure;
mod page;
mod peer;
mod replay;
mod table;
mod web;

use crate::Result;
use crate::dist::{self, Built};
use crate::run::{output, root, target_dir};
use measure::{Stickpin, median, timed};
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Row, Table};

/// What `bench` was asked for.
pub struct Options {
    /// Run the peer too.
    pub peers: bool,
    /// Write the table.
    pub write: bool,
    /// Counted runs of each command.
    pub runs: usize,
    /// Only the rows of one part, for who works on them.
    pub only: Option<Part>,
    /// A binary to measure in place of the shipped one, which is then not built.
    pub binary: Option<PathBuf>,
}

/// A part of the table that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The MCP server.
    Mcp,
    /// Reading and acting on pages.
    Web,
    /// Reading and acting on desktop apps.
    Desktop,
    /// Scripts and suites.
    Replay,
}

/// Builds the shipped binary and measures it.
pub fn bench(options: &Options) -> Result {
    let target = target_dir()?;
    let built = match &options.binary {
        Some(binary) => Built { binary: binary.clone(), linked: "given" },
        None => dist::build()?,
    };
    let binary = &built.binary;
    let server = page::Server::start()?;
    let peer = options.peers.then(|| peer::Peer::fetch(&target.join("peers"))).transpose()?;
    let mut table = Table::new(peer.as_ref().map(peer::Peer::version));
    let ours = Stickpin::new(binary, &target.join("bench-state"))?;
    let peers = options.peers.then(|| target.join("peers"));
    if options.only.is_none() {
        own(&mut table, &ours, binary, options.runs)?;
    }
    let wanted = |part| options.only.is_none_or(|only| only == part);
    if wanted(Part::Web) {
        web::measure(&mut table, &ours, peer.as_ref(), &server, options.runs)?;
    }
    if wanted(Part::Mcp) {
        mcp::measure(&mut table, &ours, &server, peers.as_deref(), options.runs)?;
    }
    if wanted(Part::Desktop) {
        desktop::measure(&mut table, &ours, peers.as_deref(), options.runs)?;
    }
    if wanted(Part::Replay) {
        replay::measure(&mut table, &ours, &server, &target.join("bench-scripts"), options.runs)?;
    }
    ours.run(&["daemon", "stop"])?;
    if let Some(peer) = &peer {
        peer.run(&["close"])?;
    }
    let text = table.render(&format!("{}; {} binary", machine()?, built.linked));
    println!("{text}");
    if options.write {
        let file = root().join("docs").join("bench.md");
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

/// What the binary and its daemon cost by themselves.
fn own(table: &mut Table, ours: &Stickpin, binary: &Path, runs: usize) -> Result {
    let size = std::fs::metadata(binary).map_err(|e| format!("{}: {e}", binary.display()))?.len();
    table.push(Row::single("binary (sim, web, linux), stripped", mib(size), "MiB", "under 15"));

    let start = median(
        (0..runs)
            .map(|_| {
                ours.run(&["daemon", "stop"])?;
                timed(&mut ours.command(&["daemon", "start"]))
            })
            .collect::<Result<Vec<_>>>()?,
    );
    table.push(Row::single("daemon start, whole process", start, "ms", "under 30"));
    table.push(Row::single("daemon idle, resident", mib(ours.daemon_rss()?), "MiB", "under 15"));
    let empty = median((0..runs).map(|_| timed(&mut Command::new("true"))).collect::<Result<Vec<_>>>()?);
    table.push(Row::single("an empty process (`true`), for scale", empty, "ms", ""));

    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "sizes of files and processes")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// One line about where the figures come from.
fn machine() -> Result<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map_or("", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let date = output(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let browser = measure::chromium_version()?;
    Ok(format!("{}; {cores} cores, {cpu}; {browser}", date.trim()))
}
