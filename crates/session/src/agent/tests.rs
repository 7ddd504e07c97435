//! Agents of the supported harnesses, through a shell command and through MCP.

use super::*;
use crate::timestamp::Timestamp;
use std::collections::BTreeMap;

const MINUTE: u64 = 60_000;

/// A harness with its processes, as the host's operating system reports them.
struct Stage {
    directory: Directory,
    place: Place,
    minutes: u64,
}

fn process(pid: u32, args: &[&str]) -> Process {
    Process { pid, start: u64::from(pid) * 10, args: args.iter().map(|arg| (*arg).into()).collect() }
}

fn shell_under(root: &[Process]) -> Vec<Process> {
    let mut chain = vec![process(900, &["stickpin", "snapshot"]), process(899, &["/bin/bash", "-c", "x"])];
    chain.extend_from_slice(root);
    chain.push(process(50, &["/usr/bin/zsh"]));
    chain.push(process(1, &["/sbin/init"]));
    chain
}

fn server_under(root: &[Process]) -> Vec<Process> {
    let mut chain = vec![process(700, &["stickpin", "mcp"])];
    chain.extend_from_slice(root);
    chain.push(process(50, &["/usr/bin/zsh"]));
    chain
}

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()
}

impl Stage {
    fn new() -> Self {
        let place = Place { host_id: "host".into(), boot_id: "boot".into(), uid: 1000, user: "ana".into() };
        Self { directory: Directory::default(), place, minutes: 0 }
    }

    fn resolve(&mut self, evidence: &Evidence, ancestry: &[Process]) -> Resolution {
        self.minutes += 1;
        let now = Timestamp::from_millis(self.minutes * MINUTE);
        self.directory.resolve(evidence, ancestry, &self.place, now).unwrap()
    }

    /// Replaces the directory with what a restarted host reads from disk.
    fn restart(&mut self) {
        let stored = serde_json::to_string(&self.directory).unwrap();
        self.directory = serde_json::from_str(&stored).unwrap();
    }

    fn shell(&mut self, vars: &[(&str, &str)], root: &[Process]) -> Resolution {
        self.resolve(&Evidence { env: env(vars), ..Evidence::default() }, &shell_under(root))
    }

    fn mcp(&mut self, vars: &[(&str, &str)], metadata: &[(&str, &str)], root: &[Process]) -> Resolution {
        let evidence = Evidence {
            env: env(vars),
            env_age: EnvAge::Spawn,
            metadata: env(metadata),
            connection: Some("c1".into()),
            console: None,
        };
        self.resolve(&evidence, &server_under(root))
    }
}

fn claude() -> Vec<Process> {
    vec![process(100, &["claude"])]
}

fn codex() -> Vec<Process> {
    vec![process(200, &["/opt/codex/bin/codex"])]
}

const TERMINAL: (&str, &str) = ("TMUX_PANE", "%7");

