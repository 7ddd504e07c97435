//! The daemon through the real binary: how it starts, ends, and is repaired.

use crate::support::{self, Ran, World, eventually, request};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::{Duration, Instant};
use stickpin_testkit::skipped;

/// A command that needs a daemon but no device.
const ASK: &[&str] = &["session", "list"];

#[test]
fn the_first_command_starts_a_daemon_and_the_next_one_finds_it() {
    let world = World::new();
    assert_eq!(world.pid(), None);
    assert_eq!(world.run(ASK).code, 0);
    let pid = world.pid().expect("a daemon");
    assert_eq!(world.run(ASK).code, 0);
    assert_eq!(world.pid(), Some(pid));
    for (path, mode) in
        [("", 0o700), ("daemon", 0o700), ("daemon/sock", 0o600), ("daemon/daemon.json", 0o600)]
    {
        let found = std::fs::metadata(world.state_dir().join(path)).unwrap().mode() & 0o777;
        assert_eq!(found, mode, "{path}: {found:o}");
    }
    let hint: Value =
        serde_json::from_slice(&std::fs::read(world.state_dir().join("daemon/daemon.json")).unwrap())
            .unwrap();
    assert_eq!(hint["pid"], pid);
    assert_eq!((&hint["proto"], &hint["epoch"]), (&json!(1), &json!(1)));
    assert!(hint["processStart"].is_u64() && hint["bootId"].is_string(), "{hint}");
    assert_eq!(hint["socket"].as_str(), world.socket().to_str());
    assert!(hint["startedAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{hint}");
    assert_eq!(std::fs::read_to_string(world.state_dir().join("VERSION")).unwrap(), r#"{"layout":1}"#);
}

#[test]
fn state_dir_of_another_layout_is_refused_before_anyone_connects() {
    let world = World::new();
    world.run(ASK);
    world.ok("daemon stop");
    std::fs::write(world.state_dir().join("VERSION"), r#"{"layout":2}"#).unwrap();
    let ran = world.run(ASK);
    assert!(ran.code == 9 && ran.err.contains("names layout 2"), "{ran:?}");
    assert!(!world.socket().exists(), "it listened");
    let epoch = std::fs::read_to_string(world.state_dir().join("daemon/epoch")).unwrap();
    assert_eq!(epoch, "1", "a start that was refused is not counted");
}

/// F19: a process holds the lock but does not listen.
#[test]
fn socket_is_left_alone_while_another_daemon_holds_the_lock() {
    let world = World::new();
    world.run(ASK);
    world.ok("daemon stop");
    let lock = std::fs::File::options().write(true).open(world.state_dir().join("daemon/lock")).unwrap();
    // The daemon answers before it has ended.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    drop(UnixListener::bind(world.socket()).unwrap());
    let inode = || std::fs::symlink_metadata(world.socket()).unwrap().ino();
    let before = inode();
    let ran = world.run(ASK);
    assert!(ran.code == 8 && ran.err.starts_with("DAEMON_STARTING: "), "{ran:?}");
    assert_eq!(inode(), before, "the socket was replaced");
    drop(lock);
    assert_eq!(world.run(ASK).code, 0);
}

/// `cargo xtask test` sets a binary that was built with the panic strategy of the release profile.
#[test]
fn panic_in_one_device_ends_one_session() {
    let program = std::env::var_os("STICKPIN_DIST_CHECK");
    let world = World::with(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_stickpin").into()));
    world.ok("open sim:shop -i --session kept");
    world.ok("open sim:shop?fault=panic -i --session faulty");
    let pid = world.pid().expect("a daemon");
    let ran = world.run(&["press", "text=\"Cart (0)\"", "--session", "faulty"]);
    assert!(ran.code == 70 && ran.err.contains("INTERNAL"), "{ran:?}");
    let ran = world.run(&["snapshot", "--session", "faulty"]);
    assert!(ran.code == 12 && ran.err.contains("BACKEND_LOST"), "{ran:?}");
    assert!(world.ok("press @e5 --session kept").contains("pressed"));
    world.ok("open sim:shop --session faulty");
    assert_eq!(world.pid(), Some(pid), "the daemon in which the device panicked still serves");
}

#[test]
fn clients_at_once_start_one_daemon() {
    let world = World::new();
    let started: Vec<_> = (0..8)
        .map(|_| world.command(&["daemon", "start", "--json"]).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let pids: Vec<Value> = started
        .into_iter()
        .map(|child| {
            let ran = support::Ran::from(child.wait_with_output().unwrap());
            assert_eq!(ran.code, 0, "{ran:?}");
            ran.json()["output"]["pid"].clone()
        })
        .collect();
    assert!(pids.iter().all(|pid| pid.is_u64() && *pid == pids[0]), "{pids:?}");
}

#[test]
fn after_kill_9_the_next_command_starts_another_and_clears_up() {
    let world = World::new();
    world.run(ASK);
    let pid = world.pid().unwrap();
    let left = world.state_dir().join("live/old/profile");
    std::fs::create_dir_all(&left).unwrap();
    world.signal("-KILL", pid);
    eventually("the process is gone", || world.pid().is_none());
    assert!(world.socket().exists(), "a killed daemon leaves its socket, which is the point of this test");
    assert_eq!(world.run(ASK).code, 0);
    assert_ne!(world.pid(), Some(pid));
    eventually("its folders are gone", || !left.exists());
}

#[test]
fn a_folder_that_takes_long_to_remove_keeps_nobody_waiting() {
    let world = World::new();
    let place = world.state_dir().join("live/old/run/doc");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::set_permissions(world.state_dir(), PermissionsExt::from_mode(0o700)).unwrap();
    if !support::may_mount() {
        skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return;
    }
    // Unmounting the remaining file system blocks until the test releases it.
    let (bin, asked, go) = (world.path().join("bin"), world.path().join("asked"), world.path().join("go"));
    std::fs::create_dir(&bin).unwrap();
    let fusermount = bin.join("fusermount3");
    let script = format!(
        "#!/bin/sh\n: > '{}'\nuntil [ -e '{}' ] || [ ! -e \"$0\" ]; do sleep 0.02; done\nexec umount \"$4\"\n",
        asked.display(),
        go.display()
    );
    std::fs::write(&fusermount, script).unwrap();
    std::fs::set_permissions(&fusermount, PermissionsExt::from_mode(0o700)).unwrap();
    // This client sees a mount at the path, and so does the daemon that it starts.
    let first = world.command(ASK);
    let script = "mount -t tmpfs tmpfs \"$1\" && : > \"$1/file\" && shift && exec \"$@\"";
    let mut command = support::unshared(&["sh", "-c", script, "sh"]);
    command.arg(&place).arg(first.get_program()).args(first.get_args());
    command.current_dir(first.get_current_dir().unwrap()).env_clear();
    command.envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(bin).chain(std::env::split_paths(&path));
    let ran = command.env("PATH", std::env::join_paths(path).unwrap()).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    eventually("it is being removed", || asked.exists());
    assert_eq!(world.run(ASK).code, 0);
    assert!(place.exists(), "the command was answered before anything was removed");
    std::fs::write(&go, "").unwrap();
    eventually("it is removed", || !world.state_dir().join("live/old").exists());
}

#[test]
fn a_socket_without_a_daemon_is_replaced() {
    let world = World::new();
    world.run(ASK);
    world.ok("daemon stop");
    drop(UnixListener::bind(world.socket()).unwrap());
    assert_eq!(world.run(ASK).code, 0);
}

#[test]
fn a_terminated_daemon_leaves_nothing_but_its_log() {
    let world = World::new();
    world.run(ASK);
    world.signal("-TERM", world.pid().unwrap());
    let daemon = world.state_dir().join("daemon");
    eventually("its hint is gone", || !daemon.join("daemon.json").exists());
    assert!(!world.socket().exists());
    assert!(daemon.join("daemon.log").exists());
}

#[test]
fn a_daemon_without_sessions_ends_by_itself() {
    let world = World::new();
    let mut daemon =
        world.command(&["daemon", "run", "--idle-exit", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("ready"), "{line}");
    assert_eq!(world.run(ASK).code, 0);
    assert!(daemon.wait().unwrap().success());
    assert!(!world.socket().exists());
}

#[test]
fn a_starter_that_finds_a_daemon_says_so_and_goes() {
    let world = World::new();
    world.run(ASK);
    let ran = world.run(&["daemon", "run"]);
    assert_eq!((ran.code, ran.json()), (0, json!({"ready": {"pid": null}})));
}

#[test]
fn stop_and_start_say_what_they_did() {
    let world = World::new();
    assert!(world.ok("daemon stop").starts_with("no daemon is running"));
    assert!(world.ok("daemon start").starts_with("the daemon is running as process"));
    let pid = world.pid().unwrap();
    assert_eq!(world.ok("daemon stop").trim(), format!("stopped process {pid}"));
    assert!(!world.state_dir().join("daemon/daemon.json").exists(), "a file changes after the stop");
    assert!(world.ok("daemon status").starts_with("no daemon is running"));
}

#[test]
fn a_newer_client_replaces_an_idle_daemon() {
    let world = World::new();
    world.run(ASK);
    let pid = world.pid();
    let welcome = world.raw().hello(1, "999.0.0");
    assert_eq!(welcome["verdict"], "replace");
    assert_eq!(world.run(ASK).code, 0);
    assert_ne!(world.pid(), pid);
}

#[test]
fn older_protocol_client_may_only_ask_status_and_stop() {
    let world = World::new();
    world.run(ASK);
    let mut raw = world.raw();
    assert_eq!(raw.hello(0, "0.0.1")["verdict"], "refuse");
    let refused = raw.ask("call", request("session list", json!({})));
    assert_eq!(refused["error"]["data"]["code"], "PROTOCOL_MISMATCH", "{refused}");
    assert_eq!(raw.ask("status", Value::Null)["result"]["sessions"], json!([]));
    assert!(raw.ask("stop", Value::Null)["result"]["pid"].is_u64());
    assert_eq!(raw.answer(), Value::Null, "the connection ends with the daemon");
}

#[test]
fn call_sent_with_hello_runs_only_on_the_intended_daemon() {
    let world = World::new();
    world.run(ASK);
    let ours = std::fs::canonicalize(world.state_dir()).unwrap();
    for (meant, verdict, sessions) in [("/elsewhere".as_ref(), "refuse", 0), (ours.as_path(), "serve", 1)] {
        let mut raw = world.raw();
        let hello =
            json!({"protocol": 1, "version": env!("CARGO_PKG_VERSION"), "stateDir": meant.to_str().unwrap()});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": hello});
        let open = request("open", json!({"what": "sim:shop"}));
        let open = json!({"jsonrpc": "2.0", "id": 2, "method": "call", "params": open});
        raw.write(format!("{hello}\n{open}\n").as_bytes());
        assert_eq!(raw.answer()["result"]["verdict"], verdict, "{}", meant.display());
        let opened = raw.answer();
        assert_eq!(opened["result"]["ok"] == true, sessions == 1, "{opened}");
        let status = raw.ask("status", Value::Null);
        assert_eq!(status["result"]["sessions"].as_array().map(Vec::len), Some(sessions), "{status}");
    }
}

#[test]
fn a_busy_daemon_of_another_protocol_is_left_alone() {
    let world = World::new();
    let daemon = world.state_dir().join("daemon");
    std::fs::create_dir_all(&daemon).unwrap();
    for dir in [world.state_dir(), daemon] {
        std::fs::set_permissions(dir, PermissionsExt::from_mode(0o700)).unwrap();
    }
    let listener = UnixListener::bind(world.socket()).unwrap();
    let state_dir = std::fs::canonicalize(world.state_dir()).unwrap();
    // A daemon of an older version, as a client sees it.
    let old = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut raw = support::Raw { reader: BufReader::new(stream) };
        let hello = raw.answer();
        let welcome =
            json!({"protocol": 0, "version": "0.0.1", "pid": 7, "stateDir": state_dir, "verdict": "refuse"});
        raw.send(&json!({"jsonrpc": "2.0", "id": hello["id"], "result": welcome}));
        // The command was sent together with `hello`, and is refused with it.
        assert_eq!(raw.answer()["method"], "call");
        assert_eq!(raw.answer(), Value::Null, "nothing more was sent to the old daemon");
    });
    let ran = world.run(ASK);
    assert_eq!(ran.code, 8);
    assert!(ran.err.starts_with("PROTOCOL_MISMATCH: "), "{}", ran.err);
    assert!(ran.err.contains("process 7") && ran.err.contains("daemon stop --force"), "{}", ran.err);
    old.join().unwrap();
}

#[test]
fn frames_that_are_none_are_answered_and_the_connection_goes_on() {
    let world = World::new();
    world.run(ASK);
    let mut raw = world.raw();
    for (sent, code) in [
        ("{nope", -32700),
        ("\u{0}\u{1}", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"dance"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"call"}"#, -32000),
    ] {
        raw.write(format!("{sent}\n").as_bytes());
        let answer = raw.answer();
        assert_eq!(answer["error"]["code"], code, "{sent}: {answer}");
    }
    raw.write(b"\xff\xfe\n");
    assert_eq!(raw.answer()["error"]["code"], -32700);
    let mut raw = raw.welcome();
    assert_eq!(raw.ask("call", json!({"command": 7}))["error"]["code"], -32602);
    assert_eq!(raw.ask("call", request("session list", json!({})))["result"]["ok"], true);
}

#[test]
fn a_frame_without_end_is_refused_and_the_next_one_is_read() {
    let world = World::new();
    world.run(ASK);
    let mut raw = world.raw().welcome();
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        raw.write(&megabyte);
    }
    assert_eq!(raw.answer()["error"]["code"], -32600);
    raw.write(b"\n");
    assert_eq!(raw.ask("call", request("session list", json!({})))["result"]["ok"], true);
}

#[test]
fn refused_frames_take_no_room_from_long_messages() {
    let world = World::new();
    world.run(ASK);
    let megabyte = vec![b'x'; 1 << 20];
    let refused = || {
        let mut raw = world.raw().welcome();
        for _ in 0..65 {
            raw.write(&megabyte);
        }
        assert_eq!(raw.answer()["error"]["code"], -32600);
        raw
    };
    // The connections stay open, and their lines never end.
    let idle = [refused(), refused()];
    let text = "y".repeat(2 << 20);
    let mut raw = world.raw().welcome();
    let answer = raw.ask("call", request("fill", json!({"target": "@e1", "text": text})));
    assert_eq!(answer["result"]["error"]["code"], "SESSION_NOT_FOUND", "{answer}");
    drop(idle);
}

#[test]
fn ten_megabytes_of_text_are_read_and_answered_with_few() {
    let world = World::new();
    world.run(ASK);
    let mut raw = world.raw().welcome();
    let answer = raw.ask("call", request("open", json!({"what": "\u{1}".repeat(10 << 20)})));
    assert_eq!(answer["result"]["error"]["code"], "INVALID_ARGS");
    assert!(answer.to_string().len() < 4096);
}

#[test]
fn a_client_that_goes_in_the_middle_is_survived() {
    let world = World::new();
    world.run(ASK);
    let pid = world.pid();
    world.raw().write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth");
    let mut raw = world.raw().welcome();
    raw.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "call", "params": request("session list", json!({}))}),
    );
    drop(raw);
    assert_eq!(world.run(ASK).code, 0);
    assert_eq!(world.pid(), pid);
}

