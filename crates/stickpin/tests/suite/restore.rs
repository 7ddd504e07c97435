//! Sessions that lost their app: listed, and opened again, through the real binary.

use crate::support::{World, eventually};
use serde_json::Value;

/// Kills the daemon, and waits until it is gone.
fn kill_daemon(world: &World) {
    world.signal("-KILL", world.pid().unwrap());
    eventually("the daemon is gone", || world.pid().is_none());
}

fn listed(world: &World, line: &str) -> Vec<(String, String)> {
    let list = world.run(&crate::support::words(line)).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let sessions = list["output"]["sessions"].as_array().unwrap();
    sessions.iter().map(|session| (text(&session["name"]), text(&session["state"]))).collect()
}

#[test]
fn an_app_is_opened_again_after_kill_9() {
    let world = World::new();
    world.ok("--session shop open sim:shop");
    world.ok("--session shop snapshot -i");
    let before = world.run(&["--session", "shop", "turn", "state", "--json"]).json();
    let reachable = || {
        let list = world.run(&["session", "list", "--json"]).json();
        list["output"]["sessions"][0]["live"]["reachable"].as_bool()
    };
    assert_eq!(reachable(), Some(true));
    kill_daemon(&world);
    assert_eq!(reachable(), Some(false));
    assert_eq!(listed(&world, "session list --json"), [("shop".to_owned(), "restorable".to_owned())]);
    let ran = world.run(&["--session", "shop", "get", "title"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.err.contains("stickpin session restore shop"), "{}", ran.err);
    let restored = world.run(&["session", "restore", "shop", "--json"]).json();
    let output = &restored["output"];
    assert_eq!((&output["action"], &output["lifetime"]), (&"restored".into(), &2.into()), "{restored}");
    assert!(output["lost"].to_string().contains("refs"), "{restored}");
    assert_eq!(world.ok("--session shop get title").trim(), "Nordic Shop");
    let after = world.run(&["--session", "shop", "turn", "state", "--json"]).json();
    assert_eq!(after["output"]["turnId"], before["output"]["turnId"], "restoring grants no turn");
    let again = world.run(&["session", "restore", "shop", "--json"]).json();
    assert_eq!(
        (&again["output"]["action"], &again["output"]["lifetime"]),
        (&"already_live".into(), &2.into())
    );
    world.ok("--session shop close");
    assert_eq!(listed(&world, "session list --json"), []);
    assert_eq!(listed(&world, "session list --all --json"), [("shop".to_owned(), "stopped".to_owned())]);
}

/// F28: a segment of the log is gone, and the metadata is there.
#[test]
fn restore_without_the_log_names_what_is_lost() {
    let world = World::new();
    world.ok("--session shop open sim:shop");
    kill_daemon(&world);
    let log = world.state_dir().join("sessions/shop/log");
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    let list = world.run(&["session", "list", "--json"]).json();
    assert_eq!(list["output"]["sessions"][0]["diagnostics"], serde_json::json!(["LOG_MISSING"]), "{list}");
    let restored = world.run(&["session", "restore", "shop"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(restored.out.contains("the log of the earlier lifetimes"), "{restored:?}");
    assert_eq!(world.ok("--session shop get title").trim(), "Nordic Shop");
    let verified = world.run(&["log", "verify", "shop"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_session_that_never_was_cannot_be_restored() {
    let world = World::new();
    let ran = world.run(&["session", "restore", "nothing"]);
    assert_eq!(ran.code, 6, "{ran:?}");
}

#[cfg(feature = "web")]
mod pages {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use stickpin_testkit::skipped;

    /// Serves a site on which one visit of `/login` is a login. Returns its address.
    fn site() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut head = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut head).is_ok_and(|n| n > 2) {}
                let user = if head.contains("user=ada") { "Ada" } else { "nobody" };
                let answer = match head.split(' ').nth(1) {
                    Some("/login") => "302 Found\r\nLocation: /account\r\n\
                        Set-Cookie: user=ada; Max-Age=86400\r\nContent-Length: 0\r\n\r\n"
                        .to_owned(),
                    _ => {
                        let page = format!("<!doctype html><title>{user}</title><p>Hello {user}</p>");
                        format!(
                            "200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                            page.len()
                        )
                    }
                };
                // A browser that has disconnected needs no answer.
                let _ =
                    write!(stream, "HTTP/1.1 {}", answer.replacen("\r\n", "\r\nConnection: close\r\n", 1));
            }
        });
        address
    }

    #[test]
    fn a_page_is_open_again_with_its_login_after_kill_9() {
        let (world, site) = (World::new(), site());
        // A browser writes a login to its profile within half a minute, or when it closes.
        let login = format!("{site}/login");
        let opened = world.run(&["--session", "shop", "open", &login, "--profile", "kept"]);
        if opened.err.starts_with("TOOL_MISSING") {
            skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
            return;
        }
        assert_eq!(opened.code, 0, "{opened:?}");
        world.ok("--session shop close");
        world.ok(&format!("--session shop open {site} --profile kept"));
        assert_eq!(world.ok("--session shop get title").trim(), "Ada");
        world.ok(&format!("--session shop open {site}/account"));
        kill_daemon(&world);
        // From another folder: the profile is still the earlier one.
        let output = world
            .command(&["session", "restore", "shop", "--json"])
            .current_dir(world.path())
            .output()
            .unwrap();
        let restored = crate::support::Ran::from(output).json();
        assert_eq!(restored["output"]["action"], "restored", "{restored}");
        assert_eq!(world.ok("--session shop get title").trim(), "Ada");
        assert_eq!(world.ok("--session shop get url").trim(), format!("{site}/account"));
        world.ok("--session shop close");
    }

    /// Returns the browser that keeps its profile in the state directory of a world.
    fn browser(world: &World) -> Option<u32> {
        let profile = format!("--user-data-dir={}", world.state_dir().display());
        let processes = std::fs::read_dir("/proc").unwrap();
        let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        // A process may end while this reads.
        let line = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        pids.into_iter().find(|pid| {
            let line = line(pid);
            line.split('\0').any(|word| word.starts_with(&profile)) && !line.contains("--type=")
        })
    }

    /// F40: `kill -9` of the browser while an agent holds the turn.
    #[test]
    fn holder_whose_browser_is_killed_restores_the_session_in_its_turn() {
        let (world, site) = (World::new(), site());
        let ada = |line: &str| {
            let mut command =
                world.command(&[&["--session", "shop"], &crate::support::words(line)[..]].concat());
            command.env("STICKPIN_AGENT_ID", "claude:ada");
            crate::support::Ran::from(command.output().unwrap())
        };
        let opened = ada(&format!("open {site}"));
        if opened.err.starts_with("TOOL_MISSING") {
            skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
            return;
        }
        assert_eq!(opened.code, 0, "{opened:?}");
        let held = ada("turn wait --json").json()["output"].take();
        world.signal("-KILL", browser(&world).expect("a browser"));
        let mut lost = ada("get title");
        eventually("the browser is missed", || {
            lost = ada("get title");
            lost.code == 12
        });
        assert!(lost.err.starts_with("BACKEND_LOST"), "{lost:?}");
        let turn = || {
            let state = ada("turn state --json").json()["output"].take();
            (state["owner"].clone(), state["turnId"].clone(), state["implicit"].clone())
        };
        let mine = ("claude:ada".into(), held["turnId"].clone(), Value::Null);
        assert_eq!(turn(), mine, "the turn stays");
        let restored = ada("session restore shop --json").json();
        assert_eq!(restored["output"]["action"], "restored", "{restored}");
        assert_eq!(turn(), mine, "restoring keeps it");
        assert_eq!(ada("get title").out.trim(), "nobody");
        let again = ada("turn wait --json").json()["output"].take();
        assert_eq!((&again["reason"], &again["leaseId"]), (&"already_owner".into(), &held["leaseId"]));
        ada("close");
    }
}