#[test]
fn shell_and_mcp_of_each_harness_are_one_agent() {
    let node_gemini = [process(300, &["/usr/bin/node", "--no-warnings", "/usr/lib/gemini.js"])];
    let opencode = [process(400, &["opencode"])];
    type Vars<'a> = &'a [(&'a str, &'a str)];
    let rows: [(&str, Vec<Process>, Vars<'_>, Vars<'_>, Vars<'_>); 4] = [
        // Bash and the server see the session.
        (
            "claude",
            claude(),
            &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1"), TERMINAL],
            &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")],
            &[],
        ),
        // The server gets a short list of variables without the thread.
        ("codex", codex(), &[("CODEX_THREAD_ID", "t1"), TERMINAL], &[], &[]),
        // No session id exists, and the server's environment is stripped.
        ("gemini", node_gemini.to_vec(), &[("GEMINI_CLI", "1"), TERMINAL], &[], &[]),
        // The server gets the session only with each request.
        (
            "opencode",
            opencode.to_vec(),
            &[("OPENCODE", "1"), ("OPENCODE_SESSION_ID", "o1")],
            &[("OPENCODE", "1")],
            &[("sessionID", "o1")],
        ),
    ];
    for (family, root, shell, spawn, metadata) in rows {
        let mut stage = Stage::new();
        let by_shell = stage.shell(shell, &root);
        let by_mcp = stage.mcp(spawn, metadata, &root);
        assert_eq!(by_shell.agent_id, by_mcp.agent_id, "{family}");
        assert!(by_shell.agent_id.as_str().starts_with(family), "{family}: {}", by_shell.agent_id);
        // The same holds in the other order: the id comes from what is known first, and stays.
        let mut stage = Stage::new();
        let by_mcp = stage.mcp(spawn, metadata, &root);
        let by_shell = stage.shell(shell, &root);
        let again = stage.mcp(spawn, metadata, &root);
        if family != "opencode" {
            assert_eq!(by_mcp.agent_id, by_shell.agent_id, "{family}");
        }
        assert_eq!(by_shell.agent_id, again.agent_id, "{family}");
    }
}

#[test]
fn fifty_commands_through_different_shells_are_one_agent() {
    let mut stage = Stage::new();
    let first = stage.shell(&[("CLAUDECODE", "1"), TERMINAL], &claude());
    for n in 0..50 {
        let mut chain = vec![process(1_000 + n, &["stickpin"]), process(2_000 + n, &["dash"])];
        chain.extend(claude());
        let pane = n.to_string();
        let evidence = Evidence { env: env(&[("TMUX_PANE", &pane)]), ..Evidence::default() };
        assert_eq!(stage.resolve(&evidence, &chain).agent_id, first.agent_id);
    }
    assert_eq!(stage.directory.agents().len(), 1);
}

#[test]
fn nested_harness_is_the_nearest_one() {
    let mut stage = Stage::new();
    let nested = [codex(), claude()].concat();
    let vars = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")];
    let inner = stage.shell(&vars, &nested);
    assert_eq!(inner.harness, "codex");
    assert!(inner.provisional, "the outer harness's session is not the inner harness's");
    assert_ne!(inner.agent_id, stage.shell(&vars, &claude()).agent_id);
}

#[test]
fn root_is_the_topmost_process_of_the_family() {
    let twice = [process(101, &["node", "/x/claude.js"]), process(100, &["claude"])];
    let chain = shell_under(&twice);
    assert_eq!(harness_root(&chain).unwrap().process.pid, 100);
    let crossed = [process(101, &["claude"]), process(200, &["codex"]), process(100, &["claude"])];
    let chain = shell_under(&crossed);
    assert_eq!(harness_root(&chain).unwrap().process.pid, 101);
    let deep: Vec<Process> = (0..25).map(|n| process(500 + n, &["bash"])).chain(claude()).collect();
    assert_eq!(harness_root(&deep), None);
}

#[test]
fn session_that_becomes_known_keeps_the_id() {
    let mut stage = Stage::new();
    let early = stage.mcp(&[], &[], &codex());
    assert!(early.provisional);
    let later = stage.shell(&[("CODEX_THREAD_ID", "t1")], &codex());
    assert_eq!((later.agent_id, later.provisional), (early.agent_id, false));
}

#[test]
fn server_that_asks_a_restarted_host_first_is_the_same_agent() {
    let thread = [("CODEX_THREAD_ID", "t1")];
    let mut stage = Stage::new();
    let by_shell = stage.shell(&thread, &codex());
    stage.restart();
    assert_eq!(stage.mcp(&[], &[], &codex()).agent_id, by_shell.agent_id);
    assert_eq!(stage.shell(&thread, &codex()).agent_id, by_shell.agent_id);

    // The session that the server saw at its start is still older than the one that the shell
    // reported before the restart.
    let vars = |id| [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", id)];
    let old = stage.mcp(&vars("s1"), &[], &claude());
    let new = stage.shell(&vars("s2"), &claude());
    stage.restart();
    let by_mcp = stage.mcp(&vars("s1"), &[], &claude());
    assert_eq!(by_mcp.agent_id, new.agent_id);
    assert_ne!(by_mcp.agent_id, old.agent_id);

    // Two threads of one server are still two agents.
    let server = [process(500, &["codex", "app-server"])];
    let one = stage.mcp(&[], &[("threadId", "t2")], &server);
    let two = stage.mcp(&[], &[("threadId", "t3")], &server);
    stage.restart();
    assert_eq!(stage.mcp(&[], &[], &server).ambiguous, [two.agent_id, one.agent_id]);
}

#[test]
fn lost_directory_gives_an_agent_the_id_of_its_session_again() {
    let thread = [("CODEX_THREAD_ID", "t1")];
    let mut stage = Stage::new();
    let before = stage.shell(&thread, &codex());
    stage.directory = Directory::default();
    assert_eq!(stage.shell(&thread, &codex()).agent_id, before.agent_id);
    assert_eq!(stage.mcp(&[], &[], &codex()).agent_id, before.agent_id);
}

#[test]
fn requests_are_stored_when_they_tell_something_new_or_every_ten_minutes() {
    let thread = [("CODEX_THREAD_ID", "t1")];
    let mut stage = Stage::new();
    stage.shell(&thread, &codex());
    let first = stage.directory.revision();
    for _ in 0..9 {
        stage.shell(&thread, &codex());
    }
    assert_eq!(stage.directory.revision(), first);
    stage.mcp(&[], &[], &codex());
    assert_eq!(stage.directory.revision(), first + 1);
    stage.restart();
    let stored = stage.directory.agents()[0].last_seen_at;
    assert_eq!(stored, Timestamp::from_millis(11 * MINUTE));

    // Two threads of a server that alternate do not count as a change each time.
    let server = [process(500, &["codex", "app-server"])];
    for thread in ["t2", "t3"] {
        stage.mcp(&[], &[("threadId", thread)], &server);
    }
    let both = stage.directory.revision();
    for thread in ["t2", "t3", "t2", "t3"] {
        stage.mcp(&[], &[("threadId", thread)], &server);
    }
    assert_eq!(stage.directory.revision(), both);
}

#[test]
fn session_after_clear_replaces_the_older_and_carries_mcp_along() {
    let mut stage = Stage::new();
    let vars = |id| [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", id)];
    let old = stage.shell(&vars("s1"), &claude());
    let new = stage.shell(&vars("s2"), &claude());
    assert_ne!(old.agent_id, new.agent_id);
    assert_eq!(stage.directory.agent(&old.agent_id).unwrap().superseded_by, Some(new.agent_id.clone()));
    let by_mcp = stage.mcp(&vars("s1"), &[], &claude());
    assert_eq!(by_mcp.agent_id, new.agent_id, "what the server saw at its start is older");
    assert_eq!((by_mcp.replaces, old.replaces), (vec![old.agent_id.clone()], vec![]));
    let newest = stage.shell(&vars("s3"), &claude());
    assert_eq!(newest.replaces, [new.agent_id.clone(), old.agent_id.clone()]);
    let back = stage.shell(&vars("s1"), &claude());
    assert_eq!((back.agent_id, back.replaces), (old.agent_id, vec![newest.agent_id, new.agent_id]));
}

#[test]
fn server_of_several_sessions_is_ambiguous_without_metadata() {
    let mut stage = Stage::new();
    let server = [process(200, &["codex", "app-server"])];
    let one = stage.mcp(&[], &[("threadId", "t1")], &server);
    let two = stage.mcp(&[], &[("threadId", "t2")], &server);
    assert_ne!(one.agent_id, two.agent_id);
    assert_eq!(stage.directory.agent(&one.agent_id).unwrap().superseded_by, None);
    assert_eq!(two.replaces, [], "both are present");
    let unknown = stage.mcp(&[], &[], &server);
    assert_eq!(unknown.ambiguous, [two.agent_id.clone(), one.agent_id]);
    stage.minutes += 61;
    let idle = stage.mcp(&[], &[], &server);
    assert_eq!(idle.ambiguous, [], "sessions from an hour ago do not count");
    assert!(!stage.directory.link("c1", &crate::turn::AgentId::new("codex:nobody")));
    assert!(stage.directory.link("c1", &two.agent_id));
    stage.restart();
    assert_eq!(stage.mcp(&[], &[], &server).agent_id, two.agent_id);
    stage.directory.unlink("c1");
    assert_ne!(stage.mcp(&[], &[], &server).agent_id, two.agent_id);
}

#[test]
fn explicit_id_wins_and_has_a_form() {
    let mut stage = Stage::new();
    let named = stage.shell(&[("STICKPIN_AGENT_ID", "claude:reviewer-2"), ("CLAUDECODE", "1")], &claude());
    assert_eq!(named.agent_id.as_str(), "claude:reviewer-2");
    for wrong in ["claude", "Claude:a", ":a", "claude:", "claude:a b", "claude:../x"] {
        let evidence = Evidence { env: env(&[("STICKPIN_AGENT_ID", wrong)]), ..Evidence::default() };
        let now = Timestamp::from_millis(0);
        let refused = stage.directory.resolve(&evidence, &[], &stage.place, now);
        assert_eq!(refused, Err(IdentityError::InvalidAgentId(wrong.into())));
    }
}

#[test]
fn person_is_known_by_the_terminal_or_by_name() {
    let mut stage = Stage::new();
    let one = stage.shell(&[TERMINAL], &[]);
    let two = stage.shell(&[("KITTY_WINDOW_ID", "3")], &[]);
    assert_ne!(one.agent_id, two.agent_id);
    let none = stage.shell(&[], &[]);
    assert_eq!(none.agent_id.as_str(), "human:ana");
    assert_eq!((one.kind, two.kind, none.kind), (AgentKind::Human, AgentKind::Human, AgentKind::Human));
}

#[test]
fn each_console_of_a_person_is_a_member_of_its_own() {
    let mut stage = Stage::new();
    let mut at_console = |console: u16, vars: &[(&str, &str)], ancestry: &[Process]| {
        let evidence = Evidence { env: env(vars), console: Some(console), ..Evidence::default() };
        stage.directory.resolve(&evidence, ancestry, &stage.place, Timestamp::from_millis(0)).unwrap()
    };
    let one = at_console(0x00a1, &[TERMINAL], &[]);
    assert_eq!((one.agent_id.as_str(), one.kind), ("human:ana:console:00a1", AgentKind::Console));
    assert_eq!(one, at_console(0x00a1, &[TERMINAL], &[]));
    assert_ne!(at_console(0x00a2, &[TERMINAL], &[]).agent_id, one.agent_id);
    // Starting a console does not turn an agent into a person.
    let agent = at_console(0x00a1, &[], &claude());
    assert_eq!((agent.harness.as_str(), agent.kind), ("claude", AgentKind::Harness));
}

#[test]
fn harness_without_visible_process_falls_back_to_its_terminal() {
    let mut stage = Stage::new();
    let pane = stage.shell(&[("CLAUDECODE", "1"), TERMINAL], &[]);
    let other = stage.shell(&[("CLAUDECODE", "1"), ("TMUX_PANE", "%8")], &[]);
    let none = stage.shell(&[("CLAUDECODE", "1")], &[]);
    assert!(pane.agent_id != other.agent_id && none.agent_id != pane.agent_id);
    assert!(pane.provisional && none.provisional);
    let run = stage.shell(&[("OPENCODE", "1"), ("OPENCODE_RUN_ID", "r1"), TERMINAL], &[]);
    assert_eq!(run, {
        let mut again = stage.shell(&[("OPENCODE", "1"), ("OPENCODE_RUN_ID", "r1")], &[]);
        again.attempts.clone_from(&run.attempts);
        again
    });
}

#[test]
fn reused_process_id_is_another_agent() {
    let mut stage = Stage::new();
    let one = stage.mcp(&[], &[], &codex());
    let mut reused = codex();
    reused[0].start += 1;
    assert_ne!(one.agent_id, stage.mcp(&[], &[], &reused).agent_id);
}

#[test]
fn explanation_names_the_source_that_was_used() {
    let mut stage = Stage::new();
    stage.shell(&[("CODEX_THREAD_ID", "t1")], &codex());
    let by_mcp = stage.mcp(&[], &[], &codex());
    let used: Vec<_> = by_mcp.attempts.iter().filter(|a| a.used).map(|a| (&*a.rank, &*a.source)).collect();
    assert_eq!(used, [("2c", "session bound to the harness process")]);
}

#[test]
fn unused_agents_are_dropped_unless_their_process_lives() {
    let mut stage = Stage::new();
    stage.shell(&[("CLAUDECODE", "1")], &claude());
    stage.mcp(&[], &[], &codex());
    let later = Timestamp::from_millis(99 * MINUTE);
    stage.directory.drop_unused(later, |anchor| anchor.harness == "codex");
    let left: Vec<&str> = stage.directory.agents().iter().map(|a| a.harness.as_str()).collect();
    assert_eq!(left, ["codex"]);
}
