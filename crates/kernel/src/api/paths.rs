//! Resolution of path arguments, in one place for every front end.

use crate::api::request::Caller;
use crate::api::schema::text_schema;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use stickpin_device::{Error, Result, io_error, paths};
use stickpin_tree::{escape, quote};

/// The maximum length of a path in a message, in characters.
const MAX_SHOWN_CHARS: usize = 300;

/// A path argument, as its caller wrote it. Only [`Caller::resolve_path`] determines where it
/// leads.
///
/// Arguments of this type have the annotation `x-path`; a path that is written to is annotated
/// `x-path` = `written`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathArg(String);

text_schema!(PathArg, "format" = "path", "x-path" = true);

impl PathArg {
    /// The rules for paths, as help and tool descriptions state them.
    pub const RULES: &str = "Paths may be absolute or relative to the caller's working directory, or may start with `~` or `~/` (home). `~user` and `$VAR` are not expanded.";

    /// Returns the text of the argument, for names and messages.
    #[must_use]
    pub fn as_written(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for PathArg {
    fn from(written: T) -> Self {
        Self(written.into())
    }
}

/// An absolute path, with the text that it was resolved from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    written: String,
    path: PathBuf,
}

impl ResolvedPath {
    /// Returns the absolute path.
    #[must_use]
    pub fn into_path_buf(self) -> PathBuf {
        self.path
    }

    /// Converts a file system error. For a file that does not exist, the message names the path as
    /// it was written and as it was resolved.
    #[must_use]
    pub fn io_error(&self, tried_to: &str, error: &io::Error) -> Error {
        let e = io_error(tried_to, &self.path, error);
        match error.kind() {
            io::ErrorKind::NotFound => Error { message: self.not_found_message(), ..e },
            _ => e,
        }
    }

    /// Returns the message for a file that does not exist.
    pub(crate) fn not_found_message(&self) -> String {
        let written = escape(&self.written, MAX_SHOWN_CHARS);
        let resolved = escape(&self.path.to_string_lossy(), MAX_SHOWN_CHARS);
        match written == resolved {
            true => format!("no such file: {written}"),
            false => format!("no such file: {written} (resolved to {resolved})"),
        }
    }
}

impl Deref for ResolvedPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Caller {
    /// Resolves a path as its caller wrote it: `~` is the caller's home directory, and a relative
    /// path starts at the caller's working directory, never the host's. Nothing else is expanded,
    /// and `..` is resolved lexically. The file need not exist.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an empty path, `PATH_TILDE_USER` for `~name`, `HOME_UNAVAILABLE`
    /// for `~` without a home directory, and `RELATIVE_PATH_WITHOUT_ROOT` for a relative path
    /// without a working directory. Returns `POLICY_DENIED` for a path that leads out of the
    /// caller's folders after all links are resolved.
    pub fn resolve_path(&self, written: &str) -> Result<ResolvedPath> {
        let path = self.expand_path(written)?;
        match &self.file_roots {
            Some(roots) if !paths::is_within(&path, roots) => Err(paths::outside_roots_error(&path, roots)),
            _ => Ok(ResolvedPath { written: written.to_owned(), path }),
        }
    }

    /// Resolves an argument of `open`, if it names a file rather than an address. It names a file
    /// if it starts with `./`, `../` or `~`, or if it contains no colon and is the path of an
    /// existing file.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`], and `DEVICE_NOT_FOUND` for a path whose file
    /// does not exist.
    pub fn resolve_opened(&self, what: &str) -> Result<Option<ResolvedPath>> {
        if ["./", "../", "~"].iter().any(|start| what.starts_with(start)) {
            let path = self.resolve_path(what)?;
            // Any other problem with the check also prevents the file from being opened, and is
            // reported then.
            return match path.try_exists() {
                Ok(false) => Err(Error::device_not_found(path.not_found_message())),
                _ => Ok(Some(path)),
            };
        }
        let is_file = !what.contains(':') && self.expand_path(what).is_ok_and(|path| path.is_file());
        is_file.then(|| self.resolve_path(what)).transpose()
    }

