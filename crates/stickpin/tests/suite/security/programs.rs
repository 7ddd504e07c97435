//! The programs that a client over MCP can start. The file that a program writes shows that it ran.

use super::Outside;
use crate::support::client::Client;
use serde_json::json;
use std::path::PathBuf;

impl Outside {
    /// Returns a command line that creates a file and fails, and the path of that file. `open`
    /// would wait for whatever a successful program had started.
    fn leaves(&self, name: &str) -> (String, PathBuf) {
        let file = self.world.path().join(name);
        (format!("sh -c 'echo ran > {}; exit 1'", file.display()), file)
    }

    /// Installs a desktop entry for this user.
    fn install(&self, id: &str, text: &str) {
        let folder = self.world.path().join(".local/share/applications");
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = format!("[Desktop Entry]\nType=Application\nName=App\n{text}\n");
        std::fs::write(folder.join(format!("{id}.desktop")), text).expect("a file");
    }
}

#[test]
fn client_starts_installed_apps_alone() {
    let outside = Outside::new();
    let (command, file) = outside.leaves("ran");
    let what = format!("linux:{command}");
    outside.put("shop/flow.ad", &format!("open \"{what}\"\n"));
    outside.put("evil.desktop", &format!("[Desktop Entry]\nExec={command}\n"));
    outside.install("terminal", &format!("Categories=System;TerminalEmulator;\nExec={command}"));
    let mut client = Client::new(&outside.world, &["--profile", "full"]);
    let calls = [
        ("open", json!({ "what": what })),
        ("open", json!({ "what": what, "private": true })),
        ("open", json!({ "what": "linux:/bin/sh" })),
        ("open", json!({ "what": "linux:sh" })),
        ("open", json!({ "what": "linux:terminal" })),
        ("open", json!({ "what": "linux:..-..-..-evil" })),
        ("batch", json!({ "steps": [{"command": "open", "input": {"what": what}}] })),
        ("replay", json!({ "file": "flow.ad" })),
        ("test", json!({ "paths": ["flow.ad"] })),
    ];
    for (tool, args) in &calls {
        let e = client.err(tool, args.clone());
        assert!(e.contains("is not an installed app"), "{tool} {args}: {e}");
        // The report of a suite names the failed step.
        assert!(e.contains("POLICY_DENIED") || *tool == "test", "{tool} {args}: {e}");
    }
    let mut slim = Client::new(&outside.world, &["--profile", "slim"]);
    let e = slim.err("stickpin", json!({ "line": format!("open \"{what}\"") }));
    assert!(e.contains("POLICY_DENIED") && e.contains("--allow-programs"), "{e}");
    assert!(!file.exists(), "a program was started");
}

#[test]
fn client_starts_programs_only_where_allowed() {
    let outside = Outside::new();
    let (command, of_app) = outside.leaves("app");
    outside.install("org.example.App", &format!("Exec={command}"));
    let mut client = Client::new(&outside.world, &[]);
    // It ends without a window, so opening it fails; its file shows that it was started.
    let e = client.err("open", json!({"what": "linux:org.example.App"}));
    assert!(!e.contains("POLICY_DENIED"), "{e}");
    assert!(of_app.exists(), "{e}");
    let (command, of_program) = outside.leaves("program");
    let mut trusted = Client::new(&outside.world, &["--allow-programs"]);
    let e = trusted.err("open", json!({ "what": format!("linux:{command}") }));
    assert!(!e.contains("POLICY_DENIED"), "{e}");
    assert!(of_program.exists(), "{e}");
}
