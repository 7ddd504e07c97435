//! `tab list|new|switch|close|show`: the tabs and windows of the app, one of which is active in a
//! session.

use crate::commands::navigate::history::leave_policy;
use crate::commands::prelude::*;
use crate::commands::read::get::page;
use crate::commands::read::snapshot::{OutlineOutput, Snapshot};
use crate::observe::navigation::Quiet;
use stickpin_device::TabEntry;
use stickpin_tree::{bare_url, escape};

/// List the tabs and windows of the app, with their ids. The current one is marked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabList {}

/// Open a tab and make it the current one.
///
/// The tab opens in the background, so the visible window does not change. Refs of the previous tab
/// work again after `tab switch`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TabNew {
    /// The address to open; by default an empty page.
    #[schemars(extend("x-positional" = 0, "x-opens" = true))]
    pub url: Option<String>,
    /// Print the first snapshot of the tab, as `snapshot -i` does.
    #[schemars(extend("x-short" = "i"))]
    pub interactive: bool,
}

/// Make another tab the current one.
///
/// Snapshots and actions then use that tab. Refs of other tabs are refused until you switch back.
/// The visible window does not change; `tab show` changes it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabSwitch {
    /// The tab id, such as `t2`.
    #[schemars(extend("x-positional" = 0))]
    pub id: String,
    /// Print a snapshot of the tab, as `snapshot -i` does.
    #[serde(default)]
    #[schemars(extend("x-short" = "i"))]
    pub interactive: bool,
}

/// Close a tab. If it was the current one, its opener or the previous tab becomes current.
///
/// The last tab cannot be closed; `close` ends the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TabClose {
    /// The tab id, such as `t2`; by default the current tab.
    #[schemars(extend("x-positional" = 0))]
    pub id: Option<String>,
    /// Discard unsaved changes if the page asks before leaving.
    pub discard: bool,
}

/// Show a tab and its window to the person at this machine, and make that tab current.
///
/// No other command takes the focus of the desktop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabShow {
    /// The tab id, such as `t2`; by default the current tab.
    #[schemars(extend("x-positional" = 0))]
    pub id: Option<String>,
}

/// The tabs of the app.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabListOutput {
    /// The tabs, in the order in which they were opened.
    pub tabs: Vec<TabEntry>,
}

/// The active tab.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabOutput {
    /// The id of the active tab.
    pub id: String,
    /// The word before the id in the output, such as `opened`.
    #[serde(skip)]
    did: &'static str,
    /// The id of the tab that was closed, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<String>,
    /// The address of the page in the tab; empty if a dialog blocks reading it.
    pub url: String,
    /// The title of the page in the tab; empty if a dialog blocks reading it.
    pub title: String,
    /// Whether the page of a new tab was quiet at the end.
    #[serde(flatten)]
    pub quiet: Option<Quiet>,
    /// The description of the dialog that blocks reading the tab, if any.
    #[serde(skip)]
    waits: Option<String>,
    /// The snapshot, if `-i` was given and no dialog blocked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<OutlineOutput>,
}

/// The properties that the `tab` commands share. Tabs come and go regardless of what their pages
/// show, so the commands also work while a dialog is pending.
const TAB: Spec = Spec {
    effect: Effect::Mutates,
    needs: &[Capability::Tabs],
    despite_dialog: true,
    deadline: Duration::from_secs(60),
    ..Spec::SESSION
};

impl Command for TabList {
    const SPEC: Spec =
        Spec { name: "tab list", effect: Effect::Reads, examples: &["stickpin tab list"], ..TAB };
    type Output = TabListOutput;

    async fn run(self, cx: &mut Cx) -> Result<TabListOutput> {
        Ok(TabListOutput { tabs: facets::tabs(cx.device()?, "list tabs")?.list_tabs().await? })
    }
}

impl Command for TabNew {
    const SPEC: Spec = Spec {
        name: "tab new",
        examples: &["stickpin tab new http://127.0.0.1:3000/help -i", "stickpin tab new"],
        ..TAB
    };
    type Output = TabOutput;

    async fn run(self, cx: &mut Cx) -> Result<TabOutput> {
        let file = self.url.as_deref().map(|what| cx.caller.resolve_opened(what)).transpose()?.flatten();
        let what = file.map_or(self.url, |file| Some(file.display().to_string()));
        let cancel = cx.cancel.clone();
        let under_way = cx.begin_operation();
        let tabs = facets::tabs(cx.device()?, "open tabs")?;
        let arrived = tabs.new_tab(what.as_deref(), navigation::READY_TIMEOUT, &cancel).await?;
        drop(under_way);
        TabOutput::read_active(cx, "opened", Some(arrived.quiet.into()), self.interactive).await
    }
}

impl Command for TabSwitch {
    const SPEC: Spec = Spec { name: "tab switch", examples: &["stickpin tab switch t2 -i"], ..TAB };
    type Output = TabOutput;

    async fn run(self, cx: &mut Cx) -> Result<TabOutput> {
        check(&self.id)?;
        facets::tabs(cx.device()?, "switch tabs")?.switch_tab(&self.id).await?;
        TabOutput::read_active(cx, "in", None, self.interactive).await
    }
}

