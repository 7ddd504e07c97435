//! Files for inputs, choosers and drops: the page reports which ones it received.

use crate::support::Page;
use std::path::PathBuf;
use stickpin_device::{
    Action, AimOptions, CancellationToken, Delivery, Device, ErrorCode, InputOutcome, Notice,
};
use stickpin_tree::{Handle, Role};

/// Logs what inputs and drops received, with the content of the first file.
const SCRIPT: &str = "<script>log=[];const note=async(what,files)=>log.push([what,...[...files].map(f=>f.name),
    files.length?await files[0].text():'-'].join(' '));
    addEventListener('change',e=>{if(e.target.type=='file')note((e.target.id||e.target.name)+(e.isTrusted?'':' untrusted'),e.target.files)})</script>";

fn file(page: &Page, name: &str, content: &str) -> PathBuf {
    // Outside the folder that the browser removes when it ends.
    let path = page.files.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

impl Page {
    async fn give(&mut self, target: Handle, files: &[PathBuf]) -> InputOutcome {
        let input = self.device.files().unwrap().file_input(target).await.unwrap().expect("an input");
        self.perform(&Action::Upload { target: input.input, files: files.to_vec() }).await
    }

    async fn choose(&mut self, target: Handle) -> InputOutcome {
        let point = self.aim(target).await.point;
        self.perform(&Action::Choose { point, target }).await
    }
}

#[tokio::test]
async fn an_input_gets_files_and_says_what_it_holds() {
    let html = format!(
        "<!doctype html><label>CV <input type=file id=cv accept='.pdf,.txt'></label>
        <label>Photos <input type=file id=photos multiple></label>{SCRIPT}"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let (a, b) = (file(&page, "a.txt", "alpha"), file(&page, "b.txt", "beta"));
    let cv = page.find(Role::Button, "CV").await;
    let takes = page.device.files().unwrap().file_input(cv).await.unwrap().unwrap();
    assert_eq!((takes.multiple, takes.accept.as_str(), takes.files.len()), (false, ".pdf,.txt", 0));
    assert_eq!(page.give(cv, std::slice::from_ref(&a)).await.value.as_deref(), Some("a.txt"));
    let photos = page.find(Role::Button, "Photos").await;
    assert_eq!(page.give(photos, &[b.clone(), a.clone()]).await.value.as_deref(), Some("b.txt, a.txt"));
    page.until("log.length==2").await;
    assert_eq!(page.log().await, ["cv a.txt alpha", "photos b.txt a.txt beta"]);
    let holds = page.device.files().unwrap().file_input(photos).await.unwrap().unwrap().files;
    let modified = std::fs::metadata(&b).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!((holds[0].size, u128::from(holds[0].modified)), (4, since));
    page.close().await;
}

#[tokio::test]
async fn hidden_inputs_are_found_through_labels_and_boxes() {
    let html = format!("<!doctype html><label id=l>Choose <input type=file id=a style='display:none'></label>
        <div role=group aria-label=Zone><p>Drop here</p><input type=file id=b hidden></div><button>None</button>{SCRIPT}");
    let Some(mut page) = Page::show(&html).await else { return };
    let f = file(&page, "x.txt", "x");
    let zone = page.find(Role::Group, "Zone").await;
    page.give(zone, std::slice::from_ref(&f)).await;
    let none = page.find(Role::Button, "None").await;
    assert_eq!(page.device.files().unwrap().file_input(none).await.unwrap(), None);
    let label = page.device.script().unwrap().css("#l").await.unwrap()[0];
    page.give(label, &[f]).await;
    page.until("log.length==2").await;
    assert_eq!(page.log().await, ["b x.txt x", "a x.txt x"]);
    page.close().await;
}

#[tokio::test]
async fn a_chooser_that_a_press_opens_is_answered() {
    // The input is created by the press and never added to the document.
    let html = format!("<!doctype html><button onclick=\"const i=document.createElement('input');i.type='file';i.multiple=true;
        i.onchange=()=>note('made',i.files);i.oncancel=()=>log.push('cancel');i.click()\">Attach</button><button>Quiet</button>{SCRIPT}");
    let Some(mut page) = Page::show(&html).await else { return };
    let f = file(&page, "x.txt", "x");
    let attach = page.find(Role::Button, "Attach").await;
    let done = page.choose(attach).await;
    let chooser = done.chooser.expect("a chooser");
    assert!(page.device.files().unwrap().file_input(chooser).await.unwrap().unwrap().multiple);
    page.give(chooser, &[f]).await;
    page.until("log.length==1").await;
    assert_eq!(page.log().await, ["made x.txt x"]);
    let quiet = page.find(Role::Button, "Quiet").await;
    assert_eq!(page.choose(quiet).await.chooser, None);
    page.close().await;
}

#[tokio::test]
async fn a_chooser_that_nobody_expects_is_closed_and_noticed() {
    let html = "<!doctype html><label>CV <input type=file id=cv></label><script>log=[];cv.oncancel=()=>log.push('cancel')</script>";
    let Some(mut page) = Page::show(html).await else { return };
    let cv = page.find(Role::Button, "CV").await;
    assert_eq!(page.press(cv).await.delivery, Delivery::Confirmed);
    page.until("log.length==1").await;
    assert_eq!(page.log().await, ["cancel"]);
    assert!(page.device.notices().await.unwrap().contains(&Notice::FileChooser));
    // A second time: the first chooser leaves nothing behind.
    page.press(cv).await;
    page.until("log.length==2").await;
    page.close().await;
}

#[tokio::test]
async fn files_are_dropped_where_the_page_takes_them_and_nowhere_else() {
    let html = format!(
        "<!doctype html><style>div{{width:200px;height:80px;margin:20px;background:#eee}}</style>
        <div role=region aria-label=Zone id=z>z</div><div role=region aria-label=Plain>p</div>{SCRIPT}<script>
        z.addEventListener('dragover',e=>e.preventDefault());
        z.addEventListener('drop',e=>{{e.preventDefault();note('drop '+e.isTrusted,e.dataTransfer.files)}});
        addEventListener('dragleave',e=>log.push('leave'))</script>"
    );
    let Some(mut page) = Page::show(&html).await else { return };
    let files = vec![file(&page, "x.txt", "xx"), file(&page, "y.txt", "yy")];
    let zone = page.find(Role::Region, "Zone").await;
    let point = page.device.aim(zone, AimOptions::default()).await.unwrap().point;
    let done = page.perform(&Action::Drop { point, target: zone, files: files.clone() }).await;
    assert_eq!((done.handled, done.delivery), (true, Delivery::Confirmed));
    page.until("log.length==1").await;
    assert_eq!(page.log().await, ["drop true x.txt y.txt xx"]);
    let plain = page.find(Role::Region, "Plain").await;
    let point = page.device.aim(plain, AimOptions::default()).await.unwrap().point;
    let done = page.perform(&Action::Drop { point, target: plain, files: files.clone() }).await;
    assert!(!done.handled);
    // Nothing was dropped, and the browser did not open the file.
    assert_eq!(page.truth::<String>("location.pathname").await, "/");
    let action = Action::Drop { point, target: zone, files };
    let done = page.device.perform(&action, &CancellationToken::new()).await.unwrap();
    assert!(matches!(done.delivery, Delivery::Elsewhere { stopped: true, .. }), "{done:?}");
    page.close().await;
}

#[tokio::test]
async fn an_input_that_went_away_gets_nothing() {
    let html = format!("<!doctype html><label>CV <input type=file id=cv></label>{SCRIPT}");
    let Some(mut page) = Page::show(&html).await else { return };
    let cv = page.find(Role::Button, "CV").await;
    page.truth::<serde::de::IgnoredAny>("document.body.innerHTML=''").await;
    let files = vec![file(&page, "x.txt", "x")];
    let gone = page
        .device
        .perform(&Action::Drop { point: (1.0, 1.0), target: cv, files }, &CancellationToken::new())
        .await;
    assert_eq!(gone.unwrap_err().code, ErrorCode::ElementNotFound);
    page.close().await;
}
