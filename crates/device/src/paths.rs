//! The folders that a caller may reach, with every link on the way resolved.

use crate::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use stickpin_tree::quote;

/// Returns whether a path is inside one of the given folders after all links are resolved.
#[must_use]
pub fn is_within(path: &Path, roots: &[PathBuf]) -> bool {
    resolve_links(path).is_ok_and(|real| containing_root(&real, roots).is_some())
}

/// Returns the folder in `roots` that contains a path whose links are resolved. The links of the
/// folder are resolved as well. Returns `None` if no folder contains the path.
pub fn containing_root(real: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let resolved = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
    roots.iter().map(resolved).find(|root| real.starts_with(root))
}

/// Resolves all links in a path. A part that does not exist yet is assumed to be inside its nearest
/// existing parent.
pub fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        match at.symlink_metadata() {
            // A dangling link could be written through, so it must not resolve, and it is not
            // inside.
            Ok(_) => {
                let mut real = at.canonicalize()?;
                real.extend(rest.iter().rev());
                return Ok(real);
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Err(e) };
                rest.push(name);
                at = parent;
            }
            Err(e) => return Err(e),
        }
    }
}

/// Creates the error for a path outside all folders that a caller may reach.
#[must_use]
pub fn outside_roots_error(path: &Path, roots: &[PathBuf]) -> Error {
    let path = quote(&path.display().to_string()).to_string();
    let folders: Vec<String> =
        roots.iter().map(|root| quote(&root.display().to_string()).to_string()).collect();
    let (message, hint) = match folders.is_empty() {
        true => (
            format!("{path} cannot be used: this client may not access any folder"),
            "ask a person to add a folder with `stickpin mcp --allow-path DIR`",
        ),
        false => (
            format!("{path} is outside the folders of this client ({})", folders.join(", ")),
            "use a path in one of these folders, or ask a person to add a folder with `stickpin mcp --allow-path DIR`",
        ),
    };
    Error::policy_denied(message).hint(hint)
}
