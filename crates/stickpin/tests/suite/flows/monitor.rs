//! A dashboard where numbers, charts and clocks change several times a second.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("monitor", "orders at moving prices", orders);
    stage.checked("monitor", "panels and alerts", panels);
    stage.checked("monitor", "an hour on one reading", on_one_reading);
}

fn orders(a: &mut Agent<'_>) {
    a.read();
    let mut expected = Vec::new();
    for (amount, verb, name) in [
        ("5", "Buy", "NOR"),
        ("2", "Sell", "FJO"),
        ("7", "Buy", "BER"),
        ("3", "Sell", "LUN"),
        ("4", "Buy", "SAL"),
    ] {
        a.enter("Amount", amount);
        let line = format!("{} {amount} {name}", verb.to_lowercase());
        a.tap_in(name, "button", verb, &line);
        expected.push(line);
        // The order of the table is reversed, and rows keep their identity.
        a.tap("button", "Name", "sorted name");
    }
    a.holds(&json!({ "range": "15 min", "paused": [], "acked": [], "muted": [], "orders": expected }));
}

fn panels(a: &mut Agent<'_>) {
    a.read();
    for range in ["5 min", "1 h", "15 min", "5 min"] {
        a.tap("button", range, &format!("range {range}"));
    }
    for title in ["Requests", "Memory"] {
        a.tap_in(title, "button", "Pause", &format!("paused {title}"));
        a.go_in(title, "button", "Panel menu", &format!("menu {title}"));
        a.tap("menuitem", "Resize", &format!("resized {title}"));
        a.go_in(title, "button", "Panel menu", &format!("menu {title}"));
        a.tap("menuitem", "Export", &format!("exported {title}"));
    }
    a.read();
    a.tap_in("Requests", "button", "Resume", "resumed Requests");
    for host in ["web-1", "db-2"] {
        a.tap_in(host, "button", "Mute", &format!("muted {host}"));
        a.tap_in(host, "button", "Acknowledge", &format!("acked {host}"));
    }
    a.tap_in("mail-1", "button", "Acknowledge", "acked mail-1");
    a.holds(&json!({
        "range": "5 min", "paused": ["Memory"], "acked": ["web-1", "db-2", "mail-1"], "muted": ["web-1", "db-2"], "orders": [],
    }));
}

/// Acts by the first snapshot alone, although much has changed since.
fn on_one_reading(a: &mut Agent<'_>) {
    a.read();
    let mut expected = Vec::new();
    for round in 0..3 {
        for name in ["SAL", "BER", "NOR"] {
            a.tap_in(name, "button", "Buy", &format!("buy 1 {name}"));
            a.tap_in(name, "button", "Sell", &format!("sell 1 {name}"));
            expected.extend([format!("buy 1 {name}"), format!("sell 1 {name}")]);
        }
        let range = ["1 h", "5 min", "1 h"][round];
        a.tap("button", range, &format!("range {range}"));
    }
    a.tap_in("db-1", "button", "Acknowledge", "acked db-1");
    a.tap_in("web-2", "button", "Mute", "muted web-2");
    a.holds(
        &json!({ "range": "1 h", "paused": [], "acked": ["db-1"], "muted": ["web-2"], "orders": expected }),
    );
}
