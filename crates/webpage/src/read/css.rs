//! `css=` terms: the browser knows what its selectors match.

use crate::tab::{Fault, Tab, expression};
use serde::Deserialize;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_tree::{Handle, quote};

/// `css(selector)` of the agent.
#[derive(Debug, Deserialize)]
struct Matched {
    #[serde(default)]
    ids: Vec<u64>,
    /// Whether the browser cannot read the selector.
    #[serde(default)]
    bad: bool,
}

/// All elements that a CSS selector matches, in every frame.
pub async fn by_css(tab: &Tab, selector: &str) -> Result<Vec<Handle>> {
    let mut asked = Vec::new();
    for world in tab.worlds().await? {
        asked.push((tab.begin(&world, expression("css", (selector,))?)?, world));
    }
    let mut handles = Vec::new();
    for (asking, world) in asked {
        let matched: Matched = match tab.finish(asking).await {
            // A frame that is being replaced is empty for a moment.
            Err(Fault::WorldGone) if world.parent.is_some() => continue,
            answer => answer?,
        };
        if matched.bad {
            let message = format!("{} is no CSS selector that the browser can read", quote(selector));
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .hint("a selector like css=\"main > a\"; stickpin help selectors"));
        }
        handles.extend(matched.ids.into_iter().map(|id| Handle { scope: world.scope, id }));
    }
    Ok(handles)
}
