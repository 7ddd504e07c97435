//! Scripts in other formats, imported and exported: a flow drives the simulated device, and an
//! exported test drives a browser.

use super::stage::Stage;
use std::path::Path;
use std::process::{Command, Output};
use stickpin_replay::RunEnd;
use stickpin_replay::formats::{Format, export};
use stickpin_testkit::PageServer;

const FLOW: &str = "\
appId: sim:shop?clock=virtual
env:
  NAME: Ada
---
- launchApp
- tapOn:
    text: Add to cart
    index: 0
- runFlow:
    when:
      visible: No such thing
    commands:
      - tapOn: No such thing
- tapOn: .*cart (1).*
- assertNotVisible: Your cart is empty
- tapOn: Check out
- tapOn: Name
- inputText: ${NAME}
- eraseText: 1
- tapOn: Email
- inputText: ada@example.com
- scrollUntilVisible:
    element: Place order
- tapOn: Place order
- extendedWaitUntil:
    visible: .*thank.*
    timeout: 3000
";

#[test]
fn a_flow_drives_an_app() {
    let stage = Stage::new();
    stage.write("buy.yaml", FLOW);
    let ran = stage.replay_keeping("buy.yaml");
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}", ran.end);
    let received: Vec<String> = stage
        .received()
        .into_iter()
        .filter(|(event, _)| event != "hover")
        .map(|(event, element)| format!("{event} {element}"))
        .collect();
    assert_eq!(
        received,
        [
            "press add lamp",
            "press cart link",
            "press link Check out",
            "press textbox Name",
            "type textbox Name",
            "key textbox Name",
            "press textbox Email",
            "type textbox Email",
            "press button Place order"
        ]
    );
}

#[test]
fn a_flow_that_finds_something_else_diverges_with_its_line() {
    let stage = Stage::new();
    stage.write("buy.yaml", "appId: sim:shop\n---\n- launchApp\n- tapOn:\n    text: Add to cart\n");
    let ran = stage.replay("buy.yaml");
    let RunEnd::Diverged(divergence) = ran.end else { panic!("{:?}", ran.end) };
    // Several elements match, and none is chosen.
    assert_eq!(divergence.at.line, 4);
    assert_eq!(divergence.error.code, stickpin_kernel::ErrorCode::AmbiguousMatch);
    assert!(stage.received().iter().all(|(event, _)| event != "press"));
}

#[test]
fn an_exported_flow_drives_the_same_app() {
    let stage = Stage::new();
    stage.write(
        "sign.ad",
        "env WHO=ada@example.com\nopen sim:signin?clock=virtual\n\
         fill label=Email ${WHO}\nfill \"role=textbox label=Password\" \"a: \\\"b\\\"\"\n\
         check \"label=\\\"Remember me\\\"\"\ncheck \"label=\\\"Remember me\\\"\"\n\
         is checked \"label=\\\"Remember me\\\"\"\npress label=Continue\nclose\n",
    );
    let exported =
        export(&stage.path("sign.ad"), Format::Maestro, &stickpin_replay::read_script).expect("a script");
    assert!(exported.notes.iter().all(|note| !note.omitted), "{}", exported.text);
    stage.write("sign.yaml", &exported.text);
    let ran = stage.replay_keeping("sign.yaml");
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}\n{}", ran.end, exported.text);
    let received: Vec<String> =
        stage.received().into_iter().map(|(event, what)| format!("{event} {what}")).collect();
    let boxes = received.iter().filter(|what| **what == "press checkbox Remember me").count();
    assert_eq!(boxes, 1, "a checked box is not pressed again: {received:?}");
    assert_eq!(received.last().map(String::as_str), Some("press button Continue"));
}

/// The page reports its input in order and waits for each request, before anything else happens.
const SHOP: &str = r#"<!doctype html><meta charset=utf-8><title>Shop</title>
<h1>Sign in</h1>
<form onsubmit="event.preventDefault(); say('signed in ' + user.value + ' ' + pass.value + ' ' + news.checked + ' ' + city.value); welcome.textContent = 'Welcome, ' + user.value">
  <label>Name <input id="user" data-testid="user-name"></label>
  <label>Password <input id="pass" type="password"></label>
  <label><input type="checkbox" id="news"> News</label>
  <label>City <select id="city"><option>Graz<option>Linz</select></label>
  <button>Sign in</button>