impl Command for TabClose {
    const SPEC: Spec = Spec {
        name: "tab close",
        examples: &["stickpin tab close t2", "stickpin tab close --discard"],
        ..TAB
    };
    type Output = TabOutput;

    async fn run(self, cx: &mut Cx) -> Result<TabOutput> {
        let id = match self.id {
            Some(id) => id,
            None => active(cx).await?.id,
        };
        check(&id)?;
        let cancel = cx.cancel.clone();
        cx.mark_dispatched();
        let under_way = cx.begin_operation();
        facets::tabs(cx.device()?, "close tabs")?.close_tab(&id, leave_policy(self.discard), &cancel).await?;
        drop(under_way);
        // End the refs of the closed tab before another tab is read.
        navigation::warn_ended_tabs(cx);
        let mut now = TabOutput::read_active(cx, "in", None, false).await?;
        now.closed = Some(id);
        Ok(now)
    }
}

impl Command for TabShow {
    const SPEC: Spec = Spec { name: "tab show", examples: &["stickpin tab show"], ..TAB };
    type Output = TabOutput;

    async fn run(self, cx: &mut Cx) -> Result<TabOutput> {
        if let Some(id) = self.id {
            check(&id)?;
            facets::tabs(cx.device()?, "switch tabs")?.switch_tab(&id).await?;
        }
        facets::tabs(cx.device()?, "show tabs")?.show_tab().await?;
        TabOutput::read_active(cx, "shown", None, false).await
    }
}

/// Returns the active tab.
async fn active(cx: &mut Cx) -> Result<TabEntry> {
    let tabs = facets::tabs(cx.device()?, "list tabs")?.list_tabs().await?;
    let active = tabs.into_iter().find(|tab| tab.active);
    active.ok_or_else(|| Error::internal("no tab is active"))
}

/// Checks that a text has the form of a tab id.
fn check(id: &str) -> Result<()> {
    let number = id.strip_prefix('t').filter(|n| n.len() <= 9 && n.bytes().all(|b| b.is_ascii_digit()));
    match number.and_then(|n| n.parse::<u32>().ok()) {
        Some(_) => Ok(()),
        None => Err(Error::invalid_args(format!("{} is not a tab id", quote(id)))
            .hint("run `stickpin tab list` to see the tab ids, such as `t2`")),
    }
}

impl TabOutput {
    /// Reads the active tab, unless a dialog blocks it. After a read, refs of other tabs are
    /// refused, and earlier refs of this tab are live again.
    async fn read_active(
        cx: &mut Cx,
        did: &'static str,
        quiet: Option<Quiet>,
        interactive: bool,
    ) -> Result<Self> {
        let id = active(cx).await?.id;
        let mut now = Self { id, did, quiet, ..Self::default() };
        // A dialog blocks reading.
        if let Some(dialog) = cx.device()?.dialog() {
            cx.open_session()?.page = None;
            now.waits = Some(dialog.describe());
            return Ok(now);
        }
        capture::capture_app(cx, if interactive { Origin::Snapshot } else { Origin::Internal }).await?;
        let at = page(cx).await?;
        (now.url, now.title) = (at.url, at.title);
        if interactive {
            now.snapshot = Some(Snapshot::interactive().outline(cx, None)?);
        }
        Ok(now)
    }
}

impl Show for TabListOutput {
    fn show(&self, text: &mut Text) {
        let row = |tab: &TabEntry| {
            let mark = if tab.active { '*' } else { ' ' };
            let opener = tab.opener.as_ref().map(|opener| format!(" opened by {}", escape(opener, 16)));
            let dialog =
                tab.dialog.as_ref().map(|d| format!(" is waiting for an answer to its {}", d.describe()));
            vec![
                Cell::Word(format!("{mark} {}", escape(&tab.id, 16))),
                Cell::Prose(quote(&tab.title).to_string()),
                Cell::Prose(bare_url(&tab.url)),
                Cell::Word(opener.unwrap_or_default()),
                Cell::Word(dialog.unwrap_or_default()),
            ]
        };
        text.table(&self.tabs.iter().map(row).collect::<Vec<_>>(), " ");
    }
}

impl Show for TabOutput {
    fn show(&self, text: &mut Text) {
        if let Some(closed) = &self.closed {
            text.line(format_args!("closed {closed}"));
        }
        text.line(format_args!("{} {}", self.did, self.id));
        if let Some(quiet) = &self.quiet {
            quiet.show(text);
        }
        if let Some(waits) = &self.waits {
            text.line(format_args!("{waits} is waiting: answer it with `alert accept` or `alert dismiss`"));
        }
        if self.snapshot.is_none() && !self.url.is_empty() {
            text.line(format_args!("page {} {}", quote(&self.title), bare_url(&self.url)));
        }
        if let Some(snapshot) = &self.snapshot {
            snapshot.show(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn ids_have_one_form() {
        for good in ["t1", "t42"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "t", "1", "T1", "t-1", "t1 ", "t+1", "t99999999999"] {
            let error = check(bad).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgs, "{bad}");
            assert!(error.hint.contains("t2"), "{error:?}");
        }
    }
}