#[test]
fn a_state_dir_that_is_not_safe_is_refused_by_name() {
    let world = World::new();
    let dir = world.state_dir();
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("mine"), "").unwrap();
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o755)).unwrap();
    let ran = world.run(ASK);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(
        ran.err.starts_with("IDENTITY_DENIED: ") && ran.err.contains(dir.to_str().unwrap()),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("chmod 700"), "{}", ran.err);

    if std::fs::metadata(&dir).unwrap().uid() == 0 {
        std::os::unix::fs::chown(&dir, Some(65534), None).unwrap();
        let ran = world.run(ASK);
        assert_eq!(ran.code, 7, "{ran:?}");
        assert!(ran.err.contains("belongs to another user (uid 65534)"), "{}", ran.err);
        std::os::unix::fs::chown(&dir, Some(0), None).unwrap();
    } else {
        skipped("STICKPIN_REQUIRE_MOUNTS", "only root can give a folder to another user");
    }
    // So that `drop` can remove the folder.
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_state_dir_that_cannot_be_written_is_named() {
    let world = World::new();
    // No user may create a folder there, not even root.
    let ran = world.run(&["session", "list", "--state-dir", "/proc/stickpin"]);
    assert_eq!(ran.code, 9, "{ran:?}");
    assert!(ran.err.starts_with("IO: could not create the folder `/proc/stickpin`"), "{}", ran.err);
}

