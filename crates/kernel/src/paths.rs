//! Path arguments of every command: `~` is the caller's home, relative is to the caller's working directory, never
//! the host's.

use crate::request::Caller;
use std::path::{Component, Path, PathBuf};

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
}