</form>
<h2 id="welcome"></h2>
<ul>
  <li>Mail 1 <button onclick="say('delete 1'); this.closest('li').remove()">Delete</button></li>
  <li>Mail 2 <button onclick="say('delete 2'); this.closest('li').remove()">Delete</button></li>
  <li>Mail 20 <button onclick="say('delete 20'); this.closest('li').remove()">Delete</button></li>
</ul>
<button id="more" onclick="say('more')">More</button>
<button onclick="box.show()">Ask</button>
<dialog id="box"><button onclick="say('ok in dialog'); box.close()">OK</button></dialog>
<button>OK</button>
<iframe title="Payment" srcdoc='<button onclick="parent.say(`paid`)">Pay</button>'></iframe>
<a href="/orders.html">Orders</a>
<div style="height: 3000px"></div>
<p id="end" onclick="say('end')">The end</p>
<script>function say(text) { const told = new XMLHttpRequest(); told.open('POST', '/__log', false); told.send(text); }</script>"#;

/// A script in agent-device's format, for the shop.
const THEIRS: &str = r#"context platform=sim timeout=60000 device="any"
env APP="sim:shop?clock=virtual"
open "${APP}" --relaunch
snapshot -i -c
# agent-device:target-v1 {"role":"button","label":"Add to cart","verification":"verified"}
click label="Add to cart" row="Oak lamp" role=button
wait "Cart (1)" 5000
wait 20
scroll down 0.6
find "Cart (1)" click
is visible label="Check out" role=link
click "label=\"Check out\""
fill label="Name" role="text-field" "Ada Lovelace"
fill "label=\"Email\"" "${AD_FILENAME}@example.com"
wait absent label="No such thing" role=button 500
press label="Place order" hittable
wait text "Thank you" 5000
close com.example.shop
"#;

#[test]
fn a_script_of_agent_device_drives_an_app() {
    let stage = Stage::new();
    stage.write("buy.ad", THEIRS);
    let mut vars = stickpin_replay::Vars::default();
    vars.built_in.insert("AD_FILENAME".to_owned(), "buy.ad".to_owned());
    let ran = stage.replay_with("buy.ad", &vars, true);
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}", ran.end);
    let received: Vec<String> =
        stage.received().into_iter().map(|(event, what)| format!("{event} {what}")).collect();
    for act in [
        "press add lamp",
        "press cart link",
        "fill textbox Name",
        "fill textbox Email",
        "press button Place order",
    ] {
        assert!(received.iter().any(|what| what == act), "{act}: {received:?}");
    }
}

/// A script in agent-device's format, for a web page.
const THEIRS_WEB: &str = r#"context platform=web
open "${BASE}/shop.html"
wait "Sign in" 5000
fill id="user" "Ada Lovelace"
fill label="Password" role=text-field secret
click label="News" role="check-box"
press label="Sign in" role=button
wait text "Welcome, Ada" 5000
click role=button label="Delete" row="Mail 2"
wait absent text="Mail 2" 3000
scroll down --until id="end"
click id=end hittable
scroll top
is visible role=heading label="Sign in"
find "More" click
close
"#;

#[test]
fn a_script_of_agent_device_drives_a_page() {
    let Some(web) = stickpin_testkit::chromium() else { return };
    let stage = Stage::with(vec![std::sync::Arc::new(web)]);
    stage.write("shop.html", SHOP);
    let server = PageServer::start(&stage.path("")).expect("a server");
    stage.write("shop.ad", THEIRS_WEB);
    let mut vars = stickpin_replay::Vars::default();
    vars.set_from_pair(&format!("BASE={}", server.origin())).expect("a variable");
    let ran = stage.replay_with("shop.ad", &vars, false);
    assert!(matches!(ran.end, RunEnd::Passed), "{:?}", ran.end);
    assert_eq!(server.received(), ["signed in Ada Lovelace secret true Graz", "delete 2", "end", "more"]);
}

/// Commands that a person would record on that page, and some that no other tool has.
const SCRIPT: &str = r#"context platform=web timeout=30000
env BASE=http://127.0.0.1:1 WHO=ada
"#;

