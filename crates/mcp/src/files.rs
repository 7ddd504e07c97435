//! The files that a client may name: those below its roots and those below the `--allow-path`
//! folders. If the client has no roots, the server's working directory or project folder takes
//! their place. All links are resolved first, so that neither `..` nor a link leads outside.

use std::path::{Path, PathBuf};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Caller, Result};
use url::Url;

/// The folders of one client.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// The base of relative paths, if there is one: the client's first root. For a client without
    /// roots, the server's working directory, otherwise the project folder that the server's
    /// environment names. The last two do not count if they are or contain the home folder. If
    /// neither counts, a working directory other than `/` is still used if it is within the folders
    /// that the server was started with.
    pub(crate) start: Option<PathBuf>,
    /// The folders whose files the client may name: its roots, otherwise the base of relative
    /// paths, and also the folders that the server was started with.
    pub(crate) roots: Vec<PathBuf>,
}

impl Folders {
    /// Creates the folders of a client with these roots. Desktop clients start the server in `/` or
    /// in the home folder, which does not make that folder accessible: it must be named.
    pub(crate) fn new(
        client_roots: &[PathBuf],
        caller: &Caller,
        allowed: &[PathBuf],
        project_dir: Option<&PathBuf>,
    ) -> Self {
        let contains_home = |dir: &Path| {
            let home = caller.home.as_deref().and_then(|home| home.canonicalize().ok());
            let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
            dir.parent().is_none() || home.is_some_and(|home| home.starts_with(&dir))
        };
        let roots = match client_roots {
            [] => {
                let known = std::iter::once(&caller.cwd).chain(project_dir);
                Vec::from_iter(known.filter(|dir| !contains_home(dir)).take(1).cloned())
            }
            named => named.to_vec(),
        };
        // A person who opened the home folder may work in it.
        let opened = || {
            let is_opened = stickpin_device::paths::is_within(&caller.cwd, allowed);
            (is_opened && caller.cwd.parent().is_some()).then(|| caller.cwd.clone())
        };
        let start = roots.first().cloned().or_else(opened);
        Self { start, roots: roots.into_iter().chain(allowed.iter().cloned()).collect() }
    }

    /// Confines a caller to these folders.
    pub(crate) fn confine(&self, mut caller: Caller) -> Caller {
        caller.cwd = self.start.clone().unwrap_or_default();
        caller.file_roots = Some(self.roots.clone());
        caller
    }

    /// Checks every path in an input, including nested ones.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`] and [`Caller::resolve_opened`] for the first
    /// path that cannot be used, such as `POLICY_DENIED` for a path outside the folders.
    pub(crate) fn check(
        &self,
        entry: &CommandDefinition,
        input: &mut serde_json::Map<String, serde_json::Value>,
        caller: &Caller,
    ) -> Result<()> {
        let caller = self.confine(caller.clone());
        let mut checked = Ok(());
        entry.visit_arguments(input, &mut |field, value| {
            let mut check = |value: &serde_json::Value| {
                let Some(text) = value.as_str().filter(|_| checked.is_ok()) else { return };
                if field.is_path {
                    checked = caller.resolve_path(text).map(drop);
                } else if field.is_openable {
                    checked = caller.resolve_opened(text).and_then(|file| match file {
                        Some(_) => Ok(()),
                        None => file_of_url(text).map_or(Ok(()), |path| self.allow(&path)),
                    });
                }
            };
            match value {
                serde_json::Value::Array(items) => items.iter().for_each(check),
                value => check(value),
            }
        });
        checked
    }

    /// Checks that a file is in one of the folders.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED` for a file outside the folders.
    fn allow(&self, path: &Path) -> Result<()> {
        match stickpin_device::paths::is_within(path, &self.roots) {
            true => Ok(()),
            false => Err(stickpin_device::paths::outside_roots_error(path, &self.roots)),
        }
    }
}

