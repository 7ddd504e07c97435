//! Screens as they are drawn, in several sizes.

use super::{Theme, draw};
use crate::model::app::{App, Effect, Input, Phase};
use crate::model::key::Key;
use crate::model::outcome::{Outcome, Printed};
use ratatui_core::backend::TestBackend;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;
use serde_json::{Value, json};

const SHOP: &str = "@e1 banner
  @e2 link \"Orders\"
  @e3 link \"Cart, 2 items\"
main
  heading \"Shoes\" level=1
  list
    listitem
      @e4 link \"Red shoe\"
      @e5 button \"Add to cart\"
    listitem
      @e6 link \"Blue shoe\"
      @e7 button \"Add to cart\" disabled
";

fn feed(events: &[Value], closed: bool) -> Input {
    let events: Vec<Value> = events
        .iter()
        .zip(1..)
        .map(|(event, seq)| {
            let mut event = event.clone();
            let known = json!({"seq": seq, "ts": "2026-01-31T09:08:07.006Z", "to": null});
            event.as_object_mut().expect("an object").extend(known.as_object().expect("an object").clone());
            event
        })
        .collect();
    let page = json!({"events": events, "cursorSeq": events.len(), "closed": closed});
    Input::Feed(serde_json::from_value(page).expect("a page"))
}

fn shop(columns: u16, rows: u16) -> App {
    let mut app = App::new("shop".into(), Vec::new(), &[], (columns, rows));
    let header = "Shop http://127.0.0.1:3000/".to_owned();
    app.update(Input::Tree(Ok((header, SHOP.into()))));
    let begin = |verb: &str, summary: &str, id: u64| {
        json!({"type": "command_begin", "from": "claude:ada",
        "payload": {"cmdId": id, "verb": verb, "summary": summary}})
    };
    app.update(feed(
        &[
            begin("open", "what=\"http://127.0.0.1:3000/\"", 1),
            json!({"type": "command_end", "from": "claude:ada",
                "payload": {"cmdId": 1, "outcome": "ok", "durationMs": 412}}),
            json!({"type": "member_joined", "from": "human:ana:console:00a1",
                "payload": {"member": {"display": "human:ana:console:00a1"}}}),
            begin("press", "target=\"@e5\"", 4),
            json!({"type": "command_end", "from": "claude:ada", "payload": {"cmdId": 4, "outcome": "error",
                "error": {"code": "CONTEXT_CHANGED"}, "durationMs": 38}}),
            json!({"type": "message", "from": "claude:ada", "to": "human:ana:console:00a1",
                "body": "shall I buy the red one?"}),
            begin("press", "target=\"@e5\", settle=true", 7),
        ],
        false,
    ));
    let turn = json!({"session": "shop", "turnId": 3, "owner": "claude:ada", "openNotes": 1, "members": [
        {"agentId": "claude:ada", "role": "driver"},
        {"agentId": "human:ana:console:00a1", "role": "observer", "you": true}]});
    app.update(Input::Turn(serde_json::from_value(turn).expect("a turn")));
    app
}

fn answered(app: &mut App, line: &str, out: &str, err: &str) {
    app.update(Input::Paste(line.into()));
    assert_eq!(app.update(Input::Key(Key::Enter)), [Effect::Run(line.into())]);
    let printed = Printed { out: out.into(), err: err.into() };
    app.update(Input::Done(Outcome { printed, ran: true, ..Outcome::default() }));
}

fn drawn(app: &App, colors: bool) -> Terminal<TestBackend> {
    let (columns, rows) = app.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    terminal.draw(|frame| draw(app, Theme { colors }, frame)).expect("a frame");
    terminal
}

fn screen(app: &App) -> String {
    drawn(app, false).backend().to_string()
}

