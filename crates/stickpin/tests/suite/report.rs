//! The page that `test --report` writes, opened from disk and driven by a test script. The results
//! are queried from the page itself.

use crate::support::World;

/// An app whose texts contain markup.
const APP: &str = r#"
title = "</title><script>pwned = 1</script>"
about = "Markup"
start = "/"
[state]
count = 0
[screens.main]
url = "/"
title = "</script><script>pwned = 1</script>"
view = '''
main
  h1 "</pre></script><script>pwned = 1</script>"
  button "<img src=x onerror=pwned=1>" press=set(count, count + 1)
  p "' onmouseover='pwned=1 {count}"
'''
"#;

const PASSES: &str = "\
open \"sim:${APP}\"
press \"role=button text~=onerror\"
get text role=heading
wait text onmouseover
close
";

/// Diverges at step 3, and reports the recorded target.
const FAILS: &str = "\
context retries=1
open sim:shop?clock=virtual
press \"role=button label=\\\"Add to cart\\\" row=\\\"Oak lamp\\\"\"
# target link \"Basket\" in row \"<b>\"
press \"role=link label=Basket || text=Checkout\"
close
";

/// Keyboard input on the page, and the state that the page then reports. `f1` is the script that
/// fails, `f2` the one with markup in its app, `f3` the one that cannot be read.
const DRIVES: &str = r##"context platform=web timeout=60000
open "${PAGE}" --viewport=${SIZE}
wait "role=heading text=\"2 of 3 scripts did not pass\""
# Nothing was loaded, and no script of an app ran.
wait fn "typeof pwned === 'undefined' && performance.getEntriesByType('resource').every((e) => e.name.startsWith('data:'))"
wait fn "document.documentElement.scrollWidth <= innerWidth"
wait fn "[...document.images].every((i) => i.complete && i.naturalWidth > 0) && document.images.length >= 6"
is visible "role=heading text=\"Step 3 did not find what was recorded\""
is exists "role=link text~=flows/b-markup"
# The step that failed is open, the others are not; j, Enter, arrows.
wait fn "document.querySelector('#f1a2s3').open && !document.querySelector('#f1a2s1').open"
key j
wait fn "document.activeElement.closest('.step').id === 'f1a2s1'"
key Enter
wait fn "document.querySelector('#f1a2s1').open"
key ArrowDown
key ArrowRight
wait fn "document.querySelector('#f1a2s2').open && document.activeElement.closest('.step').id === 'f1a2s2'"
key ArrowLeft
wait fn "!document.querySelector('#f1a2s2').open"
key k
wait fn "document.activeElement.closest('.step').id === 'f1a2s1'"
key f
wait fn "document.activeElement.closest('.step').id === 'f1a2s3'"
key n
wait fn "document.activeElement.id === 'f2'"
key p
wait fn "document.activeElement.id === 'f1'"
# Refs stand over what they name: a ref that is pointed at lights its frame in the picture of its step.
wait fn "document.querySelectorAll('#f1a2s3 .refs g').length > 3"
key r
wait fn "getComputedStyle(document.querySelector('.refs')).display === 'none'"
key r
hover "css=\"#f1a2 .screen b[data-ref]\" nth=1"
wait fn "document.querySelectorAll('#f1a2s3 .refs .hot').length === 1"
# Filters.
press css="[data-filter=passed]"
wait fn "document.querySelector('#f1').hidden && !document.querySelector('#f2').hidden"
press "css=\"[data-filter='']\""
wait fn "!document.querySelector('#f1').hidden"
key ?
wait "role=dialog label=Keys"
press "role=button label=Close in(role=dialog)"
wait absent role=dialog
# A picture grows, and goes back.
press css="#f1a2s3 .zoom"
wait fn "document.querySelector('#f1a2s3 .shot').clientWidth > document.querySelector('#f1a2s3').clientWidth * 0.8"
wait fn "typeof pwned === 'undefined'"
close
"##;

#[test]
fn a_script_drives_the_page_of_a_report() {
    if stickpin_testkit::chromium_path().is_none() {
        return;
    }
    let world = World::new();
    let shop = world.path().join("shop");
    std::fs::write(world.path().join("hostile.toml"), APP).expect("a file");
    std::fs::create_dir(shop.join("flows")).expect("a folder");
    for (name, text) in
        [("a-diverges.ad", FAILS), ("b-markup<b>.ad", PASSES), ("c-unread.ad", "frobnicate \"<i>\"\n")]
    {
        std::fs::write(shop.join("flows").join(name), text).expect("a script");
    }
    let app = format!("APP={}", world.path().join("hostile.toml").display());
    let ran = world.run(&["test", "flows", "-e", &app, "--report", "out/report.html", "--wait", "300"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let left: Vec<_> =
        std::fs::read_dir(shop.join("out")).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["report.html"], "nothing else is left");

    std::fs::write(shop.join("drive.ad"), DRIVES).expect("a script");
    let page = shop.join("out/report.html");
    let page = format!("PAGE=file://{}", page.display());
    for size in ["SIZE=1280x800", "SIZE=390x844"] {
        let ran = world.run(&["replay", "drive.ad", "-e", &page, "-e", size]);
        assert_eq!(ran.code, 0, "{size}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_script_is_exported_by_a_command() {
    let world = World::new();
    let script = world.path().join("shop/a.ad");
    std::fs::write(&script, "open http://127.0.0.1:1/\npress id=go\nget title\n").expect("a script");
    let printed = world.ok("replay export a.ad --format playwright");
    assert!(printed.contains("await byId(page, 'go').click();"), "{printed}");
    assert!(printed.contains("// Left out: get title"), "{printed}");
    let said = world.ok("replay export a.ad --format maestro --out out/a.yaml");
    assert!(said.contains("a.ad:3 get title (`get title` has no counterpart)"), "{said}");
    let flow = std::fs::read_to_string(world.path().join("shop/out/a.yaml")).expect("a flow");
    assert!(flow.starts_with("url: \"http://127.0.0.1:1/\"\n"), "{flow}");
    let json = world.run(&["replay", "export", "a.ad", "--format", "maestro", "--json"]).json();
    assert_eq!(json["output"]["notes"][0]["omitted"], true, "{json}");
    let refused = world.run(&["replay", "export", "missing.ad", "--format", "maestro"]);
    assert!(refused.code != 0 && refused.err.contains("missing.ad"), "{refused:?}");
}