#[test]
fn a_full_disk_under_the_state_dir_has_its_own_code() {
    let world = World::new();
    world.run(ASK);
    world.ok("daemon stop");
    // A device that is always full replaces the disk.
    std::os::unix::fs::symlink("/dev/full", world.state_dir().join("daemon/daemon.new")).unwrap();
    let ran = world.run(ASK);
    assert_eq!(ran.code, 9, "{ran:?}");
    assert!(ran.err.starts_with("STORAGE_FULL: "), "{}", ran.err);
    assert!(!world.state_dir().join("daemon/daemon.new").is_symlink(), "the unwritten file is left");
    assert_eq!(world.run(ASK).code, 0);
}

#[test]
fn a_state_dir_with_a_long_path_works() {
    let world = World::new();
    let long = world.path().join("x".repeat(150));
    let state_dir = ["--state-dir", long.to_str().unwrap()];
    assert_eq!(world.run(&[ASK, &state_dir].concat()).code, 0);
    let status = world.run(&[&["daemon", "status", "--json"], &state_dir[..]].concat()).json();
    let socket = status["output"]["socket"].as_str().unwrap();
    assert!(socket.starts_with("/tmp/stickpin-"), "{socket}");
    assert_eq!(world.run(&[&["daemon", "stop"], &state_dir[..]].concat()).code, 0);
    assert!(!std::path::Path::new(socket).exists());
}