/// Returns whether an input names a file, or contains a value that may name one.
pub(crate) fn names_files(
    entry: &CommandDefinition,
    input: &mut serde_json::Map<String, serde_json::Value>,
) -> bool {
    let mut any = false;
    entry.visit_arguments(input, &mut |field, _| any |= field.is_path || field.is_openable);
    any
}

/// Returns the path in a `file:` address; `None` for any other text. Surrounding white space,
/// backslashes and `%` escapes are treated as in browsers. The host is ignored, because the file is
/// always local.
pub(crate) fn file_of_url(text: &str) -> Option<PathBuf> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "file")?;
    let mut local_url = url.clone();
    let path = local_url.set_host(None).ok().and_then(|()| local_url.to_file_path().ok());
    Some(path.unwrap_or_else(|| url.path().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::os::unix::fs::symlink;
    use stickpin_kernel::ErrorCode;
    use stickpin_kernel::registry::find;

    struct TestFolders {
        tmp: tempfile::TempDir,
        folders: Folders,
        caller: Caller,
    }

    impl TestFolders {
        fn new() -> Self {
            let tmp = tempfile::tempdir().expect("a folder");
            let root = tmp.path().canonicalize().expect("a folder");
            for dir in ["in", "out", "also"] {
                std::fs::create_dir(root.join(dir)).expect("a folder");
            }
            std::fs::write(root.join("out/secret.html"), "x").expect("a file");
            let caller = Caller { cwd: root.join("in"), home: Some(root.join("out")), ..Caller::default() };
            let folders = Folders::new(&[root.join("in")], &caller, &[root.join("also")], None);
            Self { tmp, folders, caller }
        }

        fn path(&self, name: &str) -> String {
            self.tmp.path().canonicalize().expect("a folder").join(name).display().to_string()
        }

        /// Returns where a screenshot would be written.
        fn shot(&self, path: &str) -> Result<String> {
            let mut input = json!({"path": path}).as_object().expect("an object").clone();
            self.folders.check(find("screenshot").expect("a command"), &mut input, &self.caller)?;
            let written = self.folders.confine(self.caller.clone()).resolve_path(path)?;
            Ok(written.display().to_string())
        }

        fn open(&self, what: &str) -> Result<()> {
            let mut input = json!({"what": what}).as_object().expect("an object").clone();
            self.folders.check(find("open").expect("a command"), &mut input, &self.caller)
        }
    }

    #[test]
    fn paths_outside_client_folders_are_refused() {
        let w = TestFolders::new();
        assert_eq!(w.shot("a.png").expect("inside"), w.path("in/a.png"));
        assert_eq!(w.shot("new/deep/a.png").expect("inside"), w.path("in/new/deep/a.png"));
        assert_eq!(w.shot(&w.path("also/a.png")).expect("allowed"), w.path("also/a.png"));
        symlink(w.path("out"), w.path("in/link")).expect("a link");
        symlink(w.path("out/new.png"), w.path("in/dangling.png")).expect("a link");
        symlink(w.path("in"), w.path("out/back")).expect("a link");
        let sibling = format!("{}side/a.png", w.path("in"));
        for path in [
            "../out/a.png",
            "~/a.png",
            "/etc/a.png",
            "link/a.png",
            "dangling.png",
            "x/../../out/a.png",
            &sibling,
        ] {
            let e = w.shot(path).expect_err(path);
            assert_eq!(e.code, ErrorCode::PolicyDenied, "{path}");
            assert!(e.hint.contains("--allow-path"), "{}", e.hint);
        }
        assert!(w.shot("~/back/a.png").is_ok(), "a link that leads back in");
    }

    #[test]
    fn file_urls_are_checked() {
        let w = TestFolders::new();
        let secret = w.path("out/secret.html");
        for what in [
            secret.clone(),
            "../out/secret.html".to_owned(),
            "~/secret.html".to_owned(),
            format!("file://{secret}"),
            format!("FILE://localhost{secret}#x"),
            format!(" fi\nle:{secret}"),
            format!("file://elsewhere{}", secret.replace("out", "%6fut")),
            format!("file:///{}", secret.replace("out", "%6fut")),
            format!("file:{}/../out/secret.html", w.path("in")),
            format!("file:\\\\{}", secret.replace('/', "\\")),
        ] {
            assert_eq!(w.open(&what).expect_err(&what).code, ErrorCode::PolicyDenied, "{what}");
        }
        for what in ["http://127.0.0.1/file:///etc", "sim:shop", "example.com"] {
            w.open(what).expect(what);
        }
        w.open(&format!("file://{}", w.path("in/page.html"))).expect("inside");
    }

    #[test]
    fn tab_urls_are_checked_like_open() {
        let w = TestFolders::new();
        let tab = |url: &str| {
            let mut input = json!({"url": url}).as_object().expect("an object").clone();
            w.folders.check(find("tab new").expect("a command"), &mut input, &w.caller)
        };
        let e = tab(&format!("file://{}", w.path("out/secret.html"))).expect_err("a page outside");
        assert_eq!(e.code, ErrorCode::PolicyDenied);
        tab("https://example.com/").expect("an address");
    }

    #[test]
    fn root_and_home_are_no_default_folders() {
        let w = TestFolders::new();
        let home = w.caller.home.clone().expect("a home");
        for cwd in [PathBuf::from("/"), home.clone(), home.join("..")] {
            let caller = Caller { cwd: cwd.clone(), ..w.caller.clone() };
            let folders = Folders::new(&[], &caller, &[], Some(&home));
            let e = folders.allow(&home.join("secret.html")).expect_err("outside");
            assert_eq!(e.code, ErrorCode::PolicyDenied, "{}", cwd.display());
            assert!(e.hint.contains("--allow-path"), "{}", e.hint);
            let e = folders.confine(caller).resolve_path("a.png").expect_err("no folder");
            assert_eq!(e.code, ErrorCode::RelativePathWithoutRoot, "{}", cwd.display());
        }
        let caller = Caller { cwd: home.join("project"), ..w.caller.clone() };
        Folders::new(&[], &caller, &[], None).allow(&home.join("project/page.html")).expect("the project's");
        Folders::new(std::slice::from_ref(&home), &w.caller, &[], None)
            .allow(&home.join("a"))
            .expect("it was named");
    }

    #[test]
    fn relative_path_starts_at_root_then_cwd_then_project_folder() {
        let w = TestFolders::new();
        let (root, project) = (PathBuf::from(w.path("in")), PathBuf::from(w.path("also")));
        let start = |named: &[PathBuf], cwd: &str| {
            let caller = Caller { cwd: cwd.into(), ..w.caller.clone() };
            let folders = Folders::new(named, &caller, &[], Some(&project));
            folders.confine(caller).resolve_path("a.png").expect("a path").into_path_buf()
        };
        assert_eq!(start(std::slice::from_ref(&root), "/"), root.join("a.png"));
        assert_eq!(start(&[], root.to_str().expect("text")), root.join("a.png"));
        assert_eq!(start(&[], "/"), project.join("a.png"));
        let home = w.caller.home.clone().expect("a home");
        let caller = Caller { cwd: home.clone(), ..w.caller.clone() };
        let folders = Folders::new(&[], &caller, &[PathBuf::from("/")], None);
        assert_eq!(folders.start, Some(home));
    }

    #[test]
    fn paths_in_batch_steps_are_checked() {
        let w = TestFolders::new();
        let mut input = json!({"steps": [{"command": "screenshot", "input": {"path": "~/a.png"}}]});
        let Value::Object(input) = &mut input else { panic!("an object") };
        let e =
            w.folders.check(find("batch").expect("a command"), input, &w.caller).expect_err("a path outside");
        assert_eq!(e.code, ErrorCode::PolicyDenied);
    }
}