#[test]
fn session_at_80_by_24() {
    let mut app = shop(80, 24);
    answered(&mut app, "get text @e4", "Red shoe\n", "");
    answered(
        &mut app,
        "press @e99",
        "",
        "REF_NOT_FOUND: @e99 was never issued in this session's lifetime\nrun `stickpin snapshot -i`\n",
    );
    app.update(Input::Paste("press ".into()));
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn session_at_120_by_40_with_a_folded_tree() {
    let mut app = shop(120, 40);
    for key in
        [Key::BackTab, Key::Left, Key::Char('/'), Key::Char('b'), Key::Char('l'), Key::Char('u'), Key::Enter]
    {
        app.update(Input::Key(key));
    }
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn session_at_20_by_10() {
    let mut app = shop(20, 10);
    app.update(Input::Paste("press 'role=button \"Add to cart\"'".into()));
    insta::assert_snapshot!("log_at_20_by_10", screen(&app));
    app.update(Input::Key(Key::BackTab));
    insta::assert_snapshot!("tree_at_20_by_10", screen(&app));
}

#[test]
fn completion_lists_what_fits() {
    let mut app = shop(80, 24);
    app.update(Input::Paste("press ".into()));
    app.update(Input::Key(Key::Tab));
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn ended_session() {
    let mut app = shop(80, 12);
    let events = (0..8).map(|_| json!({"type": "turn_closed", "from": "claude:ada"})).collect::<Vec<_>>();
    app.update(feed(&events, true));
    assert_eq!(app.phase, Phase::Ended);
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn hostile_names_stay_in_their_cells() {
    let hostile = "@e1 button \"\u{1b}[2J\u{1b}]0;x\u{7}\"\n@e2 link \"\u{202e}gro.live\"\n@e3 link \"日本語日本語日本語日本語日本語\"\n@e4 link \"a\u{200b}b\u{feff}c\"\n@e5 link \"e\u{301}👩‍👩‍👧\"\n@e6 link \"x\ry\"\n";
    let mut app = App::new("shop".into(), Vec::new(), &[], (60, 14));
    app.update(Input::Tree(Ok(("\u{1b}[31mred\u{9b}2J".into(), hostile.into()))));
    app.update(feed(
        &[
            json!({"type": "command_begin", "from": "claude:\u{202e}x", "payload": {"cmdId": 1, "verb": "press", "summary": "target=\"\u{1b}[1;1H\""}}),
            json!({"type": "message", "from": "codex:1", "body": "\u{1b}[2J\nadmin> yes\u{200f}"}),
        ],
        false,
    ));
    answered(&mut app, "get text @e1", "\u{1b}[2J\u{1b}[1;1Howned\r\nnext\n", "");
    let terminal = drawn(&app, true);
    let cells = terminal.backend().buffer().content();
    let unsafe_cell = cells.iter().find(|cell| cell.symbol().chars().any(stickpin_tree::is_unsafe));
    assert_eq!(unsafe_cell, None);
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn any_size_is_drawn_while_it_changes() {
    let mut app = shop(80, 24);
    app.update(Input::Paste("größe 日本語 ".repeat(20)));
    for (columns, rows) in [(80, 24), (1, 1), (2, 2), (20, 3), (300, 4), (59, 10), (60, 2), (3, 50), (80, 24)]
    {
        app.update(Input::Resize(columns, rows));
        drawn(&app, true);
        for key in [Key::BackTab, Key::Char('/'), Key::Char('x')] {
            app.update(Input::Key(key));
            drawn(&app, false);
        }
        app.update(Input::Key(Key::Ctrl('c')));
        app.update(Input::Paste("größe 日本語 ".repeat(20)));
    }
}

#[test]
fn without_colors_no_cell_has_one() {
    let mut app = shop(80, 24);
    answered(&mut app, "press @e99", "", "REF_NOT_FOUND: x\n");
    let colored = |colors: bool| {
        let terminal = drawn(&app, colors);
        terminal
            .backend()
            .buffer()
            .content()
            .iter()
            .any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(colored(true) && !colored(false));
}

#[test]
fn large_tree_is_drawn_by_what_is_seen() {
    let mut app = App::new("shop".into(), Vec::new(), &[], (80, 24));
    let outline: String = (0..100_000).map(|n| format!("  @e{n} listitem \"row {n}\"\n")).collect();
    app.update(Input::Tree(Ok(("page".into(), format!("list\n{outline}")))));
    app.update(Input::Key(Key::BackTab));
    app.update(Input::Key(Key::End));
    assert!(screen(&app).contains("@e99999 listitem"));
}
