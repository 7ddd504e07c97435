//! Checks dependencies: licenses, a single version of each crate, and sources.

use crate::Result;
use crate::flows::from_python;
use crate::run::{root, run, target_dir};
use crate::summary::skipped;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that requests a check against the advisory database, which is fetched for it. The
/// database is in a Git repository, which cannot be fetched from a machine that reaches only
/// package registries.
const REQUIRE_ADVISORIES: &str = "STICKPIN_REQUIRE_ADVISORIES";

/// The variable that names a clone of the advisory database, which then is not fetched.
const ADVISORIES: &str = "STICKPIN_ADVISORIES";

/// The folder in which `cargo-deny` looks for the clone of its default database. It derives the
/// name from the database's address.
const DATABASE: &str = "advisory-db-3157b0e258782691";

/// The variable that makes a run without `cargo-deny` fail.
const REQUIRE_DENY: &str = "STICKPIN_REQUIRE_DENY";

/// Runs `cargo-deny` with `deny.toml`.
pub fn deny() -> Result {
    let home = target_dir()?.join("lint");
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let installed = from_python(&root().join("xtask/deny"), &home.join("deny"));
    if let Err(why) = installed {
        let why = format!("dependencies are not checked, because cargo-deny could not be installed: {why}");
        return skipped(REQUIRE_DENY, &why);
    }
    let program = home.join("deny/bin/cargo-deny");
    let check = || Command::new(&program);
    run(check().current_dir(root()).args(["--offline", "check", "licenses", "bans", "sources"]))?;
    if let Some(clone) = std::env::var_os(ADVISORIES) {
        let config = offline_config(&home, Path::new(&clone))?;
        let mut check = check();
        return run(check.current_dir(root()).arg("--config").arg(config).args([
            "--offline",
            "check",
            "advisories",
        ]));
    }
    if std::env::var_os(REQUIRE_ADVISORIES).is_none() {
        return skipped(
            REQUIRE_ADVISORIES,
            &format!(
                "advisories are not checked, because there is no clone of their database ({ADVISORIES})"
            ),
        );
    }
    run(check().current_dir(root()).args(["check", "advisories"]))
}

/// Writes a copy of `deny.toml` that uses a clone of the advisory database. Returns its path.
fn offline_config(home: &Path, clone: &Path) -> Result<PathBuf> {
    let io = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| format!("{path}: {e}")
    };
    let clone = clone.canonicalize().map_err(io(clone))?;
    let databases = home.join("advisories");
    let link = databases.join(DATABASE);
    std::fs::create_dir_all(&databases).map_err(io(&databases))?;
    if link.is_symlink() {
        std::fs::remove_file(&link).map_err(io(&link))?;
    }
    std::os::unix::fs::symlink(&clone, &link).map_err(io(&link))?;
    let rules = root().join("deny.toml");
    let rules = std::fs::read_to_string(&rules).map_err(io(&rules))?;
    let config = home.join("deny.toml");
    let text = format!("{rules}\n[advisories]\ndb-path = {:?}\n", databases.display().to_string());
    std::fs::write(&config, text).map_err(io(&config))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clone_replaces_the_one_of_the_last_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().join("lint");
        for clone in ["first", "second"] {
            let clone = dir.path().join(clone);
            std::fs::create_dir_all(clone.join("crates")).expect("a folder");
            let config = offline_config(&home, &clone).expect("a configuration");
            let config = std::fs::read_to_string(config).expect("a file");
            let databases = config.split("db-path = \"").nth(1).and_then(|it| it.split('"').next());
            let found = Path::new(databases.expect("a path")).join(DATABASE);
            assert_eq!(found.canonicalize().expect("a clone"), clone.canonicalize().expect("a folder"));
            assert!(config.contains("[licenses]"), "the rules of deny.toml apply too: {config}");
        }
    }
}
