//! Finding programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns the path of the first of these names that is a program in a folder listed in `path`, the
/// value of `PATH`. An earlier name wins over an earlier folder. Relative folders are ignored.
#[must_use]
pub fn find_on_path(names: &[&str], path: Option<&OsStr>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = path
        .map(|path| std::env::split_paths(path).filter(|f| f.is_absolute()).collect())
        .unwrap_or_default();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|program| is_program(program))
}

/// Returns whether a path is an executable file.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn path_search_prefers_name_order_and_skips_relative() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        program(one.path(), "second", 0o755);
        let best = program(two.path(), "first", 0o755);
        program(one.path(), "first", 0o644);
        let path = std::env::join_paths([Path::new("."), one.path(), two.path()]).unwrap();
        assert_eq!(find_on_path(&["first", "second"], Some(&path)), Some(best));
        assert_eq!(find_on_path(&["third"], Some(&path)), None);
        assert_eq!(find_on_path(&["first"], None), None);
    }
}
