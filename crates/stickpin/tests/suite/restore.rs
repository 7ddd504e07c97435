//! Sessions that lost their app: listed, and opened again, through the real binary.

use crate::support::{Ran, World, eventually, kill_daemon, reboot, words};
use serde_json::{Value, json};
use stickpin_testkit::skipped;

fn listed(world: &World, line: &str) -> Vec<(String, String)> {
    let list = world.run(&words(line)).json();
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

/// F28: a segment of the log is gone, but the metadata remains.
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

/// Runs a command of an agent, which must succeed, and returns its output.
#[track_caller]
fn ok(world: &World, agent: &str, line: &str) -> Value {
    let mut command = world.command(&[&words(line)[..], &["--json"]].concat());
    let ran = Ran::from(command.env("STICKPIN_AGENT_ID", agent).output().unwrap());
    assert_eq!(ran.code, 0, "{agent} {line}: {ran:?}");
    ran.json()["output"].take()
}

/// F18: turns end when the machine restarts, a handoff that nobody took stays, and sessions are
/// restored.
#[test]
fn sessions_are_restored_after_a_reboot_and_turns_are_not() {
    let (ada, bob) = ("claude:ada", "codex:bob");
    let world = World::new();
    ok(&world, ada, "--session shop open sim:shop");
    ok(&world, ada, "--session shop turn wait");
    ok(&world, ada, "--session mail open sim:feed");
    ok(&world, bob, "--session mail turn join");
    ok(&world, ada, "--session mail turn assign codex:bob --status sorted --next-action answer");
    if !reboot(&world) {
        return;
    }
    let restorable = |name: &str| (name.to_owned(), "restorable".to_owned());
    assert_eq!(listed(&world, "session list --all --json"), [restorable("mail"), restorable("shop")]);
    let turn = |session: &str| ok(&world, ada, &format!("--session {session} turn state"));
    let shop = turn("shop");
    assert_eq!((&shop["state"], &shop["owner"]), (&json!("idle"), &Value::Null), "{shop}");
    let ended = ok(&world, ada, "--session shop events --after 0 --event turn_surrendered");
    assert_eq!(ended["events"][0]["reason"], "reboot", "{ended}");
    for session in ["shop", "mail"] {
        let restored = ok(&world, ada, &format!("session restore {session}"));
        assert_eq!(
            (&restored["action"], &restored["lifetime"]),
            (&json!("restored"), &json!(2)),
            "{restored}"
        );
    }
    assert_eq!(turn("shop")["owner"], Value::Null, "restoring grants no turn");
    let granted = ok(&world, bob, "--session mail turn wait");
    assert_eq!(granted["handoff"]["status"], "sorted", "{granted}");
    ok(&world, ada, "--session shop press 'role=link label=Orders'");
    for session in ["shop", "mail"] {
        assert_eq!(ok(&world, ada, &format!("log verify {session}"))["findings"], json!([]));
    }
}

#[cfg(feature = "web")]
mod pages {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

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

    /// Opens a page of a site with a profile that is logged in. Without a browser, prints the
    /// reason and returns false.
    fn log_in(world: &World, site: &str) -> bool {
        // A browser writes a login to its profile within half a minute, or when it closes.
        let login = format!("{site}/login");
        let opened = world.run(&["--session", "shop", "open", &login, "--profile", "kept"]);
        if opened.err.starts_with("TOOL_MISSING") {
            skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
            return false;
        }
        assert_eq!(opened.code, 0, "{opened:?}");
        world.ok("--session shop close");
        world.ok(&format!("--session shop open {site} --profile kept"));
        assert_eq!(world.ok("--session shop get title").trim(), "Ada");
        world.ok(&format!("--session shop open {site}/account"));
        true
    }

    #[test]
    fn page_is_open_again_with_its_login_after_a_reboot() {
        let (world, site) = (World::new(), site());
        if !log_in(&world, &site) {
            return;
        }
        let browser = browser(&world, "shop/kept").expect("a browser");
        if !reboot(&world) {
            return;
        }
        // A real restart of the machine leaves no browser behind, but the simulated one does.
        world.signal("-KILL", browser);
        assert_eq!(listed(&world, "session list --json"), [("shop".to_owned(), "restorable".to_owned())]);
        let restored = world.run(&["session", "restore", "shop", "--json"]).json();
        assert_eq!(restored["output"]["action"], "restored", "{restored}");
        assert_eq!(world.ok("--session shop get title").trim(), "Ada");
        assert_eq!(world.ok("--session shop get url").trim(), format!("{site}/account"));
        world.ok("--session shop close");
    }

    #[test]
    fn a_page_is_open_again_with_its_login_after_kill_9() {
        let (world, site) = (World::new(), site());
        if !log_in(&world, &site) {
            return;
        }
        kill_daemon(&world);
        // The command runs in another folder, but the profile is still the same.
        let output = world
            .command(&["session", "restore", "shop", "--json"])
            .current_dir(world.path())
            .output()
            .unwrap();
        let restored = Ran::from(output).json();
        assert_eq!(restored["output"]["action"], "restored", "{restored}");
        assert_eq!(world.ok("--session shop get title").trim(), "Ada");
        assert_eq!(world.ok("--session shop get url").trim(), format!("{site}/account"));
        world.ok("--session shop close");
    }

    /// Returns the browser that keeps its profile in a folder of a world.
    fn browser(world: &World, folder: &str) -> Option<u32> {
        let profile = format!("--user-data-dir={}", world.path().join(folder).display());
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
            let mut command = world.command(&[&["--session", "shop"], &words(line)[..]].concat());
            command.env("STICKPIN_AGENT_ID", "claude:ada");
            Ran::from(command.output().unwrap())
        };
        let opened = ada(&format!("open {site}"));
        if opened.err.starts_with("TOOL_MISSING") {
            skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
            return;
        }
        assert_eq!(opened.code, 0, "{opened:?}");
        let held = ada("turn wait --json").json()["output"].take();
        world.signal("-KILL", browser(&world, "state").expect("a browser"));
        let mut lost = ada("get title");
        eventually("the loss of the browser is noticed", || {
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
        assert_eq!(turn(), mine, "restoring keeps the turn");
        assert_eq!(ada("get title").out.trim(), "nobody");
        let again = ada("turn wait --json").json()["output"].take();
        assert_eq!((&again["reason"], &again["leaseId"]), (&"already_owner".into(), &held["leaseId"]));
        ada("close");
    }
}
