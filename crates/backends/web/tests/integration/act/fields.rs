//! Fields and lists accept what is filled in, and the page receives the events.

use crate::support::Page;
use stickpin_device::{Action, CancellationToken, Device, ErrorCode};
use stickpin_tree::Role;

#[tokio::test]
async fn fill_replaces_clears_and_fires_what_a_browser_fires() {
    let html = "<!doctype html><label>Name <input value=old></label><label>Note <textarea>x</textarea></label>
        <label>Day <input type=date></label><div contenteditable aria-label=Rich role=textbox>r</div><label>Fixed <input readonly value=1></label>
        <script>log=[];for(const t of ['beforeinput','input','change','focusin','keydown'])
        addEventListener(t,e=>log.push(t+' '+(e.inputType||'')+' '+e.isTrusted))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let name = page.find(Role::TextBox, "Name").await;
    assert_eq!(page.fill(name, "Grace Höpper").await.value.as_deref(), Some("Grace Höpper"));
    assert_eq!(page.log().await, ["focusin  true", "beforeinput insertText true", "input insertText true"]);
    assert_eq!(page.fill(name, "").await.value.as_deref(), Some(""));
    assert_eq!(page.truth::<String>("document.querySelector('input').value").await, "");
    let note = page.find(Role::TextBox, "Note").await;
    assert_eq!(page.fill(note, "two\nlines").await.value.as_deref(), Some("two\nlines"));
    let rich = page.find(Role::TextBox, "Rich").await;
    assert_eq!(page.fill(rich, "bold").await.value.as_deref(), Some("bold"));
    let day = page.find(Role::TextBox, "Day").await;
    assert_eq!(page.fill(day, "2026-11-21").await.value.as_deref(), Some("2026-11-21"));
    let fixed = page.find(Role::TextBox, "Fixed").await;
    let action = Action::Fill { target: fixed, text: "2".into() };
    let error = page.device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
    page.close().await;
}

#[tokio::test]
async fn a_focus_that_moves_on_does_not_take_the_text_along() {
    let html = "<!doctype html><label>Name <input id=a onfocus='setTimeout(()=>b.focus())'></label><label>Other <input id=b></label>";
    let Some(mut page) = Page::show(html).await else { return };
    let name = page.find(Role::TextBox, "Name").await;
    page.fill(name, "mine").await;
    assert_eq!(page.truth::<String>("b.value").await, "");
    // Text that is typed afterwards goes to the focused element.
    page.perform(&Action::Type { target: None, text: "x".into() }).await;
    assert_eq!(page.truth::<String>("b.value").await, "x");
    page.close().await;
}

#[tokio::test]
async fn ten_megabytes_are_filled() {
    let Some(mut page) = Page::show("<!doctype html><label>Note <textarea></textarea></label>").await else {
        return;
    };
    let note = page.find(Role::TextBox, "Note").await;
    let text = "0123456789abcdef".repeat(10 * 65536);
    assert_eq!(page.fill(note, &text).await.value.as_deref().map(str::len), Some(text.len()));
    page.close().await;
}

