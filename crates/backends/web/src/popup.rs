//! Closes a popup list that was opened but not used.

use crate::act;
use crate::driven::DrivenBrowser;
use serde::de::IgnoredAny;
use stickpin_device::{
    Action, AimOptions, CancellationToken, Delivery, HitResult, InputOutcome, Modifiers, Result, Ticket,
};
use stickpin_tree::Handle;
use stickpin_webpage::agent::PopupAnswer;
use stickpin_webpage::read::page::DocumentElement;
use stickpin_webpage::tab::frames;

/// Closes the list that a press on an element opened. Returns whether a list was open and is now
/// closed. Presses the element again if it reports itself as expanded, unless it is a text field.
/// Otherwise, or if the press does not close the list, sends Escape, provided that the element or
/// the list has the focus. Lists in `older` were already open and are ignored.
pub(crate) async fn close_popup(web: &mut DrivenBrowser, opener: Handle, older: &[Handle]) -> Result<bool> {
    if web.dialog().is_some() {
        return Ok(false);
    }
    let Some(DocumentElement { world, id }) = web.page.element(opener)? else { return Ok(false) };
    let older: Vec<u64> = older.iter().filter(|h| h.scope == opener.scope).map(|h| h.id).collect();
    let mut opened: Option<PopupAnswer> = web.page.tab.call(&world, "opened", (id, &older)).await?;
    let Some(PopupAnswer { press, .. }) = opened else { return Ok(false) };
    if press {
        if press_opener(web, opener).await?
            && web.page.tab.call::<bool>(&world, "folded", (id, &older, true)).await?
        {
            return Ok(true);
        }
        // The press may have opened another list instead.
        opened = web.page.tab.call(&world, "opened", (id, &older)).await?;
    }
    let Some(PopupAnswer { expanded, key, .. }) = opened else { return Ok(true) };
    if !key || !frames::has_keys(&web.page.tab, &world).await? {
        return Ok(false);
    }
    web.page.tab.call::<IgnoredAny>(&world, "expectEscape", (id, &older)).await?;
    let escape = Action::Key { modifiers: Modifiers::default(), key: "Escape".to_owned() };
    act::commit(web, &escape, &Ticket::default(), &CancellationToken::new()).await?;
    Ok(web.page.tab.call(&world, "folded", (id, &older, expanded)).await?)
}

/// Presses an element if nothing covers it. Returns false if the element is covered, or is known
/// not to have received the press.
async fn press_opener(web: &mut DrivenBrowser, target: Handle) -> Result<bool> {
    let aim = act::aim(web, target, AimOptions::PLAIN_PRESS).await?;
    if aim.hit != HitResult::Target {
        return Ok(false);
    }
    let press = Action::press(aim.point, Some(target));
    let InputOutcome { delivery: landed, .. } =
        act::commit(web, &press, &Ticket::default(), &CancellationToken::new()).await?;
    Ok(!matches!(landed, Delivery::Elsewhere { .. } | Delivery::Changed { .. }))
}
