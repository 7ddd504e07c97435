//! Configuration of clients for this server: the command to type, or the entry for the client's
//! file.

use serde_json::{Value, json};
use std::path::Path;
use stickpin_kernel::{Error, Result};

/// The supported clients.
const CLIENTS: &[&str] = &["claude-code", "codex", "gemini", "opencode", "cursor", "vscode"];

/// Returns the command or file entry that configures a client, and where it belongs. `passed` names
/// environment variables that the server and its apps need. They are listed for clients that pass
/// on only configured variables.
///
/// # Errors
/// Returns `INVALID_ARGS` for an unknown client.
pub fn config(client: &str, program: &Path, args: &[String], passed: &[String]) -> Result<String> {
    let program = program.display().to_string();
    let args: Vec<String> = std::iter::once("mcp".to_owned()).chain(args.iter().cloned()).collect();
    let line =
        || std::iter::once(&program).chain(&args).map(|word| shell(word)).collect::<Vec<_>>().join(" ");
    let entry = || json!({ "command": program, "args": args });
    let file = |path: &str, value: Value| format!("in {path}:\n{value:#}");
    Ok(match client {
        "claude-code" => format!("type:\nclaude mcp add stickpin -- {}", line()),
        "codex" => {
            // A JSON string is valid TOML, and so is a list of such strings.
            format!(
                "in ~/.codex/config.toml:\n[mcp_servers.stickpin]\ncommand = {}\nargs = {}\nenv_vars = {}",
                json!(program),
                json!(args),
                json!(passed)
            )
        }
        "gemini" => file("~/.gemini/settings.json", json!({ "mcpServers": { "stickpin": entry() } })),
        "opencode" => {
            let command: Vec<&String> = std::iter::once(&program).chain(&args).collect();
            let entry = json!({ "type": "local", "command": command, "enabled": true });
            file("opencode.json", json!({ "mcp": { "stickpin": entry } }))
        }
        "cursor" => file(".cursor/mcp.json", json!({ "mcpServers": { "stickpin": entry() } })),
        "vscode" => {
            let mut entry = entry();
            entry["type"] = "stdio".into();
            file(".vscode/mcp.json", json!({ "servers": { "stickpin": entry } }))
        }
        other => {
            let message = format!("{} is not a known client", stickpin_tree::quote(other));
            return Err(Error::invalid_args(message).hint(format!("use one of {}", CLIENTS.join(", "))));
        }
    })
}

/// Quotes a word for a shell.
fn shell(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+".contains(c);
    match !word.is_empty() && word.chars().all(is_safe) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_names_program_and_arguments_for_every_client() {
        for client in CLIENTS {
            let args = ["--read-only".to_owned()];
            let text = config(client, Path::new("/opt/my tools/stickpin"), &args, &[]).expect(client);
            assert!(
                text.contains("/opt/my tools/stickpin") && text.contains("--read-only"),
                "{client}: {text}"
            );
            let body = text.split_once('\n').expect("where, then what").1;
            match text.starts_with("in ") && !text.contains(".toml") {
                true => drop(serde_json::from_str::<Value>(body).expect(client)),
                false => assert!(body.contains("stickpin"), "{text}"),
            }
        }
        assert_eq!(
            config("claude-code", Path::new("/opt/my tools/stickpin"), &[], &[]).expect("a client"),
            "type:\nclaude mcp add stickpin -- '/opt/my tools/stickpin' mcp"
        );
        let e = config("emacs", Path::new("/s"), &[], &[]).expect_err("not known");
        assert!(e.hint.contains("claude-code"), "{}", e.hint);
    }

    /// The clients' files, with exactly the fields that each client documents.
    mod documented {
        use serde::Deserialize;
        use std::collections::BTreeMap;

        /// `~/.gemini/settings.json` and `.cursor/mcp.json`.
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct McpServers {
            pub(super) mcp_servers: BTreeMap<String, Stdio>,
        }

        /// `.vscode/mcp.json`.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Servers {
            pub(super) servers: BTreeMap<String, Stdio>,
        }

        /// A stdio server. The type is absent for clients that have a separate field per transport.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Stdio {
            #[serde(rename = "type")]
            pub(super) kind: Option<String>,
            pub(super) command: String,
            pub(super) args: Vec<String>,
        }

        /// `opencode.json`.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct OpenCode {
            pub(super) mcp: BTreeMap<String, Local>,
        }

        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Local {
            #[serde(rename = "type")]
            pub(super) kind: String,
            pub(super) command: Vec<String>,
            pub(super) enabled: bool,
        }
    }

    const PROGRAM: &str = "/opt/my \"tools\"/stick'pin";

    /// Returns the configuration for a client, without the line that states where it belongs.
    fn printed_config(client: &str) -> String {
        let args = ["--allow-path=/a b".to_owned()];
        let text = config(client, Path::new(PROGRAM), &args, &[]).expect(client);
        text.split_once('\n').expect("where, then what").1.to_owned()
    }

    #[test]
    fn config_file_has_the_documented_fields() {
        let expected = ["mcp", "--allow-path=/a b"];
        for client in ["gemini", "cursor"] {
            let file: documented::McpServers = serde_json::from_str(&printed_config(client)).expect(client);
            let server = &file.mcp_servers["stickpin"];
            assert_eq!((&*server.command, &server.kind), (PROGRAM, &None), "{client}");
            assert_eq!(server.args, expected, "{client}");
        }
        let file: documented::Servers = serde_json::from_str(&printed_config("vscode")).expect("vscode");
        let server = &file.servers["stickpin"];
        assert_eq!((&*server.command, server.kind.as_deref()), (PROGRAM, Some("stdio")));
        assert_eq!(server.args, expected);
        let file: documented::OpenCode = serde_json::from_str(&printed_config("opencode")).expect("opencode");
        let server = &file.mcp["stickpin"];
        assert_eq!((&*server.kind, server.enabled), ("local", true));
        assert_eq!(server.command, [PROGRAM, "mcp", "--allow-path=/a b"]);
    }

    #[test]
    fn claude_code_command_is_valid_shell() {
        let script = format!("claude() {{ printf '%s\\n' \"$@\"; }}\n{}", printed_config("claude-code"));
        let output = std::process::Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        let words = String::from_utf8(output.stdout).expect("text");
        let expected = ["mcp", "add", "stickpin", "--", PROGRAM, "mcp", "--allow-path=/a b"];
        assert_eq!(Vec::from_iter(words.lines()), expected);
    }

    /// A stdio server of `mcp_servers`, with the fields that Codex has for it (`codex mcp list
    /// --json` prints them).
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct OfCodex {
        command: String,
        args: Vec<String>,
        env_vars: Vec<String>,
    }

    #[test]
    fn codex_config_lists_passed_variables() {
        let (program, args) = ("/opt/a \"b\"\\/stickpin", ["--allow-path=/ü \\x".to_owned()]);
        let passed = ["DISPLAY", "XDG_RUNTIME_DIR"].map(str::to_owned);
        let text = config("codex", Path::new(program), &args, &passed).expect("a client");
        let (place, body) = text.split_once('\n').expect("where, then what");
        assert_eq!(place, "in ~/.codex/config.toml:");
        let mut all: toml::Table = body.parse().expect("TOML");
        let server =
            all["mcp_servers"].as_table_mut().expect("a table").remove("stickpin").expect("a server");
        let expected = OfCodex {
            command: program.to_owned(),
            args: vec!["mcp".to_owned(), args[0].clone()],
            env_vars: passed.to_vec(),
        };
        assert_eq!(server.try_into::<OfCodex>().expect("its form"), expected);
    }
}
