//! `back`, `forward`, `reload`, `home`: navigation through the history.

use crate::commands::prelude::*;
use crate::observe::navigation;
use stickpin_device::{Arrived, Leave, Navigation};
use stickpin_tree::quote;

/// The maximum time until the document is ready and quiet.
const READY: Duration = Duration::from_secs(10);

/// Go back one step in the history, and return when the page is ready.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Back {
    /// Discard a draft if the page asks before leaving.
    #[serde(default)]
    pub discard: bool,
}

/// Go forward one step in the history, and return when the page is ready.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Forward {
    /// Discard a draft if the page asks before leaving.
    #[serde(default)]
    pub discard: bool,
}

/// Reload the page, and return when it is ready.
///
/// Refs stay valid for records that read the same.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reload {
    /// Discard a draft if the page asks before leaving.
    #[serde(default)]
    pub discard: bool,
}

/// Go to the start screen of the device.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Home {}

/// The current address and title of the app.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct At {
    /// The address.
    pub url: String,
    /// The title.
    pub title: String,
    /// Whether the page became ready and quiet in time.
    pub settled: bool,
}

const HISTORY: Spec = Spec { effect: Effect::Mutates, needs: &[Capability::History], ..Spec::SESSION };

impl Command for Back {
    const SPEC: Spec = Spec { name: "back", examples: &["stickpin back"], ..HISTORY };
    type Output = At;

    async fn run(self, cx: &mut Cx) -> Result<At> {
        go(cx, &Navigation::Back, leave(self.discard), "there is nothing to go back to").await
    }
}

impl Command for Forward {
    const SPEC: Spec = Spec { name: "forward", examples: &["stickpin forward"], ..HISTORY };
    type Output = At;

    async fn run(self, cx: &mut Cx) -> Result<At> {
        go(cx, &Navigation::Forward, leave(self.discard), "there is nothing to go forward to").await
    }
}

impl Command for Reload {
    const SPEC: Spec = Spec {
        name: "reload",
        needs: &[Capability::Reload],
        examples: &["stickpin reload", "stickpin reload --discard"],
        ..HISTORY
    };
    type Output = At;

    async fn run(self, cx: &mut Cx) -> Result<At> {
        go(cx, &Navigation::Reload, leave(self.discard), "the page cannot be reloaded").await
    }
}

impl Command for Home {
    const SPEC: Spec =
        Spec { name: "home", needs: &[Capability::Navigate], examples: &["stickpin home"], ..HISTORY };
    type Output = At;

    async fn run(self, cx: &mut Cx) -> Result<At> {
        go(cx, &Navigation::Home, Leave::Ask, "the device has no start screen").await
    }
}

/// Converts the `--discard` flag.
pub(super) fn leave(discard: bool) -> Leave {
    if discard { Leave::Discard } else { Leave::Ask }
}

async fn go(cx: &mut Cx, to: &Navigation, leave: Leave, nowhere: &str) -> Result<At> {
    let arrived: Arrived = navigation::go(cx, to, leave, READY).await?;
    if !arrived.moved {
        return Err(Error::unsupported(nowhere).hint("run `stickpin get url` to see where it is"));
    }
    Ok(At { url: arrived.url, title: arrived.title, settled: arrived.settled })
}

impl Show for At {
    fn show(&self, text: &mut Text) {
        let late = if self.settled { "" } else { " (still loading after 10 s)" };
        text.line(format_args!("at {} {}{late}", quote(&self.url), quote(&self.title)));
    }
}
