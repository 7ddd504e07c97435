//! Finds the elements that `css=` terms select.

use crate::tab::{Tab, expression};
use serde::Deserialize;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_tree::{Handle, quote};

/// The answer to the agent's `css(selector)`.
#[derive(Debug, Deserialize)]
struct CssAnswer {
    #[serde(default)]
    ids: Vec<u64>,
    /// Whether the browser rejects the selector.
    #[serde(default)]
    bad: bool,
}

/// Returns all elements that match a CSS selector, in every frame.
pub async fn by_css(tab: &Tab, selector: &str) -> Result<Vec<Handle>> {
    let worlds = tab.worlds().await?;
    let requests = tab.send_requests(&worlds, |_| expression("css", (selector,)))?;
    let answers: Vec<Option<CssAnswer>> = tab.finish_all(&worlds, requests).await?;
    let mut handles = Vec::new();
    for (world, matched) in worlds.iter().zip(answers).filter_map(|(world, matched)| Some((world, matched?)))
    {
        if matched.bad {
            let message = format!("{} is not a CSS selector", quote(selector));
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .hint("write a selector such as `css=\"main > a\"`; run `stickpin help selectors`"));
        }
        handles.extend(matched.ids.into_iter().map(|id| Handle { scope: world.scope, id }));
    }
    Ok(handles)
}