    /// Returns a path as a reader in the caller's working directory would write it.
    /// [`Caller::resolve_path`] resolves the result to the same path.
    #[must_use]
    pub fn relative_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => PathBuf::from("."),
            Ok(inside) if inside.as_os_str().as_encoded_bytes().starts_with(b"~") => {
                Path::new(".").join(inside)
            }
            Ok(inside) => inside.to_owned(),
            Err(_) => path.to_owned(),
        }
    }

    /// Returns the absolute, normalized form of a path.
    fn expand_path(&self, written: &str) -> Result<PathBuf> {
        let home = || {
            let home = self.home.as_deref().filter(|home| home.is_absolute());
            home.ok_or_else(|| {
                let message = format!("{} needs a home directory, but none is known", quote(written));
                Error::home_unavailable(message).hint("use an absolute path, or set HOME to an absolute path")
            })
        };
        let path = match written.strip_prefix('~') {
            Some("") => home()?.to_owned(),
            Some(rest) if rest.starts_with('/') => home()?.join(rest.trim_start_matches('/')),
            Some(_) => {
                let message =
                    format!("{} names a user's home directory, which is not expanded", quote(written));
                let name = escape(written, MAX_SHOWN_CHARS);
                return Err(Error::path_tilde_user(message).hint(format!(
                    "use `./{name}` for a file of that name, or write the home directory in full"
                )));
            }
            None if written.is_empty() => {
                return Err(Error::invalid_args("the path is empty")
                    .hint("name a file or a folder; `.` is the working directory"));
            }
            None if written.starts_with('/') => PathBuf::from(written),
            None if self.cwd.is_absolute() => self.cwd.join(written),
            None => {
                let message =
                    format!("{} is relative, but this client has no project folder", quote(written));
                return Err(Error::relative_path_without_root(message).hint(
                    "use an absolute path; an MCP client can also declare its project folder as a root",
                ));
            }
        };
        Ok(normalize(&path))
    }
}

