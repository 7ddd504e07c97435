//! Which files are meant: scripts, folders of them, patterns.

use crate::formats::read::is_maestro;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode, Result, io_error};
use stickpin_tree::quote;

/// How scripts end.
const ENDING: &str = "ad";

/// In how many bytes a flow names its app.
const HEADER: usize = 4096;

/// The scripts of a command line in the order of their names, each once, as they are named from the working directory.
///
/// In a folder, also in those below it, every `.ad` file is one, except those whose name begins with `_` (they are there
/// to be included) or `.`, and healed ones, which nobody took over yet. A Maestro flow is one where it lies in the folder
/// itself: those below it are there to be run by others (as Maestro has it), and are named by a pattern.
///
/// # Errors
/// `INVALID_ARGS` for what names no script.
pub(crate) fn find(paths: &[String], whole: &dyn Fn(&str) -> PathBuf, cwd: &Path) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for path in paths {
        let place = whole(path);
        let mut here = BTreeSet::new();
        if place.is_dir() {
            folder(&place, true, &mut here)?;
        } else if place.exists() {
            here.insert(place);
        } else if path.contains(['*', '?', '[']) {
            pattern(&place, path, &mut here)?;
        }
        if here.is_empty() {
            return Err(none(path));
        }
        found.extend(here);
    }
    let named = |path: PathBuf| path.strip_prefix(cwd).map(Path::to_owned).unwrap_or(path);
    Ok(found.into_iter().map(named).collect())
}

fn none(path: &str) -> Error {
    Error::new(ErrorCode::InvalidArgs, format!("{} names no script", quote(path)))
        .hint("a file, a folder with .ad files or Maestro flows (YAML with an appId or a url), or a pattern in quotes: stickpin test 'flows/**/*.ad'")
}

fn folder(dir: &Path, outermost: bool, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let failed = |e: &std::io::Error| io_error("read", dir, e);
    for entry in std::fs::read_dir(dir).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|e| failed(&e))?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) || name.ends_with(".healed.ad") {
            continue;
        }
        // A link to a folder could lead back into this one.
        if kind.is_dir() {
            folder(&path, false, found)?;
            continue;
        }
        let ours = path.extension().is_some_and(|e| e == ENDING);
        if path.is_file() && (ours || (outermost && is_flow(&path))) {
            found.insert(path);
        }
    }
    Ok(())
}

/// Whether a file of YAML is a flow, and not what else is kept in YAML: a flow's header names an app. What is wrong behind
/// that is for the flow to say.
fn is_flow(path: &Path) -> bool {
    if !is_maestro(path) {
        return false;
    }
    let mut start = vec![0; HEADER];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    // A file that cannot be read says so when it is named.
    start.truncate(read.unwrap_or(0));
    let start = String::from_utf8_lossy(&start);
    let mut header = start.lines().take_while(|line| line.trim_end() != "---");
    header.any(|line| line.starts_with("appId:") || line.starts_with("url:"))
}

fn pattern(place: &Path, given: &str, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let bad = |why: String| {
        Error::new(ErrorCode::InvalidArgs, format!("{} is no pattern: {why}", quote(given)))
            .hint("* and ? within a name, ** for folders, [ab]")
    };
    let matches = glob::glob(&place.to_string_lossy()).map_err(|e| bad(e.msg.to_owned()))?;
    for path in matches {
        let path = path.map_err(|e| io_error("read", e.path(), e.error()))?;
        if path.is_file() {
            found.insert(path);
        }
    }
    Ok(())
}
