//! The server of the pages; it changes and queries a page without input.

use super::data::{Situation, folder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use stickpin_testkit::{PageResponse, PageServer};

const PATIENCE: Duration = Duration::from_secs(10);

/// A page's report of an input.
#[derive(Debug, Clone, Deserialize)]
pub struct Hit {
    #[serde(rename = "type")]
    pub event: String,
    /// The record of the innermost marked element; the element if none is marked.
    pub rec: String,
    #[serde(default)]
    pub value: Option<String>,
}

impl std::fmt::Display for Hit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { event, rec, value } = self;
        write!(f, "{event} {rec}")?;
        value.as_ref().map_or(Ok(()), |value| write!(f, "={value:?}"))
    }
}

/// A server for one browser.
pub struct Site {
    server: PageServer,
    questions: u64,
    /// Reports since the browser was started.
    reports: usize,
}

impl Site {
    pub fn new(situations: &[Situation]) -> Self {
        let mut pages = HashMap::new();
        for situation in situations {
            pages.insert(format!("/{}.html", situation.id), situation.page());
            pages.extend(situation.more.iter().map(|(path, html)| (format!("/{path}"), html.clone())));
        }
        let answers = move |asked: stickpin_testkit::PageRequest<'_>| {
            let path = asked.target.split(['?', '#']).next().unwrap_or("/");
            let (media, body) = match pages.get(path) {
                Some(html) => ("text/html; charset=utf-8", html.clone()),
                None => ("image/svg+xml", picture(path.strip_prefix("/img/")?)),
            };
            Some(PageResponse { media, body: body.into_bytes(), log: None })
        };
        let server = PageServer::start_with(&folder(), Box::new(answers)).expect("a loopback port");
        Self { server, questions: 0, reports: 0 }
    }

    pub fn url(&self, situation: &Situation) -> String {
        format!("{}/{}.html", self.server.origin(), situation.id)
    }

    pub fn origin(&self) -> String {
        self.server.origin()
    }

    /// Prepares for a page. With `fresh`, the page opens in another browser, none of whose tabs has
    /// reported yet.
    pub fn prepare_open(&mut self, fresh: bool) {
        if fresh {
            drop(self.server.received());
            self.reports = 0;
        }
        // Discard the report of a page that reloaded itself.
        let _ = self.server.wait_for("ready", Duration::ZERO);
    }

    /// Waits until the opened page listens.
    pub fn wait_ready(&self) -> Result<(), String> {
        match self.server.wait_for("ready", PATIENCE) {
            true => Ok(()),
            false => Err("the page never listened".to_owned()),
        }
    }

    /// Runs script in the page. Returns its result and what the page and its frames have reported
    /// since the last call.
    pub fn evaluate(&mut self, code: &str) -> Result<(Value, Vec<Hit>), String> {
        self.questions += 1;
        let id = self.questions;
        if self.server.push(&serde_json::json!({ "id": id, "code": code }).to_string()) == 0 {
            return Err("no page listens".to_owned());
        }
        let answer = self.server.wait_for_prefix(&format!("ack {id} "), PATIENCE);
        let answer = answer.ok_or_else(|| format!("the page never answered `{code}`"))?;
        let (sent, result) = answer.split_once(' ').ok_or("an answer without a result")?;
        let sent: usize = sent.parse().map_err(|e| format!("{answer}: {e}"))?;
        let result: Value = serde_json::from_str(result).map_err(|e| format!("{answer}: {e}"))?;
        if let Some(error) = result.get("error") {
            return Err(format!("`{code}`: {error}"));
        }
        let mut hits = Vec::new();
        while self.reports < sent {
            let hit = self.server.wait_for_prefix("hit ", PATIENCE);
            let hit = hit.ok_or_else(|| format!("{} of {sent} reports arrived", self.reports))?;
            hits.push(serde_json::from_str(&hit).map_err(|e| format!("{hit}: {e}"))?);
            self.reports += 1;
        }
        Ok((result, hits))
    }
}

/// Returns a picture of a single color, derived from its name.
fn picture(name: &str) -> String {
    let hue = name.bytes().map(u32::from).sum::<u32>() * 37 % 360;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"40\">\
         <rect width=\"60\" height=\"40\" fill=\"hsl({hue},70%,60%)\"/></svg>"
    )
}
