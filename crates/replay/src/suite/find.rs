//! Finds the scripts that paths name. A path names a script or a folder, or is a pattern.

use crate::formats::read::is_maestro;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Caller, Error, PathArg, Result, io_error};
use stickpin_tree::{escape, quote};

/// The file extension of scripts.
const EXTENSION: &str = "ad";

/// How many bytes at the start of a YAML file are searched for the header that names an app.
const MAX_HEADER_BYTES: usize = 4096;

/// Returns the scripts that a command line names, each once, sorted by name and relative to the
/// working directory.
///
/// In a folder and its subfolders, every `.ad` file is a script, except repaired scripts and files
/// whose names begin with `_`, which are for includes, or with `.`. Subfolders with such names are
/// skipped. A Maestro flow is a script only directly in the folder: as in Maestro, flows in
/// subfolders are run by other flows, but a pattern can name them.
///
/// # Errors
/// Returns `INVALID_ARGS` for a path that names no script, the errors of resolving a path, and `IO`
/// for a folder that cannot be read.
pub(crate) fn find(paths: &[PathArg], caller: &Caller) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for path in paths {
        let path = path.as_written();
        let resolved = caller.resolve_path(path)?.into_path_buf();
        let mut matches = BTreeSet::new();
        if resolved.is_dir() {
            find_in_folder(&resolved, true, &mut matches)?;
        } else if resolved.exists() {
            matches.insert(resolved.clone());
        } else if path.contains(['*', '?', '[']) {
            find_by_pattern(&resolved, path, &mut matches)?;
        }
        if matches.is_empty() {
            return Err(nothing_found_error(path, &resolved));
        }
        found.extend(matches);
    }
    Ok(found.into_iter().map(|path| caller.relative_path(&path)).collect())
}

fn nothing_found_error(path: &str, resolved: &Path) -> Error {
    let mut message = format!("{} matches no script", quote(path));
    if resolved != Path::new(path) {
        message.push_str(&format!(" (resolved to {})", escape(&resolved.to_string_lossy(), 300)));
    }
    Error::invalid_args(message)
        .hint("name a file, a folder with `.ad` files or Maestro flows, or a quoted pattern, for example: `stickpin test 'flows/**/*.ad'`")
}

fn find_in_folder(dir: &Path, outermost: bool, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let failed = |e: &std::io::Error| io_error("read", dir, e);
    for entry in std::fs::read_dir(dir).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|e| failed(&e))?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) || name.ends_with(".repaired.ad") {
            continue;
        }
        // Links to folders are not followed, because one could lead back into this folder.
        if kind.is_dir() {
            find_in_folder(&path, false, found)?;
            continue;
        }
        let is_script = path.extension().is_some_and(|e| e == EXTENSION);
        if path.is_file() && (is_script || (outermost && is_flow(&path))) {
            found.insert(path);
        }
    }
    Ok(())
}

/// Returns whether a YAML file is a flow: its header names an app. The flow's own parser reports
/// later errors.
fn is_flow(path: &Path) -> bool {
    if !is_maestro(path) {
        return false;
    }
    let mut start = vec![0; MAX_HEADER_BYTES];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    // An unreadable file is reported when it is named.
    start.truncate(read.unwrap_or(0));
    let start = String::from_utf8_lossy(&start);
    let mut header = start.lines().take_while(|line| line.trim_end() != "---");
    header.any(|line| line.starts_with("appId:") || line.starts_with("url:"))
}

fn find_by_pattern(path_pattern: &Path, argument: &str, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let bad = |why: String| {
        Error::invalid_args(format!("{} is not a valid pattern: {why}", quote(argument)))
            .hint("use `*` and `?` within a name, `**` for folders, or `[ab]` for one of several characters")
    };
    let matches = glob::glob(&path_pattern.to_string_lossy()).map_err(|e| bad(e.msg.to_owned()))?;
    for path in matches {
        let path = path.map_err(|e| io_error("read", e.path(), e.error()))?;
        if path.is_file() {
            found.insert(path);
        }
    }
    Ok(())
}