/// Returns the memory that a process has now, in bytes.
fn resident(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

#[test]
fn a_client_that_never_reads_is_not_read_for_ever() {
    let world = World::new();
    world.ok("open sim:feed");
    let pid = world.pid().expect("a daemon");
    let mut raw = world.raw().welcome();
    raw.reader.get_mut().set_write_timeout(Some(Duration::from_secs(3))).expect("a socket");
    let mut call = request("snapshot", json!({"all": true}));
    call["session"] = world.session().into();
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "call", "params": call}).to_string() + "\n";
    // Far more than a socket buffer holds.
    let most = 100_000;
    let sent = (0..most).take_while(|_| raw.reader.get_mut().write_all(call.as_bytes()).is_ok()).count();
    assert!(sent < most, "the daemon reads on although no answer is read");
    assert!(resident(pid) < 150 << 20, "the daemon has {} bytes", resident(pid));
    // Other clients are served meanwhile.
    world.ok("snapshot -i");
}

#[test]
fn messages_that_are_never_whole_are_bounded_together() {
    let world = World::new();
    world.ok("session list");
    let pid = world.pid().expect("a daemon");
    let part = vec![b'x'; 60 << 20];
    let mut held = Vec::new();
    let mut refused = 0;
    for _ in 0..5 {
        let mut raw = world.raw().welcome();
        match raw.reader.get_mut().write_all(&part) {
            Ok(()) => held.push(raw),
            Err(_) => refused += 1,
        }
    }
    assert!(refused >= 2, "{} were accepted", held.len());
    assert!(resident(pid) < 400 << 20, "the daemon has {} bytes", resident(pid));
    world.ok("session list");
    // New connections are accepted once these have closed.
    drop(held);
    let text = "y".repeat(2 << 20);
    eventually("a long message is read", || {
        let mut raw = world.raw().welcome();
        let answer = raw.ask("call", request("fill", json!({"target": "@e1", "text": text})));
        answer["result"]["error"]["code"] == "SESSION_NOT_FOUND"
    });
}

