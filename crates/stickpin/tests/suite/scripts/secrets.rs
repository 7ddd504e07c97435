//! A value that is filled in by its name is in no file of stickpin, not even with full logging.
//! Only the app has it.

use super::{Desk, canteen};
use crate::support::{Ran, words};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_testkit::{PageServer, chromium};

const TOKEN: &str = "tok-5f2a91c7e0b3";

/// Runs a command with the secret in its environment, and a daemon with full logging.
fn run(desk: &Desk, line: &str) -> Ran {
    let mut command = desk.world.command(&words(line));
    command.env("STICKPIN_LOG", "trace").env("STICKPIN_SECRET_TOKEN", TOKEN);
    command.output().expect("it runs").into()
}

fn ok(desk: &Desk, line: &str) -> Ran {
    let ran = run(desk, line);
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    assert!(!format!("{ran:?}").contains(TOKEN), "{line} prints the secret: {ran:?}");
    ran
}

/// Returns the files below a folder that contain the secret, except for the app's own.
fn holding(folder: &Path, own: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path == own || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            found.extend(holding(&path, own));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).expect("it can be read");
            let holds = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
            found.extend(holds.then_some(path));
        }
    }
    found
}

/// Records a flow that fills in the secret, replays it with its report, and searches every file.
fn goes_through(desk: &Desk, address: &str, mut received: impl FnMut()) {
    let own = desk.path("app.log");
    ok(desk, &format!("open {address} --record=flow.ad -i"));
    ok(desk, "fill label=Name --secret TOKEN");
    ok(desk, "press text=Order --settle");
    ok(desk, "snapshot");
    ok(desk, "close --save");
    received();
    let script = desk.read("flow.ad");
    assert!(script.contains("--secret=TOKEN"), "{script}");

    let ran = ok(desk, "replay flow.ad --report out/report.html");
    assert!(ran.out.starts_with("passed"), "{ran:?}");
    received();
    // A failed script reports more: the screen at the failure.
    desk.write("late.ad", &script.replace("close\n", "press text=Never\n"));
    let ran = run(desk, "test late.ad --report out/late.html --junit out/late.xml --wait 300");
    assert!(ran.code == 1 && !format!("{ran:?}").contains(TOKEN), "{ran:?}");
    assert!(desk.read("out/late.html").contains("Thank you"), "the report shows the screen");
    received();

    // For a caller without a secret of that name, the error contains the name.
    let ran = desk.run("replay flow.ad --wait 300");
    assert!(ran.code != 0 && format!("{ran:?}").contains("there is no secret"), "{ran:?}");

    let log = desk.world.state_dir().join("daemon");
    let logs = std::fs::read_dir(&log).expect("the daemon's folder").flatten();
    let said: u64 =
        logs.filter_map(|e| e.metadata().ok()).filter(std::fs::Metadata::is_file).map(|m| m.len()).sum();
    assert!(said > 0, "nothing was logged");
    assert_eq!(holding(desk.world.path(), &own), Vec::<PathBuf>::new());
}

#[test]
fn a_secret_of_the_embedded_device_is_in_no_file_but_the_apps() {
    let desk = Desk::new();
    goes_through(&desk, &desk.address(), || {
        let done = desk.received();
        assert_eq!(done, [format!("fill textbox Name {TOKEN}"), "press button Order".to_owned()]);
    });
}

#[cfg(all(feature = "web", target_os = "linux"))]
#[test]
fn a_secret_of_a_page_is_in_no_file() {
    if chromium().is_none() {
        return;
    }
    let desk = Desk::new();
    canteen::page(&desk, "Stew", "Order");
    let pages = PageServer::start(&desk.path("")).expect("a server");
    let address = format!("{}/index.html", pages.origin());
    goes_through(&desk, &address, || {
        let line = format!("order {TOKEN} Monday");
        assert!(pages.wait_for(&line, Duration::from_secs(10)), "{:?}", pages.received());
    });
}
