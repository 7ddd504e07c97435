//! `back`, `forward`, `reload`, `home`: navigation without an address.

use crate::commands::prelude::*;
use crate::observe::navigation::Quiet;
use stickpin_device::{LeavePolicy, Navigation, NavigationResult};

/// Go back one step in the history, and return when the page is ready.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Back {
    /// Discard unsaved changes if the page asks before leaving.
    pub discard: bool,
}

/// Go forward one step in the history, and return when the page is ready.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Forward {
    /// Discard unsaved changes if the page asks before leaving.
    pub discard: bool,
}

/// Reload the page, and return when it is ready.
///
/// A ref stays valid if its element and the record around it read the same afterwards.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Reload {
    /// Discard unsaved changes if the page asks before leaving.
    pub discard: bool,
}

/// Go to the start screen of the device.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Home {}

/// The current address and title of the app.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageOutput {
    /// The address of the page.
    pub url: String,
    /// The title of the page.
    pub title: String,
    /// Whether the page was quiet at the end.
    #[serde(flatten)]
    pub quiet: Quiet,
}

const HISTORY: Spec = Spec { effect: Effect::Mutates, needs: &[Capability::History], ..Spec::SESSION };

impl Command for Back {
    const SPEC: Spec = Spec { name: "back", examples: &["stickpin back"], ..HISTORY };
    type Output = PageOutput;

    async fn run(self, cx: &mut Cx) -> Result<PageOutput> {
        go(cx, &Navigation::Back, leave_policy(self.discard), "there is nothing to go back to").await
    }
}

impl Command for Forward {
    const SPEC: Spec = Spec { name: "forward", examples: &["stickpin forward"], ..HISTORY };
    type Output = PageOutput;

    async fn run(self, cx: &mut Cx) -> Result<PageOutput> {
        go(cx, &Navigation::Forward, leave_policy(self.discard), "there is nothing to go forward to").await
    }
}

impl Command for Reload {
    const SPEC: Spec = Spec {
        name: "reload",
        needs: &[Capability::Reload],
        examples: &["stickpin reload", "stickpin reload --discard"],
        ..HISTORY
    };
    type Output = PageOutput;

    async fn run(self, cx: &mut Cx) -> Result<PageOutput> {
        go(cx, &Navigation::Reload, leave_policy(self.discard), "the page cannot be reloaded").await
    }
}

impl Command for Home {
    const SPEC: Spec =
        Spec { name: "home", needs: &[Capability::Navigate], examples: &["stickpin home"], ..HISTORY };
    type Output = PageOutput;

    async fn run(self, cx: &mut Cx) -> Result<PageOutput> {
        go(cx, &Navigation::Home, LeavePolicy::Ask, "the device has no start screen").await
    }
}

/// Converts the `--discard` flag to the policy for leaving a page.
pub(super) fn leave_policy(discard: bool) -> LeavePolicy {
    if discard { LeavePolicy::Discard } else { LeavePolicy::Ask }
}

async fn go(cx: &mut Cx, to: &Navigation, leave: LeavePolicy, nowhere: &str) -> Result<PageOutput> {
    let arrived: NavigationResult = navigation::navigate(cx, to, leave).await?;
    if !arrived.moved {
        return Err(Error::unsupported(nowhere).hint("run `stickpin get url` to see the current address"));
    }
    Ok(PageOutput { url: arrived.url, title: arrived.title, quiet: arrived.quiet.into() })
}

impl Show for PageOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("at {} {}", quote(&self.url), quote(&self.title)));
        self.quiet.show(text);
    }
}
