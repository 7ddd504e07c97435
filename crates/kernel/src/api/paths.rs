//! Resolution of path arguments: `~` is the caller's home folder, and relative paths start at the
//! caller's working directory, never the host's.

use crate::api::request::Caller;
use std::path::{Component, Path, PathBuf};

/// Resolves a path for a caller.
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

/// Returns the absolute path of an argument of `open`, if it names a file rather than an address.
/// It names a file if it starts like a relative path or is the name of an existing file.
#[must_use]
pub fn resolve_opened(caller: &Caller, what: &str) -> Option<PathBuf> {
    let relative = ["./", "../", "~/"].iter().any(|start| what.starts_with(start));
    let path = resolve(caller, what);
    (relative || (!what.contains(':') && path.is_file())).then_some(path)
}

/// Removes `.` and resolves `..` lexically: the file need not exist.
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
        let of = |what| resolve_opened(&caller, what);
        assert_eq!(of("Cargo.toml"), Some(file));
        assert_eq!(of("~/a.html"), Some("/h/a.html".into()));
        assert_eq!(of("./no.html"), Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("no.html")));
        for address in ["no.html", "example.com", "src", "file:Cargo.toml", "sim:./Cargo.toml"] {
            assert_eq!(of(address), None, "{address}");
        }
    }
}
