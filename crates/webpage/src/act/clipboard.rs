//! The clipboard, as pages of this browser see it: text only.

use crate::read::page::Page;
use crate::tab::World;
use serde::Deserialize;
use serde_json::json;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_devtools::protocol::SetPermission;

/// What the page says before it is asked for the clipboard.
#[derive(Debug, Deserialize)]
struct Access {
    /// False for pages from origins that are not secure (Clipboard API, 4).
    available: bool,
    /// Absent for pages whose origin no permission can be set for: files.
    origin: Option<String>,
    /// The permissions that this page lacks, and the state of each.
    missing: Vec<(String, String)>,
}

/// The outcome of a call of the Clipboard API.
#[derive(Debug, Deserialize)]
struct Outcome {
    text: Option<String>,
    why: Option<String>,
}

const ACCESS: &str = "(async()=>{const missing=[];for(const name of ['clipboard-read','clipboard-write']){\
    const{state}=await navigator.permissions.query({name});if(state!=='granted')missing.push([name,state])}\
    return{available:!!navigator.clipboard,origin:/^http/.test(location.origin)?location.origin:null,missing}})()";

/// Reads the clipboard, or writes a text to it, as the page of this tab. A permission that its origin lacks is
/// granted for this one call and taken back.
pub async fn clipboard(page: &mut Page, write: Option<&str>) -> Result<String> {
    let top = page.tab.top().await?;
    let access: Access = page.tab.evaluate(&top, ACCESS.to_owned()).await?;
    if !access.available {
        return Err(Error::new(
            ErrorCode::Unsupported,
            "this page has no clipboard: its address is not https or localhost",
        )
        .hint("type the text with stickpin fill or type; stickpin get text reads it"));
    }
    set_permissions(page, &access, Some("granted")).await?;
    let outcome = call_clipboard(page, &top, write).await;
    // The page must not keep what it was given for us, also when the call failed.
    set_permissions(page, &access, None).await?;
    let outcome = outcome?;
    outcome.text.ok_or_else(|| {
        let why = stickpin_tree::quote(outcome.why.as_deref().unwrap_or_default());
        Error::new(ErrorCode::Unsupported, format!("the browser refused the clipboard: {why}"))
    })
}

/// Sets the permissions that were missing to `setting`, or back to what they were.
async fn set_permissions(page: &Page, access: &Access, setting: Option<&str>) -> Result<()> {
    for (name, before) in &access.missing {
        let permission = json!({ "name": name });
        let setting = setting.unwrap_or(before).to_owned();
        let set = SetPermission { permission, setting, origin: access.origin.clone() };
        let asked = page.tab.client.send(None, &set);
        page.tab.answer(asked).await?;
    }
    Ok(())
}

async fn call_clipboard(page: &Page, top: &World, write: Option<&str>) -> Result<Outcome> {
    let call = match write {
        None => "readText()".to_owned(),
        Some(text) => format!("writeText({})", json!(text)),
    };
    // Focus is emulated, so that nothing has to come to the front for it.
    let script = format!("navigator.clipboard.{call}.then(text=>({{text:text??''}}),e=>({{why:String(e)}}))");
    Ok(page.tab.evaluate(top, script).await?)
}
