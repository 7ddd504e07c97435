//! Links that are put in the place of folders and files while something is written, by somebody
//! faster than we are.

use super::Outside;
use crate::support::client::{Client, text};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pictures that are written while a folder on their way, or the file itself, is swapped for a link
/// that leads outside.
const PICTURES: usize = 150;

/// As many more until one is written, for a machine on which the swaps always win.
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

/// `pictures` is a folder, then a link that leads outside, in turns.
fn swap(shop: &Path, real: &Path, vault: &Path) {
    let (link, next) = (shop.join("pictures"), shop.join("next"));
    for there in [shop.join(real), vault.to_owned()] {
        // Whoever made a folder there meanwhile has to give way.
        if link.is_dir() && !link.is_symlink() {
            std::fs::remove_dir_all(&link).expect("a folder");
        }
        symlink(there, &next).expect("a link");
        if std::fs::rename(&next, &link).is_err() {
            std::fs::remove_file(&next).expect("a link");
        }
    }
}
