//! An agent's knowledge of an app: the lines that it was shown, without those that were reported as
//! gone.

use super::agent::{Agent, Known};
use stickpin_testkit::{Listing, ListingLine};

/// Lines that the agent was shown, in order.
#[derive(Debug, Clone, Default)]
pub struct Memory(Listing);

impl Memory {
    /// Replaces the known lines by those of a new snapshot.
    fn reread(&mut self, text: &str) {
        self.0 = Listing::read(text);
    }

    /// Applies a response: lines that were added, changed or removed, and refs that ended.
    pub fn learn(&mut self, text: &str) {
        for line in text.lines() {
            if let Some(ended) = line.strip_prefix("ended: ") {
                self.0.0.retain(|l| !ended.split(' ').any(|range| is_in(range, &l.id)));
            } else if let Some(gone) = line.strip_prefix("- ").and_then(ListingLine::read) {
                self.0.0.retain(|l| l.id.is_empty() || l.id != gone.id);
            } else if let Some(line) = line.strip_prefix("+ ").and_then(ListingLine::read) {
                self.0.0.push(line);
            } else if let Some(now) = line.strip_prefix("~ ").and_then(ListingLine::read) {
                // `~ @e9 button "Stop", was @e4 "Start"`
                let old = now.suffix.split("was @").nth(1).and_then(|old| old.split(' ').next());
                let old = old.map_or_else(|| now.id.clone(), |old| format!("@{old}"));
                self.becomes(&old, &now);
            }
        }
    }

    /// Records that the element of a ref has another text from now on, perhaps with another ref.
    pub fn becomes(&mut self, old: &str, now: &ListingLine) {
        for line in self.0.0.iter_mut().filter(|l| l.id == old && !old.is_empty()) {
            *line = ListingLine { depth: line.depth, ..now.clone() };
        }
    }

    /// Records that the element has another ref from now on.
    pub fn rename(&mut self, old: &str, new: &str) {
        for line in self.0.0.iter_mut().filter(|l| l.id == old) {
            new.clone_into(&mut line.id);
        }
    }

    /// Returns the newest line of a role and name that contains `near` itself (in its row, id or
    /// value); otherwise, the line next to `near`.
    fn find(&self, near: &str, role: &str, name: &str) -> Option<&ListingLine> {
        let fits = |l: &&ListingLine| l.is_called(role, name) && !l.id.is_empty();
        if near.is_empty() {
            return self.0.0.iter().rev().find(fits);
        }
        let named = self.0.0.iter().rev().find(|l| fits(l) && l.suffix.contains(near));
        named.or_else(|| self.0.within(near, role, name).filter(fits))
    }
}

/// Returns whether `@e12` is in `@e3` or `@e3-@e40`.
fn is_in(range: &str, r#ref: &str) -> bool {
    let number = |text: &str| text.trim_start_matches("@e").parse::<u32>().ok();
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let (Some(from), Some(to), Some(n)) = (number(from), number(to), number(r#ref)) else { return false };
    (from..=to).contains(&n)
}

impl Agent<'_> {
    /// Reads the interactive elements.
    pub fn read(&mut self) {
        let response = self.expect_ok(&["snapshot", "-i"]);
        self.memory.reread(response.text.as_deref().unwrap_or(""));
    }

    /// Returns an element that the agent knows. If it knows none, it reads again: first the
    /// interactive elements, then all.
    fn known_as(&mut self, near: &str, role: &str, name: &str) -> Known {
        for view in [None, Some("-i"), Some("--all")] {
            if let Some(view) = view {
                let response = self.expect_ok(&["snapshot", view]);
                self.memory.reread(response.text.as_deref().unwrap_or(""));
            }
            if let Some(line) = self.memory.find(near, role, name) {
                let mut known = Agent::of(line);
                near.clone_into(&mut known.near);
                return known;
            }
        }
        let read = self.memory.0.clone();
        self.known(None, near, role, name, &read)
    }

    /// Uses an element in or next to `near`; `words` and `expected` as for [`Agent::act`].
    pub fn does(&mut self, [near, role, name]: [&str; 3], words: &[&str], expected: &str) {
        let mut known = self.known_as(near, role, name);
        self.act(&mut known, words, expected);
    }

    /// Presses the element that the agent knows by this role and name.
    pub fn tap(&mut self, role: &str, name: &str, expected: &str) {
        self.does(["", role, name], &["press", "{}"], expected);
    }

    /// Presses the element with this role and name in or next to `near`.
    pub fn tap_in(&mut self, near: &str, role: &str, name: &str, expected: &str) {
        self.does([near, role, name], &["press", "{}"], expected);
    }

    /// Presses an element that opens another view, and reads that view.
    pub fn go(&mut self, role: &str, name: &str, expected: &str) {
        self.does(["", role, name], &["press", "{}", "--settle"], expected);
    }

    /// Presses an element that opens another view, in or next to `near`.
    pub fn go_in(&mut self, near: &str, role: &str, name: &str, expected: &str) {
        self.does([near, role, name], &["press", "{}", "--settle"], expected);
    }

    /// Fills a field whose changes the app does not report.
    pub fn enter(&mut self, name: &str, text: &str) {
        self.does(["", "textbox", name], &["fill", "{}", text], "");
    }

    /// Compares the app's data at the end, as the app reports it.
    pub fn holds(&mut self, expected: &serde_json::Value) {
        let state = match self.server {
            Some(server) => server.state(),
            None => {
                self.push("state");
                let told = self.told("state ").unwrap_or_default();
                serde_json::from_str(&told).unwrap_or_default()
            }
        };
        if state != *expected {
            self.flow.wrong.push(format!("the app holds {state}, not {expected}"));
        }
        self.flow.checked = true;
    }
}

#[test]
fn responses_change_what_is_known() {
    let mut memory = Memory::default();
    memory.reread(
        "@e1 button \"Edit\" in \"Ada\"\n@e2 button \"Edit\" in \"Bo\"\n@e3 link \"Home\"\n@e9 tab \"A\"",
    );
    let known = |m: &Memory, near: &str| m.find(near, "button", "Edit").map(|l| l.id.clone());
    assert_eq!(known(&memory, "Ada").as_deref(), Some("@e1"));
    memory.learn(
        "pressed @e3 link \"Home\"\n- @e9 tab \"A\"\n+   @e12 button \"Edit\" in \"Cy\"\nended: @e1 @e3-@e8",
    );
    assert_eq!(known(&memory, "Ada"), None);
    assert_eq!(known(&memory, "Bo").as_deref(), Some("@e2"));
    assert_eq!(known(&memory, "").as_deref(), Some("@e12"));
    assert!(memory.find("", "link", "Home").is_none() && memory.find("", "tab", "A").is_none());
    memory.rename("@e2", "@e30");
    assert_eq!(known(&memory, "Bo").as_deref(), Some("@e30"));
    memory.learn("~ @e31 button \"Save\", was @e12 \"Edit\"");
    assert_eq!(memory.find("", "button", "Save").map(|l| l.id.as_str()), Some("@e31"));
    assert_eq!(known(&memory, "").as_deref(), Some("@e30"));
}