#[tokio::test]
async fn options_of_native_lists_are_chosen() {
    let html = "<!doctype html><label>Size <select><option value=s>Small<option value=m>Medium</select></label><button>No</button>
        <script>log=[];addEventListener('change',e=>log.push(e.target.value))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let size = page.find(Role::Combobox, "Size").await;
    let select = |target, option: &str| Action::Select { target, options: vec![option.to_owned()] };
    let done = page.perform(&select(size, "Medium")).await;
    assert!(done.handled);
    assert_eq!(done.value.as_deref(), Some("Medium"));
    assert_eq!(page.log().await, ["m"]);
    let error = page.device.perform(&select(size, "Huge"), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    assert!(error.hint.contains("Small"), "{}", error.hint);
    let button = page.find(Role::Button, "No").await;
    assert!(!page.perform(&select(button, "x")).await.handled);
    page.close().await;
}

#[tokio::test]
async fn picker_fields_refuse_impossible_values_silently() {
    let html = "<!doctype html><input type=date id=date><input type=time id=time><input type=datetime-local id=local>
        <input type=month id=month><input type=week id=week><input type=color id=color><input type=range id=range min=10 max=20 step=5 value=10>
        <script>log=[];for(const t of ['input','change'])addEventListener(t,e=>log.push(t+' '+e.target.id+' '+e.target.value))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    for (id, text, holds) in [
        ("date", "2026-11-22", "2026-11-22"),
        ("time", "09:30", "09:30"),
        ("local", "2026-11-22 09:30", "2026-11-22T09:30"),
        ("month", "2026-11", "2026-11"),
        ("week", "2026-W47", "2026-W47"),
        ("color", "#AABBCC", "#aabbcc"),
        ("range", "15.0", "15"),
        ("date", "", ""),
    ] {
        let field = page.device.script().unwrap().css(&format!("#{id}")).await.unwrap()[0];
        assert_eq!(page.fill(field, text).await.value.as_deref(), Some(holds), "{id} {text}");
        assert_eq!(page.truth::<String>(&format!("document.getElementById('{id}').value")).await, holds);
        assert_eq!(page.log().await, [format!("input {id} {holds}"), format!("change {id} {holds}")]);
        page.truth::<u32>("log.length=0").await;
    }
    for (id, text, takes) in [
        ("date", "2026-02-30", "a date like"),
        ("time", "9:30", "a time like"),
        ("week", "47", "a week like"),
        ("color", "reddish", "a color like"),
        ("range", "17", "min 10, max 20, step 5"),
        ("range", "", "a number"),
    ] {
        let target = page.device.script().unwrap().css(&format!("#{id}")).await.unwrap()[0];
        let action = Action::Fill { target, text: text.into() };
        let e = page.device.perform(&action, &CancellationToken::new()).await.unwrap_err();
        assert_eq!(e.code, ErrorCode::FillMismatch, "{id} {text}");
        assert!(e.hint.contains(takes), "{id} {text}: {}", e.hint);
    }
    assert!(page.log().await.is_empty(), "{:?}", page.log().await);
    page.close().await;
}

/// An editor that keeps its own model and draws it in the next frame, as Lexical and ProseMirror
/// do.
const EDITOR: &str = "<div contenteditable role=textbox aria-label=Rich id=rich><p>old</p><p>text</p></div><script>
    let model=['old','text'];const draw=()=>requestAnimationFrame(()=>{rich.innerHTML=model.map(t=>`<p>${t||'<br>'}</p>`).join('')});
    rich.addEventListener('beforeinput',e=>{const all=getSelection().toString().length>=model.join('').length;e.preventDefault();
      log.push(e.inputType);if(e.inputType.startsWith('delete'))model=[''];
      else if(e.inputType==='insertText'){const text=(e.data||'').split('\\n');model=all?text:[...model.slice(0,-1),model.at(-1)+text[0],...text.slice(1)]}
      else if(e.inputType.startsWith('insert')){model.push('')}draw()})</script>";

#[tokio::test]
async fn editors_with_a_model_of_their_own_are_filled_and_cleared() {
    let html = format!("<!doctype html><script>log=[]</script>{EDITOR}");
    let Some(mut page) = Page::show(&html).await else { return };
    let rich = page.find(Role::TextBox, "Rich").await;
    assert_eq!(page.fill(rich, "new words").await.value.as_deref(), Some("new words"));
    assert_eq!(page.truth::<Vec<String>>("model").await, ["new words"]);
    assert_eq!(page.fill(rich, "").await.value.as_deref(), Some(""));
    assert_eq!(page.truth::<Vec<String>>("model").await, [""]);
    page.close().await;
}

#[tokio::test]
async fn lines_stay_lines_in_an_editable_element() {
    let html = "<!doctype html><div contenteditable role=textbox aria-label=Rich id=rich><p>old</p></div>";
    let Some(mut page) = Page::show(html).await else { return };
    let rich = page.find(Role::TextBox, "Rich").await;
    page.fill(rich, "one\ntwo").await;
    let text: String = page.truth("rich.innerText.replace(/\\n+/g,'\\n').trim()").await;
    assert_eq!(text, "one\ntwo");
    page.close().await;
}

#[tokio::test]
async fn options_that_read_the_same_are_not_guessed() {
    let html = "<!doctype html><label>City <select id=s><option value=fr>Paris<option value=us>Paris<option value=x disabled>Rome<option value=Same>Same<option value=b>Same</select></label>
        <script>log=[];addEventListener('change',e=>log.push(e.target.value))</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let city = page.find(Role::Combobox, "City").await;
    let select = |option: &str| Action::Select { target: city, options: vec![option.to_owned()] };
    let cancel = CancellationToken::new();
    let e = page.device.perform(&select("Paris"), &cancel).await.unwrap_err();
    assert_eq!(e.code, ErrorCode::AmbiguousMatch);
    assert!(e.hint.contains("\"fr\", \"us\""), "{}", e.hint);
    let e = page.device.perform(&select("Rome"), &cancel).await.unwrap_err();
    assert_eq!(e.code, ErrorCode::ElementDisabled);
    assert_eq!(page.perform(&select("us")).await.value.as_deref(), Some("Paris"));
    // If several options share a label, the value decides.
    page.perform(&select("Same")).await;
    assert_eq!(page.log().await, ["us", "Same"]);
    page.close().await;
}

#[tokio::test]
async fn a_page_that_takes_the_choice_back_is_noticed() {
    let html = "<!doctype html><label>City <select id=s onchange='s.value=\"a\"'><option value=a>A<option value=b>B</select></label>";
    let Some(mut page) = Page::show(html).await else { return };
    let target = page.find(Role::Combobox, "City").await;
    let action = Action::Select { target, options: vec!["B".into()] };
    let e = page.device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(e.code, ErrorCode::FillMismatch);
    page.close().await;
}
