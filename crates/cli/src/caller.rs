//! The caller's own session name. Two projects do not share a session by accident, and a project
//! finds its session again.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stickpin_kernel::Caller;
use stickpin_wire::fingerprint;

/// The maximum length of a folder's name within a session name. Session names have at most 64
/// characters; a hyphen and four digits of a hash take up five of them.
const MAX_FOLDER_CHARS: usize = 40;

/// Returns the caller in `cwd`. A named client has its own session instead of the project's.
#[must_use]
pub fn caller(cwd: &Path, home: Option<&Path>, client: Option<&str>) -> Caller {
    let root = project_root(cwd);
    Caller {
        cwd: cwd.to_path_buf(),
        home: home.map(Path::to_path_buf),
        key: root.display().to_string(),
        own_session: session_name(root, client),
        client: client.map(str::to_owned),
        ..Caller::default()
    }
}

/// Returns the nearest of `cwd` and its ancestors that contains a `.git`; if none does, returns
/// `cwd`.
fn project_root(cwd: &Path) -> &Path {
    cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd)
}

/// Returns a session name: the name of the folder `root`, with other characters replaced, and four
/// hex digits of a hash of the folder's whole path and the client.
fn session_name(root: &Path, client: Option<&str>) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let folder: String =
        folder.chars().map(|c| if allowed(c) { c } else { '-' }).take(MAX_FOLDER_CHARS).collect();
    // Session names begin with a letter or digit and contain no `..`.
    let folder = folder.trim_matches(|c: char| !c.is_ascii_alphanumeric()).replace("..", "-");
    let folder = if folder.is_empty() { "root" } else { &folder };
    let mut all = root.as_os_str().as_bytes().to_vec();
    if let Some(client) = client {
        // No path contains a zero byte.
        all.push(0);
        all.extend(client.as_bytes());
    }
    format!("{folder}-{:04x}", fingerprint(&all) & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_repository_share_one_session() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("My Shop");
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        let inside = caller(&root.join("src/deep"), None, None);
        assert_eq!(inside.own_session, caller(&root, None, None).own_session);
        assert!(inside.own_session.starts_with("my-shop-"), "{}", inside.own_session);
        assert_eq!(inside.key, root.display().to_string());
        assert_ne!(inside.own_session, caller(tmp.path(), None, None).own_session);
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
            let name = session_name(Path::new(root), None);
            let (head, digits) = name.rsplit_once('-').unwrap();
            assert_eq!(head, folder, "{root}");
            assert!(digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
        }
        assert!(session_name(Path::new(&format!("/{}", "x".repeat(300))), None).len() <= 64);
        let shop = |client| session_name(Path::new("/a/shop"), client);
        assert_ne!(shop(None), session_name(Path::new("/b/shop"), None));
        assert_ne!(shop(Some("one")), shop(None));
        assert_ne!(shop(Some("one")), shop(Some("two")));
    }
}
