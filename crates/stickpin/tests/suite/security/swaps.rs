//! Links that another process swaps in for folders and files during a write.

use super::Outside;
use crate::support::client::{Client, text};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of screenshots that are written while a folder on their path, or the file itself, is
/// swapped for a link to the outside.
const PICTURES: usize = 150;

/// The maximum number of further attempts until one is written, for a machine on which the swaps
/// always win.
const MOST: usize = 20 * PICTURES;

#[test]
fn no_picture_ends_outside_while_links_are_swapped() {
    let outside = Outside::new();
    let shop = outside.world.path().join("shop");
    let vault = outside.world.path().join("vault");
    let kept = std::fs::read_dir(&vault).expect("a folder").count();
    std::fs::create_dir(shop.join("real")).expect("a folder");
    let mut client = Client::new(&outside.world, &[]);
    client.ok("open", json!({"what": "sim:shop"}));
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap(&shop, Path::new("real"), &vault);
            }
        });
        let (mut written, mut n) = (0, 0);
        while n < PICTURES || written == 0 && n < MOST {
            let shot = client.tool("screenshot", json!({"path": format!("pictures/{n}.png")}));
            let refused = shot["isError"] == true;
            let said = text(&shot);
            assert!(!refused || said.starts_with("POLICY_DENIED") || said.starts_with("IO"), "{said}");
            written += usize::from(!refused);
            n += 1;
        }
        done.store(true, Ordering::Relaxed);
        written
    });
    let escaped = std::fs::read_dir(&vault).expect("a folder").count() - kept;
    assert_eq!(escaped, 0, "{escaped} pictures ended outside, {written} were written");
    assert!(written > 0, "none was written at all");
}

/// Swaps `pictures` back and forth between a folder and a link to the outside.
fn swap(shop: &Path, real: &Path, vault: &Path) {
    let (link, next) = (shop.join("pictures"), shop.join("next"));
    for there in [shop.join(real), vault.to_owned()] {
        // A folder that was created there meanwhile is removed.
        if link.is_dir() && !link.is_symlink() {
            std::fs::remove_dir_all(&link).expect("a folder");
        }
        symlink(there, &next).expect("a link");
        if std::fs::rename(&next, &link).is_err() {
            std::fs::remove_file(&next).expect("a link");
        }
    }
}
