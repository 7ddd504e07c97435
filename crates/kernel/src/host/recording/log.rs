//! The log of a recording: one line of JSON per command, on disk before the response is sent. The
//! script can still be written when the app, the daemon or the machine is gone.

use crate::host::private_dir;
use crate::host::recording::RepairRequest;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use stickpin_device::{Result, io_error};

/// An event of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    /// The recording started.
    Start {
        /// The kind of the device.
        platform: String,
        /// The path of the script, if given.
        path: Option<PathBuf>,
        /// Whether commands that only read are recorded.
        keep_reads: bool,
    },
    /// A command succeeded.
    Step {
        /// The command's lines in the script.
        lines: String,
    },
    /// The following commands go into a repair site of a script.
    Repair(RepairRequest),
    /// The script under repair continues.
    RunsOn,
}

/// A log to append to.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    /// The length of the complete lines on disk, in bytes.
    length: u64,
    /// Lines that could not be written yet.
    pending: Vec<u8>,
    /// Whether a partial line may follow the complete ones.
    torn: bool,
}

impl Log {
    /// Replaces the log with a new one that contains the first event.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL`.
    pub(crate) fn create(path: &Path, first: &Event) -> Result<Self> {
        if let Some(folder) = path.parent() {
            private_dir(folder)?;
        }
        let mut line = Vec::new();
        push(&mut line, first).map_err(|e| io_error("write", path, &e))?;
        crate::api::files::write(path, &line)?;
        let file = OpenOptions::new().append(true).open(path).map_err(|e| io_error("open", path, &e))?;
        Ok(Self { path: path.to_owned(), file, length: line.len() as u64, pending: Vec::new(), torn: false })
    }

    /// Appends an event, which is on disk when this returns.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL`; the event is then written together with the next one.
    pub(crate) fn append(&mut self, event: &Event) -> Result<()> {
        let mut write = || {
            push(&mut self.pending, event)?;
            if std::mem::replace(&mut self.torn, true) {
                self.file.set_len(self.length)?;
            }
            self.file.write_all(&self.pending)?;
            self.file.sync_data()?;
            self.torn = false;
            self.length += self.pending.len() as u64;
            self.pending.clear();
            Ok(())
        };
        write().map_err(|e: std::io::Error| io_error("write", &self.path, &e))
    }
}

fn push(lines: &mut Vec<u8>, event: &Event) -> std::io::Result<()> {
    serde_json::to_writer(&mut *lines, event)?;
    lines.push(b'\n');
    Ok(())
}

/// Reads the events of a log, or `None` if there is no log. An incomplete last line is ignored,
/// because it was never acknowledged.
///
/// # Errors
/// Returns `IO` when the log cannot be read.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<Event>>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io_error("read", path, &e)),
    };
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let events = whole.map(serde_json::from_str).collect::<Result<Vec<Event>, _>>();
    events.map(Some).map_err(|e| io_error("read", path, &e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    fn step(lines: &str) -> Event {
        Event::Step { lines: lines.to_owned() }
    }

    fn steps(path: &Path) -> Vec<String> {
        let events = read(path).expect("it is readable").expect("it is there");
        let lines = |event| match event {
            Event::Step { lines } => Some(lines),
            _ => None,
        };
        events.into_iter().filter_map(lines).collect()
    }

    #[test]
    fn half_a_line_is_ignored_and_whole_ones_are_kept() {
        let tmp = tempfile::tempdir().expect("a folder");
        let path = tmp.path().join("recordings/shop.jsonl");
        assert!(read(&path).expect("no error").is_none());
        let start = Event::Start { platform: "web".into(), path: None, keep_reads: false };
        let mut log = Log::create(&path, &start).expect("it begins");
        log.append(&step("back\n")).expect("it is written");
        log.file.write_all(br#"{"event":"step","li"#).expect("it is written");
        assert_eq!(steps(&path), ["back\n"]);
    }

    #[test]
    fn full_disk_is_said_and_the_step_is_written_with_the_next() {
        let tmp = tempfile::tempdir().expect("a folder");
        let path = tmp.path().join("shop.jsonl");
        let start = Event::Start { platform: "web".into(), path: None, keep_reads: false };
        let mut log = Log::create(&path, &start).expect("it begins");
        // A device that is always full replaces the disk.
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let real = std::mem::replace(&mut log.file, full);
        let error = log.append(&step("a\n")).expect_err("the disk is full");
        assert_eq!(error.code, ErrorCode::StorageFull, "{error}");
        log.file = real;
        log.append(&step("b\n")).expect("there is space again");
        assert_eq!(steps(&path), ["a\n", "b\n"]);
    }
}