/// The rest of the script.
const STEPS: &str = r#"open "${BASE}/shop.html"
snapshot -i
# Sign in
# target textbox "Name"
fill "id=user-name || role=textbox label=Name" "${WHO}"
fill "role=textbox label=Password" "${PASSWORD:-it's \"secret\"}"
fill label=Password --secret SHOP
fill "id=nothing || label=Name" ada
check label=News
is checked "role=checkbox label=News"
is value label=Name ada
is hidden label=Nothing
select "role=combobox label=City" Linz
press "role=button label=\"Sign in\"" --settle
wait "role=heading text~=WELCOME" --timeout=3000
is text id=welcome "Welcome, ada"
is value id=user ada
press "role=button label=Delete row=\"Mail 2\""
wait absent "text=\"Mail 2\""
repeat 3 {
  press id=more
}
if visible "role=button label=Ask" {
  press "role=button label=Ask"
}
if hidden id=box {
  press id=nothing
}
press "role=button label=OK in(role=dialog)"
is visible "label=Pay in(role=iframe label=Payment)"
is absent "label=Nothing in(role=iframe label=Payment)"
press "role=button label=Pay in(role=iframe label=Payment)"
press id=user
key Control+a
type -- --new
is value id=user --new
scroll down --until=id=end
press "text=\"The end\""
retry 2 {
  press "role=link label=Orders"
  wait url /orders
}
wait text "three orders"
back
wait url "/shop*"
"#;

#[test]
fn an_exported_test_is_type_checked_and_drives_a_browser() {
    let (Some(npm), Some(chromium)) = (stickpin_testkit::npm(), stickpin_testkit::chromium_path()) else {
        return;
    };
    let pages = tempfile::tempdir().expect("a folder");
    std::fs::write(pages.path().join("shop.html"), SHOP).expect("a page");
    std::fs::write(pages.path().join("orders.html"), "<!doctype html><h1>You have three orders</h1>")
        .expect("a page");
    let server = PageServer::start(pages.path()).expect("a server");

    // Below the packages, where Node.js finds them.
    let folder = tempfile::tempdir_in(&npm).expect("a folder");
    let script = format!("{}{STEPS}", SCRIPT.replace(" WHO=", "\nenv WHO="));
    let exported =
        export(Path::new("shop.ad"), Format::Playwright, &|_| Ok(script.clone())).expect("a script");
    let left_out: Vec<&str> = exported.notes.iter().filter(|n| n.omitted).map(|n| n.line.as_str()).collect();
    assert_eq!(left_out, ["snapshot -i"], "{}", exported.text);
    std::fs::write(folder.path().join("shop.spec.ts"), &exported.text).expect("a test");
    let config = format!(
        "export default {{ reporter: 'line', workers: 1, outputDir: 'out', use: {{ launchOptions: {{ executablePath: {}, args: ['--no-sandbox', '--disable-background-networking'] }} }} }};",
        serde_json::json!(chromium)
    );
    std::fs::write(folder.path().join("playwright.config.mjs"), config).expect("a file");

    let tsc = [
        "typescript/bin/tsc",
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--types",
        "node",
        "shop.spec.ts",
    ];
    done(&run(&npm, folder.path(), &tsc, &server), &exported.text);
    done(&run(&npm, folder.path(), &["@playwright/test/cli.js", "test"], &server), &exported.text);
    assert_eq!(
        server.received(),
        ["signed in ada s3cret true Linz", "delete 2", "more", "more", "more", "ok in dialog", "paid", "end"],
        "{}",
        exported.text
    );

    // The exported test can fail: on another page, it does.
    std::fs::write(pages.path().join("shop.html"), SHOP.replace("'Welcome, '", "'Hello, '")).expect("a page");
    let output = run(&npm, folder.path(), &["@playwright/test/cli.js", "test"], &server);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn run(npm: &Path, folder: &Path, args: &[&str], server: &PageServer) -> Output {
    let mut command = Command::new("node");
    command.arg(npm.join("node_modules").join(args[0])).args(&args[1..]).current_dir(folder);
    command.env("STICKPIN_VAR_BASE", server.origin()).env("STICKPIN_SECRET_SHOP", "s3cret").env("CI", "1");
    command.output().expect("node runs")
}

fn done(output: &Output, text: &str) {
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].map(String::from_utf8_lossy).join("\n");
    assert!(output.status.success(), "{said}\n{text}");
}
