//! Which folders a client over MCP reaches.

use super::{CANARY, Outside};
use crate::support::client::Client;
use serde_json::json;
use std::os::unix::fs::MetadataExt;

/// A server that a desktop client starts in `/` or in the home folder gives access to neither.
#[test]
fn a_server_started_in_the_root_or_at_home_opens_no_folder() {
    let outside = Outside::new();
    let home = outside.world.path().canonicalize().expect("a folder");
    for cwd in [std::path::Path::new("/"), &home] {
        let mut command = outside.world.command(&["mcp"]);
        command.current_dir(cwd);
        let mut client = Client::of(command);
        let e = client.err("open", json!({"what": outside.url("vault/secret.html")}));
        assert!(e.starts_with("POLICY_DENIED") && e.contains("--allow-path"), "{}: {e}", cwd.display());
        client.ok("open", json!({"what": "sim:shop"}));
        let e = client.err("screenshot", json!({"path": home.join("a.png")}));
        assert!(e.starts_with("POLICY_DENIED"), "{e}");
        assert!(!home.join("a.png").exists());
    }
}

#[test]
fn state_folder_argument_is_restricted_to_allowed_ones() {
    let outside = Outside::new();
    let vault = outside.world.path().join("vault");
    let mode = || std::fs::metadata(&vault).expect("a folder").mode();
    let before = (mode(), std::fs::read_dir(&vault).expect("a folder").count());
    let empty = outside.world.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let mut client = Client::new(&outside.world, &[]);
    for dir in [&vault, &empty, &outside.world.path().join("new")] {
        for (tool, args) in [
            ("open", json!({"what": "sim:shop", "stateDir": dir})),
            ("stickpin", json!({"line": format!("--state-dir {} session list", dir.display())})),
            ("replay", json!({"file": "flow.ad", "stateDir": dir})),
        ] {
            let e = client.err(tool, args);
            assert!(e.starts_with("POLICY_DENIED") && e.contains("--allow-state-dir"), "{tool}: {e}");
        }
    }
    assert_eq!((mode(), std::fs::read_dir(&vault).expect("a folder").count()), before);
    assert_eq!(std::fs::read_dir(&empty).expect("a folder").count(), 0);
    assert!(!outside.world.path().join("new").exists());
    client.ok("open", json!({"what": "sim:shop", "stateDir": outside.world.state_dir()}));
}

/// A file named by the address of an app is subject to the same rules.
#[test]
fn an_address_names_no_file_outside() {
    let outside = Outside::new();
    let log = outside.world.path().join("vault/log");
    let app = outside.world.path().join("vault/app.toml");
    std::fs::write(&app, CANARY).expect("a file");
    let mut client = Client::new(&outside.world, &[]);
    for what in [format!("sim:shop?log={}", log.display()), format!("sim:{}", app.display())] {
        let e = client.err("open", json!({ "what": what }));
        assert!(e.starts_with("POLICY_DENIED"), "{what}: {e}");
    }
    assert!(!log.exists(), "it was written");
    let inside = outside.world.path().join("shop/log");
    client.ok("open", json!({"what": format!("sim:shop?log={}", inside.display())}));
    assert!(inside.exists());
    let e = client.err("open", json!({"what": format!("sim:{}", app.display())}));
    assert!(e.starts_with("POLICY_DENIED"), "{e}");
}
