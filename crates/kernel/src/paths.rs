//! Path arguments of every command: `~` is the caller's home, relative is to the caller's working directory, never
//! the host's.

use crate::error::{Error, ErrorCode};
use crate::request::Caller;
use std::io;
use std::path::{Component, Path, PathBuf};
use stickpin_tree::quote;

/// The path that a caller meant.
#[must_use]
pub fn resolve(caller: &Caller, path: &str) -> PathBuf {
    let home = caller.home.as_deref();
    let expanded = match (path, home) {
        ("~", Some(home)) => home.to_path_buf(),
        (path, Some(home)) if path.starts_with("~/") => home.join(&path[2..]),
        (path, _) => caller.cwd.join(path),
    };
    normal(&expanded)
}

/// The whole path of what a caller wants to open, where that is a file and not an address: it begins like a relative
/// path, or is the name of a file that there is.
#[must_use]
pub fn of_opened(caller: &Caller, what: &str) -> Option<PathBuf> {
    let relative = ["./", "../", "~/"].iter().any(|start| what.starts_with(start));
    let path = resolve(caller, what);
    (relative || (!what.contains(':') && path.is_file())).then_some(path)
}

/// Whether a path leads into one of these folders with all links resolved.
#[must_use]
pub fn is_within(path: &Path, roots: &[PathBuf]) -> bool {
    real(path).is_ok_and(|real| root_of(&real, roots).is_some())
}

/// The folder, resolved, that a resolved path is in.
pub(crate) fn root_of(real: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let resolved = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
    roots.iter().map(resolved).find(|root| real.starts_with(root))
}

/// The path with all links resolved. What does not exist yet is taken to be in the folder that does.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        match at.symlink_metadata() {
            // A link that leads nowhere yet could be written through: not resolved, so not inside.
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

/// The refusal of a path that is in none of the folders that a caller may reach.
#[must_use]
pub fn outside(path: &Path, roots: &[PathBuf]) -> Error {
    let path = quote(&path.display().to_string()).to_string();
    let folders: Vec<String> =
        roots.iter().map(|root| quote(&root.display().to_string()).to_string()).collect();
    let message = match folders.is_empty() {
        true => format!("{path} cannot be used: no folder is open to this client"),
        false => format!("{path} is not in a folder of yours ({})", folders.join(", ")),
    };
    Error::new(ErrorCode::PolicyDenied, message)
        .hint("name a path in there; a person can add folders: stickpin mcp --allow-path DIR")
}

/// Without `.` and with `..` taken off by name: the file need not exist.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_and_working_directory_are_the_callers() {
        let caller = Caller { cwd: "/w/p".into(), home: Some("/h".into()), ..Caller::default() };
        let of = |p| resolve(&caller, p).display().to_string();
        assert_eq!(of("~"), "/h");
        assert_eq!(of("~/a"), "/h/a");
        assert_eq!(of("~a"), "/w/p/~a");
        assert_eq!(of("x/../y.png"), "/w/p/y.png");
        assert_eq!(of("../y"), "/w/y");
        assert_eq!(of("/abs/./z"), "/abs/z");
    }

    #[test]
    fn what_is_opened_is_a_file_when_it_looks_like_one_or_is_one() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let caller =
            Caller { cwd: env!("CARGO_MANIFEST_DIR").into(), home: Some("/h".into()), ..Caller::default() };
        let of = |what| of_opened(&caller, what);
        assert_eq!(of("Cargo.toml"), Some(file));
        assert_eq!(of("~/a.html"), Some("/h/a.html".into()));
        assert_eq!(of("./no.html"), Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("no.html")));
        for address in ["no.html", "example.com", "src", "file:Cargo.toml", "sim:./Cargo.toml"] {
            assert_eq!(of(address), None, "{address}");
        }
    }
}