#[test]
fn a_client_that_closes_its_side_gets_its_answers() {
    let world = World::new();
    world.ok("open sim:signin");
    let mut raw = world.raw().welcome();
    let mut call = request("wait ms", json!({"ms": 300}));
    call["session"] = world.session().into();
    raw.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "call", "params": call}));
    raw.reader.get_ref().shutdown(std::net::Shutdown::Write).expect("open");
    let answer = raw.answer();
    assert_eq!(answer["result"]["ok"], true, "{answer}");
    assert!(raw.answer().is_null(), "then the connection ends");
}

#[test]
fn a_bound_session_ends_with_its_connection() {
    let world = World::new();
    world.ok("session list");
    let mut raw = world.raw().welcome();
    raw.send(&json!({"jsonrpc": "2.0", "method": "bind", "params": {"session": "test"}}));
    let opened = raw.ask("call", request("open", json!({"what": "sim:shop"})));
    assert_eq!(opened["result"]["ok"], true, "{opened}");
    world.ok("open sim:shop --session other");
    drop(raw);
    eventually("it is closed", || !world.ok("session list").contains("test"));
    assert!(world.ok("session list").contains("other"));
}

#[test]
fn a_run_of_tests_that_is_killed_takes_its_sessions_along() {
    let world = World::new();
    let script = "open sim:signin\nwait text Never --timeout 60000\n";
    std::fs::write(world.path().join("shop/never.ad"), script).expect("a file");
    let mut run = world.command(&["test", "never.ad"]).spawn().expect("it starts");
    eventually("its session is open", || world.ok("session list").contains("sim:signin"));
    run.kill().expect("it runs");
    run.wait().expect("it ended");
    eventually("its session is closed", || !world.ok("session list").contains("sim:signin"));
}

