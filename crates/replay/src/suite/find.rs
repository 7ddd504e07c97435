//! Which files are meant: scripts, folders of them, patterns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode, Result, io_error};
use stickpin_tree::quote;

/// How scripts end.
const ENDING: &str = "ad";

/// The scripts of a command line in the order of their names, each once, as they are named from the working directory.
///
/// In a folder, also in those below it, every `.ad` file is one, except those whose name begins with `_` (they are there
/// to be included) or `.`, and healed ones, which nobody took over yet.
///
/// # Errors
/// `INVALID_ARGS` for what names no script.
pub(crate) fn find(paths: &[String], whole: &dyn Fn(&str) -> PathBuf, cwd: &Path) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for path in paths {
        let place = whole(path);
        let mut here = BTreeSet::new();
        if place.is_dir() {
            folder(&place, &mut here)?;
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
        .hint("a file, a folder with .ad files, or a pattern in quotes: stickpin test 'flows/**/*.ad'")
}

fn folder(dir: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
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
            folder(&path, found)?;
        } else if path.is_file() && path.extension().is_some_and(|e| e == ENDING) {
            found.insert(path);
        }
    }
    Ok(())
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
