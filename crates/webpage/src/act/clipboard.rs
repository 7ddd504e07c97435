//! The clipboard, text only, as pages in this browser see it.

use crate::read::page::Page;
use crate::tab::World;
use serde::Deserialize;
use serde_json::json;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_devtools::protocol::SetPermission;

/// The page's access to the clipboard, before any permission is changed.
#[derive(Debug, Deserialize)]
struct Access {
    /// False for pages from insecure origins (Clipboard API, 4).
    available: bool,
    /// The page's origin; `None` if it is neither http nor https. In that case, permissions are set
    /// for all origins.
    origin: Option<String>,
    /// The permissions that the page lacks, with their current states.
    missing: Vec<(String, String)>,
}

/// The result of a Clipboard API call: the text, or why the call failed.
#[derive(Debug, Deserialize)]
struct Outcome {
    text: Option<String>,
    why: Option<String>,
}

const ACCESS: &str = "(async()=>{const missing=[];for(const name of ['clipboard-read','clipboard-write']){\
    const{state}=await navigator.permissions.query({name});if(state!=='granted')missing.push([name,state])}\
    return{available:!!navigator.clipboard,origin:/^http/.test(location.origin)?location.origin:null,missing}})()";

/// Reads the clipboard, or writes text to it, as the page of this tab. Returns the text that was
/// read; empty after a write. A permission that the origin lacks is granted for this one call and
/// then reset to its previous state.
pub async fn clipboard(page: &mut Page, write: Option<&str>) -> Result<String> {
    let top = page.tab.top_world().await?;
    let access: Access = page.tab.evaluate(&top, ACCESS.to_owned()).await?;
    if !access.available {
        return Err(Error::new(
            ErrorCode::Unsupported,
            "this page has no clipboard: its address is neither https nor localhost",
        )
        .hint("enter text with `fill` or `type`, and read text with `get text`"));
    }
    set_permissions(page, &access, Some("granted")).await?;
    let outcome = call_clipboard(page, &top, write).await;
    // Restore the permissions even when the call failed, so that the page does not keep them.
    set_permissions(page, &access, None).await?;
    let outcome = outcome?;
    outcome.text.ok_or_else(|| {
        let why = stickpin_tree::quote(outcome.why.as_deref().unwrap_or_default());
        Error::new(ErrorCode::Unsupported, format!("the browser refused access to the clipboard: {why}"))
    })
}

/// Sets the missing permissions to `setting` or, if it is `None`, back to their previous states.
async fn set_permissions(page: &Page, access: &Access, setting: Option<&str>) -> Result<()> {
    for (name, before) in &access.missing {
        let permission = json!({ "name": name });
        let setting = setting.unwrap_or(before).to_owned();
        let set = SetPermission { permission, setting, origin: access.origin.clone() };
        let reply = page.tab.client.send(None, &set);
        page.tab.answer(reply).await?;
    }
    Ok(())
}

async fn call_clipboard(page: &Page, top: &World, write: Option<&str>) -> Result<Outcome> {
    let call = match write {
        None => "readText()".to_owned(),
        Some(text) => format!("writeText({})", json!(text)),
    };
    // Focus is emulated, so the tab need not come to the front.
    let script = format!("navigator.clipboard.{call}.then(text=>({{text:text??''}}),e=>({{why:String(e)}}))");
    Ok(page.tab.evaluate(top, script).await?)
}
