//! File choosers of a real portal, through the real binary: xdg-desktop-portal with its GTK
//! backend. The apps themselves report the files that they received.

use crate::support::shared::{PYTHON, Shared};
use crate::support::{Ran, World, eventually};
use std::path::{Path, PathBuf};
use stickpin_testkit::{desktop, heavy_desktop, skipped, workspace_root};

/// The programs of a portal, at their locations on Debian.
const PORTAL: [&str; 2] = ["/usr/libexec/xdg-desktop-portal", "/usr/libexec/xdg-desktop-portal-gtk"];

/// Returns whether a portal is installed, which is required on a machine that was set up.
fn is_installed() -> bool {
    let missing: Vec<&str> = PORTAL.into_iter().filter(|program| !Path::new(program).is_file()).collect();
    if !missing.is_empty() {
        let why = format!("missing here: {missing:?}; `cargo xtask setup` installs it");
        skipped("STICKPIN_REQUIRE_DESKTOP", why);
    }
    missing.is_empty()
}

fn script() -> String {
    workspace_root().join("fixtures/linux/widgets/app.py").to_str().unwrap().to_owned()
}

/// Returns the file that these tests upload.
fn a_file() -> String {
    workspace_root().join("fixtures/linux/widgets/qt.py").to_str().unwrap().to_owned()
}

fn read(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

#[track_caller]
fn refused(ran: &Ran, code: &str, says: &str) {
    assert!(ran.err.starts_with(&format!("{code}: ")) && ran.err.contains(says), "{ran:?}");
}

/// Returns the file systems that are still mounted in the folders of a test.
fn mounted_in(world: &World) -> Vec<String> {
    let inside = world.path().canonicalize().unwrap().display().to_string();
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap();
    table.lines().filter(|line| line.contains(&inside)).map(str::to_owned).collect()
}

/// The app runs in both versions of GTK, alone on a private display.
#[test]
fn portal_chooser_takes_files_in_its_apps_session() {
    if desktop(&[PYTHON]).is_none() || !is_installed() {
        return;
    }
    for version in ["3", "4"] {
        let world = World::new();
        let log = world.path().join("log");
        let portal = "env GDK_DEBUG=portals GTK_USE_PORTAL=1";
        let app = format!("linux:{portal} {PYTHON} -B {} {version} {} files", script(), log.display());
        world.ok(&format!("open '{app}' --private"));
        world.ok(&format!("upload 'label=\"Attach one\"' {}", a_file()));
        eventually("the app has the file", || read(&log) == "chosen qt.py\n");
        // The chooser is open, and input to the app is refused until it is closed.
        world.ok("press 'label=\"Attach one\"'");
        eventually("it is open", || world.run(&["press", "label=Nothing"]).code == 1);
        let before = read(&log);
        for words in
            [&["press", "label=Nothing"][..], &["press", "label=Nothing", "--count", "2"], &["key", "Enter"]]
        {
            refused(&world.run(words), "ELEMENT_COVERED", "of \"Xdg-desktop-portal-gtk\" (linux:");
        }
        assert_eq!(read(&log), before, "nothing arrived");
        refused(&world.run(&["key", "Escape"]), "ELEMENT_COVERED", "received the input for Escape");
        eventually("it is closed", || read(&log) == format!("{before}chosen -\n"));
        world.ok("press label=Nothing --timeout 5000");
        eventually("a press arrives", || read(&log).ends_with("clicked Nothing\n"));
        let closed = world.run(&["close"]);
        assert!(closed.code == 0 && closed.err.is_empty(), "{closed:?}");
        assert_eq!(mounted_in(&world), Vec::<String>::new());
    }
}

/// Starts an app that shows its choosers through the portal, attached in its own session.
fn app(on: &mut Shared, session: &str) -> PathBuf {
    let log = on.world.path().join(session);
    let mut command = on.desktop.command(PYTHON);
    command.env("GTK_USE_PORTAL", "1").arg("-B").arg(script()).args([
        "3".as_ref(),
        log.as_os_str(),
        "files".as_ref(),
    ]);
    let pid = format!("linux:{}", on.start(&mut command));
    eventually("the app registers", || on.run(&["devices"]).out.contains(&pid));
    on.ok(&["--session", session, "open", "--attach", &pid]);
    log
}

/// A single process shows the choosers of all apps.
#[test]
fn only_the_chooser_of_the_session_gets_the_file() {
    let Some(mut on) = Shared::new(&[PYTHON, "xdotool"]).filter(|_| is_installed()) else { return };
    let ours = app(&mut on, "ours");
    let window = on.window("Widgets");
    let other = app(&mut on, "other");
    on.ok(&["--session", "other", "press", "label=\"Attach several\""]);
    let above = on.window("Attach several");
    let at = |window: &str, x: &str, y: &str| {
        on.xdotool(&["windowmove", window, x, y]);
        on.xdotool(&["getwindowgeometry", window]).contains(&format!("Position: {}", &x[..x.len() - 1]))
    };
    // Repeatedly: a window that was just shown may be placed once more. The frame that the window
    // manager draws also counts.
    eventually("they lie apart", || at(&window, "10", "30") & at(&above, "300", "200"));
    on.ok(&["--session", "ours", "upload", "label=\"Attach one\"", &a_file()]);
    eventually("the app has the file", || read(&ours) == "chosen qt.py\n");
    assert_eq!(read(&other), "", "the chooser of the other app is still open");
    // Nothing distinguishes these two.
    let ran = on.run(&["--session", "ours", "upload", "label=\"Attach several\"", &a_file()]);
    refused(&ran, "UNSUPPORTED", "its process has other windows with this title");
    assert_eq!((read(&ours).as_str(), read(&other).as_str()), ("chosen qt.py\n", ""));
    let closed = on.run(&["--session", "ours", "key", "Escape"]);
    refused(&closed, "ELEMENT_COVERED", "received the input for Escape");
    eventually("ours is closed", || read(&ours) == "chosen qt.py\nchosen -\n");
    assert_eq!(read(&other), "");
}

#[test]
fn firefox_is_given_a_file_through_a_portal() {
    if heavy_desktop(&["firefox-esr"]).is_none() || !is_installed() {
        return;
    }
    let world = World::new();
    let (profile, page) = (world.path().join("profile"), world.path().join("page.html"));
    std::fs::create_dir(&profile).unwrap();
    let settings = "user_pref(\"widget.use-xdg-desktop-portal.file-picker\", 1);\n\
        user_pref(\"browser.shell.checkDefaultBrowser\", false);\n\
        user_pref(\"browser.aboutwelcome.enabled\", false);\n";
    std::fs::write(profile.join("user.js"), settings).unwrap();
    let html = "<!doctype html><title>Files</title><label>Photo <input type=file id=f></label><p id=o>none</p>\
        <script>f.onchange = () => { o.textContent = 'it has ' + f.files[0].name + ' ' + f.files[0].size }</script>";
    std::fs::write(&page, html).unwrap();
    let words = format!("firefox-esr --no-remote -profile {} {}", profile.display(), page.display());
    world.ok(&format!("open 'linux:env GDK_DEBUG=portals {words}' --private"));
    world.ok("wait 'label~=Photo role=button' --timeout 20000");
    world.ok(&format!("upload 'label~=Photo role=button' {}", a_file()));
    let size = std::fs::metadata(a_file()).unwrap().len();
    world.ok(&format!("wait 'text=\"it has qt.py {size}\"'"));
}
