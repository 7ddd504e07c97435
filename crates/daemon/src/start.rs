//! Prepares the state directory before any client can connect: checks the directory's file system
//! and layout, and counts the start of the host.

use crate::{agents, files};
use rustix::fs::statfs;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode, Result, io_error};
use stickpin_session::Timestamp;
use stickpin_wire::{StateDir, rpc};

/// The layout of the state directory that this version reads and writes.
const LAYOUT: u64 = 1;

/// The magic numbers of network file systems, on which locks and `fsync` are not reliable.
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x7375_7245, "Coda"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
];

/// The magic number of FUSE file systems, some of which are served over the network.
const FUSE: u64 = 0x6573_5546;

/// The types of FUSE file systems that are served over the network.
const FUSE_NETWORK: &[&str] = &[
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.gvfsd-fuse",
    "fuse.nfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.smbnetfs",
    "fuse.sshfs",
];

/// The content of `VERSION` in the state directory.
#[derive(Debug, Serialize, Deserialize)]
struct Layout {
    layout: u64,
}

/// The content of `daemon.json`: a hint for people and tools. Only the lock decides which daemon
/// runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Hint {
    pid: u32,
    /// The start time of the process in clock ticks, which distinguishes the process from another
    /// one with the same id.
    process_start: Option<u64>,
    boot_id: String,
    version: &'static str,
    proto: u32,
    socket: PathBuf,
    started_at: Timestamp,
    epoch: u64,
}

/// Checks that a host can work in the state directory, and counts the host's start. The count is on
/// disk when this function returns.
///
/// # Errors
/// Returns `STATE_DIR_NOT_LOCAL` on a network file system, `LOG_VERSION_UNSUPPORTED` for an unknown
/// layout, `IO` or `STORAGE_FULL`.
pub(crate) fn prepare(state_dir: &StateDir) -> Result<u64> {
    check_local(state_dir.path())?;
    check_layout(&state_dir.path().join("VERSION"))?;
    next_epoch(&state_dir.daemon_dir().join("epoch"))
}

/// The file `daemon.json`. Removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct HintFile {
    path: PathBuf,
}

impl Drop for HintFile {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_file(&self.path) {
            tracing::warn!("{} could not be removed: {e}", self.path.display());
        }
    }
}

/// Writes `daemon.json`.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`.
pub(crate) fn write_hint(state_dir: &StateDir, epoch: u64) -> Result<HintFile> {
    let pid = std::process::id();
    let hint = Hint {
        pid,
        process_start: stickpin_process::ancestry(pid, 1).first().map(|process| process.start),
        boot_id: agents::boot_id(),
        version: rpc::VERSION,
        proto: rpc::PROTOCOL,
        socket: state_dir.socket().to_path_buf(),
        started_at: agents::now(),
        epoch,
    };
    let path = state_dir.daemon_dir().join("daemon.json");
    files::write(&path, &hint)?;
    Ok(HintFile { path })
}

/// Refuses a state directory on a network file system.
fn check_local(path: &Path) -> Result<()> {
    let found = statfs(path).map_err(|e| io_error("examine", path, &e.into()))?.f_type.cast_unsigned();
    let name = match found & 0xffff_ffff {
        FUSE => {
            let table = Path::new("/proc/self/mountinfo");
            let mounts = std::fs::read_to_string(table).map_err(|e| io_error("read", table, &e))?;
            let path = path.canonicalize().map_err(|e| io_error("resolve", path, &e))?;
            network_fuse(&mounts, &path).map(str::to_owned)
        }
        _ => network(found).map(str::to_owned),
    };
    match name {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "the state directory `{}` is on {name}, where file locks are unreliable",
                path.display()
            );
            Err(Error::new(ErrorCode::StateDirNotLocal, message)
                .hint("choose a folder on this machine with `--state-dir DIR` or STICKPIN_STATE_DIR"))
        }
    }
}

fn network(magic: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == magic & 0xffff_ffff).map(|(_, name)| *name)
}

