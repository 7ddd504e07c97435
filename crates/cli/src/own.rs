//! The caller's own session: a name that two projects do not share by accident, and that the same project finds again.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stickpin_kernel::Caller;
use stickpin_wire::fingerprint;

/// Session names are at most 64 characters; the digits and the hyphen take five.
const LONGEST_FOLDER: usize = 40;

/// Who calls from `cwd`.
#[must_use]
pub fn caller(cwd: &Path, home: Option<&Path>) -> Caller {
    let root = project_root(cwd);
    Caller {
        cwd: cwd.to_path_buf(),
        home: home.map(Path::to_path_buf),
        key: root.display().to_string(),
        own_session: session_name(root),
        client: None,
    }
}

/// The nearest folder above that git knows, else the folder itself.
fn project_root(cwd: &Path) -> &Path {
    cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd)
}

/// The folder's name and four hex digits over its whole path.
fn session_name(root: &Path) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let folder: String =
        folder.chars().map(|c| if allowed(c) { c } else { '-' }).take(LONGEST_FOLDER).collect();
    // Names begin with a letter or digit and hold no `..`.
    let folder = folder.trim_matches(|c: char| !c.is_ascii_alphanumeric()).replace("..", "-");
    let folder = if folder.is_empty() { "root" } else { &folder };
    format!("{folder}-{:04x}", fingerprint(root.as_os_str().as_bytes()) & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_a_repository_has_one_session() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("My Shop");
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        let inside = caller(&root.join("src/deep"), None);
        assert_eq!(inside.own_session, caller(&root, None).own_session);
        assert!(inside.own_session.starts_with("my-shop-"), "{}", inside.own_session);
        assert_eq!(inside.key, root.display().to_string());
        assert_ne!(inside.own_session, caller(tmp.path(), None).own_session);
    }

    #[test]
    fn names_are_valid_session_names() {
        for (root, folder) in [
            ("/", "root"),
            ("/home/Ünï/Größe", "gr--e"),
            ("/a/...", "root"),
            ("/a/.config", "config"),
            ("/a/x..y", "x-y"),
            ("/a/shop", "shop"),
        ] {
            let name = session_name(Path::new(root));
            let (head, digits) = name.rsplit_once('-').unwrap();
            assert_eq!(head, folder, "{root}");
            assert!(digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
        }
        assert!(session_name(Path::new(&format!("/{}", "x".repeat(300)))).len() <= 64);
        assert_ne!(session_name(Path::new("/a/shop")), session_name(Path::new("/b/shop")));
    }
}
