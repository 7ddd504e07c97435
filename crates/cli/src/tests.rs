//! The command line as a whole: command lines and the requests that they produce.

use super::*;
use serde_json::{Value, json};

/// Returns the client commands that the binary provides.
pub(crate) fn client_commands() -> ClientCommands {
    [stickpin_replay::COMMANDS, stickpin_watch::COMMANDS, stickpin_install::COMMANDS].concat().leak()
}

fn env() -> Env {
    Env { cwd: "/srv/shop".into(), home: Some("/home/u".into()), ..Env::default() }
}

fn request_of(line: &str) -> Request {
    request(&split(line), &env()).unwrap_or_else(|e| panic!("`{line}`: {e} ({})", e.hint))
}

fn error_of(line: &str) -> Error {
    request(&split(line), &env()).expect_err(line)
}

/// Splits at spaces; single quotes enclose words that contain spaces or are empty.
pub(crate) fn split(line: &str) -> Vec<&str> {
    line.split('\'')
        .enumerate()
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

#[test]
fn request_carries_caller_and_render() {
    let request = request_of("--session login get title --json --timeout 500 --detail full --max-bytes 100");
    assert_eq!(request.command, "get title");
    assert_eq!(request.session.as_deref(), Some("login"));
    assert_eq!(request.timeout_ms, Some(500));
    assert_eq!(
        serde_json::to_value(&request.render).unwrap(),
        json!({"format": "json", "header": true, "maxBytes": 100, "detail": "full"})
    );
    assert_eq!(request.caller, caller(&env().cwd, env().home.as_deref(), None));
}

#[test]
fn session_follows_option_then_variable_then_caller() {
    let with = Env { session: Some("var".into()), ..env() };
    let of = |line: &str, env: &Env| request(&split(line), env).unwrap().session;
    assert_eq!(of("get title --session opt", &with).as_deref(), Some("opt"));
    assert_eq!(of("get title", &with).as_deref(), Some("var"));
    assert_eq!(of("get title", &env()), None);
    assert_eq!(of("get title", &Env { session: Some(String::new()), ..env() }), None);
}

#[test]
fn open_takes_its_arguments_in_any_order() {
    let request = request_of("open -i sim:shop --viewport 800x600 --idle-timeout 5");
    assert_eq!(
        Value::Object(request.input),
        json!({"what": "sim:shop", "interactive": true, "viewport": "800x600", "idleTimeout": 5})
    );
}

#[test]
fn options_may_follow_several_texts() {
    let request = request_of("select @e6 Red Blue --settle --json");
    assert_eq!(
        Value::Object(request.input),
        json!({"target": "@e6", "options": ["Red", "Blue"], "settle": true})
    );
    assert_eq!(request.render.format, stickpin_kernel::Format::Json);
    assert_eq!(request_of("select @e6 -- --json").input["options"], json!(["--json"]));
}

#[test]
fn invalid_arguments_are_refused_before_sending() {
    for (line, message) in [
        ("open", "`open` needs WHAT"),
        ("open a b", "`open` does not expect another argument: \"b\""),
        ("open a --headd", "`open` has no option `--headd`"),
        (
            "get title --timeout soon",
            "`--timeout`: \"soon\" is not a whole number from 0 to 18446744073709551615",
        ),
        ("get title --detail some", "`--detail`: \"some\" is not one of digest, normal, full"),
        ("--nonsense", "unknown option `--nonsense` before the command"),
    ] {
        let error = error_of(line);
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::InvalidArgs, message), "{line}");
    }
    // Values are checked by the kernel.
    assert_eq!(request_of("open a --idle-timeout soon").input["idleTimeout"], "soon");
    assert!(error_of("open a --headd").hint.starts_with("did you mean `--headed`? usage: stickpin open"));
}

#[test]
fn every_command_in_a_hint_of_the_product_parses() {
    let others = local::front_end_commands(client_commands());
    for (place, mention) in stickpin_testkit::hint_mentions() {
        let inner = mention.trim_matches('`');
        let Some(line) = inner.strip_prefix("stickpin ") else {
            assert!(stickpin_cmdline::hints::option(inner).is_some(), "{place}: no command takes {mention}");
            continue;
        };
        let words = stickpin_cmdline::split(line).unwrap_or_else(|e| panic!("{place}: {mention}: {e}"));
        if let Err((_, e)) = parse::parse_line(words, &env(), &others) {
            panic!("{place}: {mention}: {e}");
        }
    }
}