#[test]
fn a_daemon_that_hangs_in_a_call_is_not_waited_for() {
    let world = World::new();
    world.ok("session list");
    world.ok("daemon stop");
    // A daemon that answers `hello`, reads, and never answers a call.
    let _ = std::fs::remove_file(world.socket());
    let listener = UnixListener::bind(world.socket()).expect("a socket");
    let state_dir = world.state_dir().canonicalize().expect("it is there");
    let hangs = std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().take(2).flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            reader.read_line(&mut line).expect("hello");
            let hello: Value = serde_json::from_str(&line).expect("JSON");
            let version = &hello["params"]["version"];
            let welcome = json!({"protocol": 1, "version": version, "pid": 4_194_303, "stateDir": state_dir, "verdict": "serve"});
            let answer = json!({"jsonrpc": "2.0", "id": hello["id"], "result": welcome});
            writeln!(reader.get_mut(), "{answer}").expect("open");
            held.push(reader);
        }
        held
    });
    let began = Instant::now();
    let mut listing = world.command(&["session", "list", "--timeout", "200"]);
    let listing = listing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // The other client type, which many calls share, at the same time: each gives up after seconds.
    let line = json!({"name": "stickpin", "arguments": {"line": "session list --timeout 200"}});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": line}),
    ];
    let mut server =
        world.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = server.stdin.take().expect("a pipe");
    for message in messages {
        writeln!(stdin, "{message}").expect("it reads");
    }
    let mut out = BufReader::new(server.stdout.take().expect("a pipe"));
    let mut answer = String::new();
    while !answer.contains("\"id\":2") {
        answer.clear();
        assert_ne!(out.read_line(&mut answer).expect("it answers"), 0, "it ended");
    }
    assert!(answer.contains("DAEMON_UNREACHABLE") && answer.contains("dispatched: unknown"), "{answer}");
    server.kill().expect("it runs");
    server.wait().expect("it ended");
    let ran = Ran::from(listing.wait_with_output().expect("it ended"));
    assert!(ran.err.contains("DAEMON_UNREACHABLE") && ran.err.contains("process 4194303"), "{ran:?}");
    assert!(ran.err.contains("kill -9"), "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    drop(hangs.join());
    std::fs::remove_file(world.socket()).expect("it was ours");
}