/// Returns the type of the FUSE file system at a path if it is served over the network, according
/// to the mounts in `/proc/self/mountinfo` (proc(5)).
fn network_fuse<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mount = |line: &'m str| {
        let (before, after) = line.split_once(" - ")?;
        let point = Path::new(before.split(' ').nth(4)?);
        path.starts_with(point).then_some((point.components().count(), after.split(' ').next()?))
    };
    // A later mount at the same path hides the earlier one.
    let (_, kind) = mounts.lines().filter_map(mount).max_by_key(|(depth, _)| *depth)?;
    FUSE_NETWORK.contains(&kind).then_some(kind)
}

/// Refuses a state directory with a layout that this version does not support. Writes the layout of
/// this version to a directory that has none.
fn check_layout(file: &Path) -> Result<()> {
    let json = match std::fs::read(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => return files::write(file, &Layout { layout: LAYOUT }),
        read => read.map_err(|e| io_error("read", file, &e))?,
    };
    let found = serde_json::from_slice::<Layout>(&json).map(|found| found.layout);
    let found = match found {
        Ok(LAYOUT) => return Ok(()),
        Ok(layout) => format!("names layout {layout}"),
        Err(e) => format!("names no layout ({e})"),
    };
    let message =
        format!("`{}` {found}, but this version of stickpin supports layout {LAYOUT}", file.display());
    Err(Error::new(ErrorCode::LogVersionUnsupported, message).hint(
        "use the version of stickpin that wrote the file, or choose another folder with `--state-dir DIR` or STICKPIN_STATE_DIR",
    ))
}

/// Counts this start and returns its number.
fn next_epoch(file: &Path) -> Result<u64> {
    let before = match std::fs::read_to_string(file) {
        Ok(text) => text.trim().parse().unwrap_or(0),
        Err(e) if e.kind() == ErrorKind::NotFound => 0,
        Err(e) => return Err(io_error("read", file, &e)),
    };
    let epoch: u64 = before + 1;
    files::write(file, &epoch)?;
    Ok(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_its_own_epoch() {
        let tmp = tempfile::tempdir().unwrap();
        let file = tmp.path().join("epoch");
        assert_eq!((next_epoch(&file).unwrap(), next_epoch(&file).unwrap()), (1, 2));
    }

    #[test]
    fn network_file_systems_are_refused() {
        assert_eq!(network(0x6969), Some("NFS"));
        assert_eq!(network(0xffff_ffff_ff53_4d42), Some("CIFS"));
        assert_eq!(network(0xef53), None);
        check_local(&std::env::temp_dir()).unwrap();
    }

    #[test]
    fn fuse_is_refused_where_it_is_served_over_the_network() {
        let mounts = "\
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:50 / /home/ada/far rw,nosuid shared:2 - fuse.sshfs ada@host:/ rw\n\
            41 22 0:51 / /home/ada/far/usb rw - fuseblk /dev/sdb1 rw\n\
            42 22 0:52 / /home/ada/both rw - fuse.unionfs both rw\n";
        let found = |path: &str| network_fuse(mounts, Path::new(path));
        assert_eq!(found("/home/ada/far/state"), Some("fuse.sshfs"));
        assert_eq!((found("/home/ada/far/usb/state"), found("/home/ada/both")), (None, None));
        assert_eq!((found("/home/ada"), found("/home/ada/farther")), (None, None));
    }

    #[test]
    fn unknown_layout_is_refused_and_a_new_directory_is_marked() {
        let tmp = tempfile::tempdir().unwrap();
        let file = tmp.path().join("VERSION");
        check_layout(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), r#"{"layout":1}"#);
        check_layout(&file).unwrap();
        for other in [r#"{"layout":2}"#, "{}", "1", ""] {
            std::fs::write(&file, other).unwrap();
            let e = check_layout(&file).unwrap_err();
            assert_eq!(e.code, ErrorCode::LogVersionUnsupported, "{other}: {e}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), other, "it is left alone");
        }
    }
}