/// Removes `.` and resolves `..` lexically.
fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    fn caller() -> Caller {
        Caller { cwd: "/w/p".into(), home: Some("/h".into()), ..Caller::default() }
    }

    #[test]
    fn path_starts_at_root_home_or_working_directory() {
        for (written, resolved) in [
            ("~", "/h"),
            ("~/", "/h"),
            ("~/a", "/h/a"),
            ("~//a", "/h/a"),
            ("~/../x", "/x"),
            ("./~x", "/w/p/~x"),
            ("./~", "/w/p/~"),
            ("a/~", "/w/p/a/~"),
            ("a/~/b", "/w/p/a/~/b"),
            ("$HOME/a", "/w/p/$HOME/a"),
            (" ~", "/w/p/ ~"),
            ("x/../y.png", "/w/p/y.png"),
            ("../y", "/w/y"),
            (".", "/w/p"),
            ("/abs/./z", "/abs/z"),
            ("/../../z", "/z"),
        ] {
            let path = caller().resolve_path(written).expect(written);
            assert_eq!(&*path, Path::new(resolved), "{written}");
        }
    }

    #[test]
    fn path_that_cannot_be_resolved_is_an_error_with_its_own_code() {
        let homeless = Caller { home: None, ..caller() };
        let odd_home = Caller { home: Some("h".into()), ..caller() };
        let nowhere = Caller { cwd: PathBuf::new(), ..caller() };
        for (caller, written, code) in [
            (&caller(), "", ErrorCode::InvalidArgs),
            (&caller(), "~u", ErrorCode::PathTildeUser),
            (&caller(), "~u/x", ErrorCode::PathTildeUser),
            (&caller(), "~~", ErrorCode::PathTildeUser),
            (&homeless, "~", ErrorCode::HomeUnavailable),
            (&homeless, "~/x", ErrorCode::HomeUnavailable),
            (&homeless, "~u", ErrorCode::PathTildeUser),
            (&odd_home, "~/x", ErrorCode::HomeUnavailable),
            (&nowhere, "x", ErrorCode::RelativePathWithoutRoot),
            (&nowhere, "./~x", ErrorCode::RelativePathWithoutRoot),
        ] {
            let e = caller.resolve_path(written).expect_err(written);
            assert_eq!((e.code, e.code.exit()), (code, 2), "{written}");
            assert!(!e.hint.is_empty(), "{written}");
        }
        assert!(caller().resolve_path("~u/x").expect_err("a user").hint.contains("`./~u/x`"));
        assert_eq!(&*nowhere.resolve_path("~/x").expect("home"), Path::new("/h/x"));
        assert_eq!(&*homeless.resolve_path("x").expect("relative"), Path::new("/w/p/x"));
    }

    #[test]
    fn links_are_resolved_before_the_folders_of_the_caller_are_compared() {
        let tmp = tempfile::tempdir().expect("a folder");
        let root = tmp.path().canonicalize().expect("a folder");
        for dir in ["in", "home"] {
            std::fs::create_dir(root.join(dir)).expect("a folder");
        }
        std::os::unix::fs::symlink(root.join("home"), root.join("in/out")).expect("a link");
        std::os::unix::fs::symlink(root.join("in"), root.join("home/back")).expect("a link");
        let caller = Caller {
            cwd: root.join("in"),
            home: Some(root.join("home")),
            file_roots: Some(vec![root.join("in")]),
            ..Caller::default()
        };
        for written in ["a", "new/deep/a", "~/back/a", "./~a"] {
            caller.resolve_path(written).expect(written);
        }
        for written in ["~", "~/a", "out/a", "../home/a", "/a"] {
            assert_eq!(caller.resolve_path(written).expect_err(written).code, ErrorCode::PolicyDenied);
        }
    }

    #[test]
    fn missing_file_is_named_as_written_and_as_resolved() {
        let missing = |written| {
            let e = io::Error::from(io::ErrorKind::NotFound);
            caller().resolve_path(written).expect("a path").io_error("read", &e).message
        };
        assert_eq!(missing("~/dev/a.png"), "no such file: ~/dev/a.png (resolved to /h/dev/a.png)");
        assert_eq!(missing("a\n.png"), "no such file: a\\n.png (resolved to /w/p/a\\n.png)");
        assert_eq!(missing("/a.png"), "no such file: /a.png");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let e = caller().resolve_path("~/a").expect("a path").io_error("read", &denied);
        assert!(e.message.starts_with("could not read `/h/a`: "), "{e}");
    }

    #[test]
    fn what_is_opened_is_a_file_when_it_looks_like_one_or_is_one() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let caller = Caller { cwd: folder.into(), home: Some(folder.into()), ..Caller::default() };
        let of = |what| caller.resolve_opened(what).expect(what).map(ResolvedPath::into_path_buf);
        let file = Path::new(folder).join("Cargo.toml");
        for what in ["Cargo.toml", "./Cargo.toml", "~/Cargo.toml", file.to_str().expect("text")] {
            assert_eq!(of(what).as_deref(), Some(&*file), "{what}");
        }
        for address in ["no.html", "example.com", "src", "file:Cargo.toml", "sim:./Cargo.toml", ""] {
            assert_eq!(of(address), None, "{address}");
        }
        for (what, code) in [
            ("./no.html", ErrorCode::DeviceNotFound),
            ("~/no.html", ErrorCode::DeviceNotFound),
            ("~u/a.html", ErrorCode::PathTildeUser),
        ] {
            assert_eq!(caller.resolve_opened(what).expect_err(what).code, code, "{what}");
        }
        let nowhere = Caller { cwd: PathBuf::new(), ..caller };
        assert_eq!(nowhere.resolve_opened("example.com").expect("an address"), None);
    }

    #[test]
    fn relative_form_of_a_path_resolves_to_it() {
        for (path, form) in
            [("/w/p/a/b", "a/b"), ("/w/p/~a/b", "./~a/b"), ("/w/p", "."), ("/w/q/a", "/w/q/a")]
        {
            let form_of_path = caller().relative_path(Path::new(path));
            assert_eq!(form_of_path, Path::new(form));
            let again = caller().resolve_path(form).expect("a path");
            assert_eq!(&*again, Path::new(path));
        }
    }
}
