//! Pointer, keys, windows, screenshots and clipboard on a real server, checked by what another
//! client received.

use super::window::TestWindow;
use super::{address, connect, desktop, probes, soon};
use crate::focus::KeyDelivery;
use crate::{
    PrivateDisplay, Visibility, Window, X11, clipboard, focus, keyboard, pings, pointer, screenshot,
    window_manager, windows,
};
use stickpin_device::{Button, Modifiers};
use stickpin_tree::Rect;

const PLACE: (i16, i16, u16, u16) = (100, 120, 300, 200);

struct Stage {
    private: PrivateDisplay,
    x11: X11,
    window: TestWindow,
    _dir: tempfile::TempDir,
}

impl Stage {
    async fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let private = desktop(dir.path()).await?;
        let x11 = connect(&private).await;
        let window = TestWindow::show(&private, "Büro", PLACE);
        Some(Self { private, x11, window, _dir: dir })
    }

    fn other(&self, title: &str, place: (i16, i16, u16, u16)) -> TestWindow {
        TestWindow::show(&self.private, title, place)
    }

    async fn windows(&self) -> Vec<Window> {
        self.x11.run(windows::list_windows).await.unwrap()
    }

    async fn window(&self, id: u32) -> Window {
        self.windows().await.into_iter().find(|w| w.id == id).expect("a window")
    }

    async fn end(self) {
        let Self { mut private, x11, window, _dir } = self;
        drop((window, x11));
        private.end().await.unwrap();
    }
}

#[tokio::test]
async fn who_asks_whether_the_pointer_is_held_takes_nothing() {
    let Some(stage) = Stage::new().await else { return };
    let held = || stage.x11.run(|d| pointer::is_grabbed(d));
    assert!(!held().await.unwrap());
    stage.window.hold_pointer(true);
    assert!(held().await.unwrap());
    stage.window.hold_pointer(false);
    assert!(!held().await.unwrap() && !held().await.unwrap());
    // A connection with its own pointer, which also checks the core pointer, grabs nothing either.
    let own = X11::connect(address(&stage.private, true), soon()).await.unwrap();
    stage.window.hold_pointer(true);
    assert!(own.run(|d| pointer::is_grabbed(d)).await.unwrap());
    stage.window.hold_pointer(false);
    assert!(!own.run(|d| pointer::is_grabbed(d)).await.unwrap());
    drop(own);
    stage.end().await;
}

#[tokio::test]
async fn keys_for_a_window_are_not_sent_during_a_keyboard_grab() {
    let Some(stage) = Stage::new().await else { return };
    let menu = stage.other("Menu", (700, 120, 300, 200));
    let own = X11::connect(address(&stage.private, true), soon()).await.unwrap();
    let id = stage.window.id;
    let key = async |x11: &X11, name: &'static str, popup| {
        let none = Modifiers::default();
        x11.run(move |d| focus::send_chord_to_window(d, id, none, name, popup)).await.unwrap()
    };
    assert_eq!(key(&stage.x11, "a", false).await, KeyDelivery::Delivered);
    stage.window.next("key 61");
    menu.hold_keyboard(true);
    assert_eq!(key(&stage.x11, "Enter", false).await, KeyDelivery::KeyboardGrabbed);
    // A connection with its own keyboard is affected by a grab of the core keyboard only if a popup
    // of the same process is open.
    assert_eq!(key(&own, "Enter", true).await, KeyDelivery::KeyboardGrabbed);
    assert_eq!(key(&own, "b", false).await, KeyDelivery::Delivered);
    stage.window.next("key 62");
    // Escape closes the popup.
    assert_eq!(key(&stage.x11, "Escape", true).await, KeyDelivery::Delivered);
    assert_eq!(menu.next("key "), "ff1b 0");
    menu.hold_keyboard(false);
    assert_eq!(key(&stage.x11, "c", false).await, KeyDelivery::Delivered);
    assert_eq!(stage.window.next("key "), "63 0");
    drop((own, menu));
    stage.end().await;
}

#[tokio::test]
async fn windows_are_known_by_process_title_and_place() {
    let Some(stage) = Stage::new().await else { return };
    let window = stage.window(stage.window.id).await;
    assert_eq!((window.title.as_str(), window.pid), ("Büro", Some(std::process::id())));
    assert_eq!((window.area.width, window.area.height), (300.0, 200.0));
    assert_eq!(window.visibility, Visibility::Shown);
    assert!(window.decoration.top > 0 && window.frame != window.id && !window.popup, "{window:?}");
    // A window that partly covers the first one.
    let over = Rect { x: window.area.x + 150.0, y: window.area.y, ..window.area };
    let place = (over.x as i16, over.y as i16, 300, 200);
    let above = stage.other("Above", place);
    let mut windows = stage.windows().await;
    while !windows.iter().any(|w| w.id == above.id && w.active) {
        tokio::task::yield_now().await;
        windows = stage.windows().await;
    }
    let at = |id| windows.iter().position(|w| w.id == id).unwrap();
    assert!(at(above.id) > at(stage.window.id), "{windows:?}");
    assert!(!windows[at(stage.window.id)].active);
    let (x, y) = (window.area.x + 10.0, window.area.y + 100.0);
    let (left, right) = stage
        .x11
        .run(move |d| Ok((windows::toplevel_at(d, x, y)?, windows::toplevel_at(d, x + 250.0, y)?)))
        .await
        .unwrap();
    assert_eq!(left, Some(window.frame));
    assert_eq!(right, Some(windows[at(above.id)].frame));
    assert_eq!(stage.x11.run(|d| windows::toplevel_at(d, 1279.0, 899.0)).await.unwrap(), None);
    // After it is raised, the lower window is hit.
    let low = windows[at(stage.window.id)].clone();
    assert!(stage.x11.run(move |d| window_manager::raise(d, &low)).await.unwrap());
    let frame = stage.x11.run(move |d| windows::toplevel_at(d, x + 250.0, y)).await.unwrap();
    assert_eq!(frame, Some(window.frame));
    drop(above);
    stage.end().await;
}

#[tokio::test]
async fn window_list_is_refreshed_after_changes() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.window.id;
    let before = stage.window(id).await;
    stage.window.rename("Werkstatt");
    let renamed = stage.window(id).await;
    assert_eq!((before.title.as_str(), renamed.title.as_str()), ("Büro", "Werkstatt"));
    // The window manager moves the window.
    let (x, y) = (before.area.x + 40.0, before.area.y + 60.0);
    stage.window.move_to(x as i32, y as i32);
    while stage.window(id).await.area.x == before.area.x {
        tokio::task::yield_now().await;
    }
    let other = stage.other("Other", (500, 500, 100, 100));
    let other_id = other.id;
    while !stage.windows().await.iter().any(|w| w.id == other_id) {
        tokio::task::yield_now().await;
    }
    drop(other);
    while stage.windows().await.iter().any(|w| w.id == other_id) {
        tokio::task::yield_now().await;
    }
    stage.end().await;
}

#[tokio::test]
async fn a_window_is_moved_by_so_much() {
    let Some(stage) = Stage::new().await else { return };
    let window = stage.window(stage.window.id).await;
    let before = window.area;
    assert!(stage.x11.run(move |d| window_manager::move_by(d, &window, (-70.0, 30.0))).await.unwrap());
    let now = stage.window(stage.window.id).await.area;
    assert_eq!((now.x - before.x, now.y - before.y), (-70.0, 30.0));
    stage.end().await;
}

#[tokio::test]
async fn a_minimised_window_is_known_and_comes_back() {
    let Some(stage) = Stage::new().await else { return };
    stage.window.minimise();
    let mut window = stage.window(stage.window.id).await;
    while window.visibility != Visibility::Minimised {
        tokio::task::yield_now().await;
        window = stage.window(stage.window.id).await;
    }
    assert!(stage.x11.run(move |d| window_manager::raise(d, &window)).await.unwrap());
    let window = stage.window(stage.window.id).await;
    assert_eq!(window.visibility, Visibility::Shown);
    assert!(stage.x11.run(move |d| window_manager::resize(d, &window, 420, 260)).await.unwrap());
    assert_eq!(stage.window(stage.window.id).await.content().width, 420.0);
    stage.end().await;
}

#[tokio::test]
async fn the_pointer_goes_where_it_is_sent_and_presses_there() {
    let Some(stage) = Stage::new().await else { return };
    let Rect { x, y, .. } = stage.window(stage.window.id).await.area;
    let id = stage.window.id;
    let at = stage.x11.run(move |d| {
        pointer::move_to(d, x + 20.0, y + 30.0)?;
        keyboard::hold(d, Modifiers { control: true, ..Modifiers::default() }, true)?;
        pointer::press(d, Button::Right)?;
        pointer::release(d, Button::Right)?;
        keyboard::hold(d, Modifiers { control: true, ..Modifiers::default() }, false)?;
        pointer::wheel(d, 0, 2)?;
        pings::await_delivery(d, id)?;
        probes::pointer_place(d)
    });
    assert_eq!(at.await.unwrap(), (x + 20.0, y + 30.0));
    // Everything has been received by now, so no wait is needed.
    let mut received = stage.window.received();
    received.retain(|line| !line.starts_with("expose") && !line.starts_with("key"));
    let place = format!("move {},{}", x + 20.0, y + 30.0);
    let expected = [place.as_str(), "down 3 4", "up 3", "down 5 0", "up 5", "down 5 0", "up 5"];
    assert_eq!(received, expected);
    stage.end().await;
}

/// Returns the text that the window received, decoded from its keysyms.
fn read(received: Vec<String>) -> String {
    let keys = received.iter().filter_map(|line| line.strip_prefix("key "));
    let syms = keys.map(|line| u32::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap());
    let typed = syms.filter(|sym| !(0xff00..0x0100_0000).contains(sym));
    typed.map(|sym| char::from_u32(sym & 0x00ff_ffff).unwrap()).collect()
}

#[tokio::test]
async fn text_is_typed_with_existing_and_lent_keys() {
    let Some(stage) = Stage::new().await else { return };
    let window = stage.window(stage.window.id).await;
    let id = window.id;
    stage.x11.run(move |d| window_manager::raise(d, &window)).await.unwrap();
    let text = "Grüße aus 東京, ½ €: \"Hi!\" 🦀";
    let typed: Vec<char> = text.chars().collect();
    let count = stage.x11.run(move |d| {
        let count = keyboard::type_text(d, &typed)?;
        pings::await_delivery(d, id)?;
        Ok(count)
    });
    assert_eq!(count.await.unwrap(), text.chars().count());
    assert_eq!(read(stage.window.received()), text);
    stage.end().await;
}

#[tokio::test]
async fn more_characters_than_there_are_keys_are_typed_in_parts() {
    let Some(stage) = Stage::new().await else { return };
    let window = stage.window(stage.window.id).await;
    let id = window.id;
    stage.x11.run(move |d| window_manager::raise(d, &window)).await.unwrap();
    let text: String = ('\u{4e00}'..'\u{4f00}').collect();
    let mut left: Vec<char> = text.chars().collect();
    let mut parts = 0;
    while !left.is_empty() {
        let part = left.clone();
        let typed = stage.x11.run(move |d| {
            let typed = keyboard::type_text(d, &part)?;
            pings::await_delivery(d, id)?;
            Ok(typed)
        });
        left.drain(..typed.await.unwrap());
        parts += 1;
    }
    assert!(parts > 1, "a keyboard with more than 250 spare keys");
    assert_eq!(read(stage.window.received()), text);
    stage.end().await;
}

#[tokio::test]
async fn lent_keys_are_given_back() {
    let Some(stage) = Stage::new().await else { return };
    let spares = |x11: &X11| {
        let x11 = x11.clone();
        async move { x11.run(probes::spare_keys).await.unwrap() }
    };
    let before = spares(&stage.x11).await;
    stage.x11.run(|d| keyboard::type_text(d, &['東', '京'])).await.unwrap();
    assert_eq!(spares(&stage.x11).await.len(), before.len() - 2);
    // A second connection sees that the first one is alive and does not change its keys.
    let second = connect(&stage.private).await;
    assert_eq!(spares(&second).await.len(), before.len() - 2);
    for _ in 0..300 {
        if spares(&stage.x11).await == before {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(spares(&stage.x11).await, before);
    drop(second);
    stage.end().await;
}

#[tokio::test]
async fn chords_hold_their_modifiers() {
    let Some(stage) = Stage::new().await else { return };
    let window = stage.window(stage.window.id).await;
    let id = window.id;
    stage.x11.run(move |d| window_manager::raise(d, &window)).await.unwrap();
    let both = Modifiers { control: true, shift: true, ..Modifiers::default() };
    let known = stage.x11.run(move |d| {
        let known = (
            keyboard::chord(d, both, "Tab")?,
            keyboard::chord(d, Modifiers::default(), "F5")?,
            keyboard::chord(d, both, "Nope")?,
        );
        pings::await_delivery(d, id)?;
        Ok(known)
    });
    assert_eq!(known.await.unwrap(), (true, true, false));
    let received = stage.window.received();
    let keys: Vec<&str> = received.iter().filter_map(|l| l.strip_prefix("key ")).collect();
    // Control, Shift with Control, Tab with both (its second level is another Tab), F5 alone.
    assert_eq!(keys, ["ffe3 0", "ffe1 4", "fe20 5", "ffc2 0"]);
    stage.end().await;
}

#[tokio::test]
async fn a_picture_shows_what_is_on_the_screen() {
    let Some(stage) = Stage::new().await else { return };
    let area = stage.window(stage.window.id).await.area;
    let id = stage.window.id;
    let taken = stage.x11.run(move |d| {
        pings::await_delivery(d, id)?;
        Ok((
            screenshot::take_screenshot(d, area)?,
            screenshot::take_screenshot(d, Rect { x: -50.0, ..area })?,
            screenshot::take_screenshot(d, Rect { x: 5000.0, ..area })?,
        ))
    });
    let (Some(picture), Some(cut), None) = taken.await.unwrap() else { panic!("two pictures") };
    assert_eq!((picture.area.width, picture.area.height), (300.0, 200.0));
    assert!(picture.rgb.chunks_exact(3).all(|p| p == [0x33, 0x66, 0x99]), "{:?}", &picture.rgb[..30]);
    assert_eq!(cut.area, Rect { x: 0.0, width: 250.0, ..area });
    stage.end().await;
}

#[tokio::test]
async fn what_one_puts_on_the_clipboard_the_other_reads() {
    let Some(stage) = Stage::new().await else { return };
    let second = connect(&stage.private).await;
    assert_eq!(second.run(clipboard::read).await.unwrap(), "");
    let text = "zwei\nZeilen 東京".to_owned();
    let ours = text.clone();
    stage.x11.run(move |d| clipboard::write(d, ours)).await.unwrap();
    assert_eq!(second.run(clipboard::read).await.unwrap(), text);
    assert_eq!(stage.x11.run(clipboard::read).await.unwrap(), text);
    second.run(|d| clipboard::write(d, "mine".into())).await.unwrap();
    assert_eq!(stage.x11.run(clipboard::read).await.unwrap(), "mine");
    drop(second);
    stage.end().await;
}

#[tokio::test]
async fn string_on_the_clipboard_is_latin1() {
    let Some(stage) = Stage::new().await else { return };
    let second = connect(&stage.private).await;
    for (text, bytes) in [("Gr\u{fc}n", Some(b"Gr\xfcn".to_vec())), ("\u{6771}", None)] {
        stage.x11.run(move |d| clipboard::write(d, text.into())).await.unwrap();
        let read = second.run(|d| clipboard::ask(d, u32::from(x11rb::protocol::xproto::AtomEnum::STRING)));
        assert_eq!(read.await.unwrap(), bytes, "{text}");
    }
    drop(second);
    stage.end().await;
}

#[tokio::test]
async fn a_clipboard_that_is_not_handed_over_is_not_empty() {
    let Some(stage) = Stage::new().await else { return };
    stage.window.take_clipboard();
    let error = stage.x11.run(clipboard::read).await.unwrap_err();
    assert!(error.message.contains("did not answer within"), "{error}");
    // A text that is too long to be sent is not put on the clipboard either.
    let long = "x".repeat(64 << 20);
    let error = stage.x11.run(|d| clipboard::write(d, long)).await.unwrap_err();
    assert!(error.message.contains("accepts at most"), "{error}");
    stage.end().await;
}

#[tokio::test]
async fn long_text_in_one_part_is_read_whole_or_refused() {
    let Some(stage) = Stage::new().await else { return };
    let length = 15 << 20;
    stage.window.offer_on_clipboard(length);
    assert_eq!(stage.x11.run(clipboard::read).await.unwrap().len(), length);
    stage.window.offer_on_clipboard(17 << 20);
    let read = stage.x11.run(clipboard::read).await.map(|text| text.len());
    let error = read.unwrap_err();
    assert!(error.message.contains("too long to read"), "{error}");
    stage.end().await;
}

#[tokio::test]
async fn job_whose_caller_gave_up_is_skipped() {
    let Some(stage) = Stage::new().await else { return };
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (ran, seen) = std::sync::mpsc::channel::<()>();
    stage.x11.post(move |_| {
        wait.recv().unwrap();
        Ok(())
    });
    {
        let mut given_up = std::pin::pin!(stage.x11.run(move |_| {
            ran.send(()).unwrap();
            Ok(())
        }));
        let polled =
            std::future::poll_fn(|cx| std::task::Poll::Ready(given_up.as_mut().poll(cx).is_pending()));
        assert!(polled.await);
    }
    go.send(()).unwrap();
    stage.x11.run(|_| Ok(())).await.unwrap();
    assert!(seen.try_recv().is_err(), "it ran");
    stage.end().await;
}

#[tokio::test]
async fn on_a_shared_display_the_pointer_is_our_own() {
    let Some(stage) = Stage::new().await else { return };
    stage.x11.run(|d| pointer::move_to(d, 5.0, 6.0)).await.unwrap();
    let Rect { x, y, .. } = stage.window(stage.window.id).await.area;
    let ours = X11::connect(address(&stage.private, true), soon()).await.unwrap();
    // Looking adds no devices: an app that is starting might miss them.
    let looked = ours.run(|d| {
        windows::list_windows(d)?;
        pointer::is_grabbed(d)?;
        probes::count_seats(d)
    });
    assert_eq!(looked.await.unwrap(), 0);
    assert!(ours.run(|d| focus::has_own_keyboard(d)).await.unwrap());
    let id = stage.window.id;
    let text: Vec<char> = "ours".chars().collect();
    ours.run(move |d| {
        pointer::move_to(d, x + 9.0, y + 9.0)?;
        pointer::press(d, Button::Left)?;
        pointer::release(d, Button::Left)?;
        focus::give_keyboard(d, id)?;
        keyboard::type_text(d, &text)?;
        pings::await_delivery(d, id)
    })
    .await
    .unwrap();
    let mut received = Vec::new();
    // A window manager first inspects a press on an inactive window and then passes it on: the keys
    // may arrive before it.
    while !received.contains(&"down 1 0".to_owned()) || read(received.clone()).len() < 4 {
        received.push(stage.window.next(""));
    }
    assert_eq!(read(received), "ours");
    // The user's pointer has not moved.
    assert_eq!(stage.x11.run(|d| probes::pointer_place(d)).await.unwrap(), (5.0, 6.0));
    let masters = |x11: &X11| {
        let x11 = x11.clone();
        async move { x11.run(|d| probes::count_seats(d)).await.unwrap() }
    };
    assert_eq!(masters(&stage.x11).await, 1);
    drop(ours);
    for _ in 0..300 {
        if masters(&stage.x11).await == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(masters(&stage.x11).await, 0);
    stage.end().await;
}

/// Apps look keys up in the mapping of the user's keyboard, whichever keyboard the keys came from.
#[tokio::test]
async fn text_on_a_shared_display_uses_the_users_layout() {
    let Some(stage) = Stage::new().await else { return };
    let spares = || stage.x11.run(probes::spare_keys);
    let before = spares().await.unwrap();
    let ours = X11::connect(address(&stage.private, true), soon()).await.unwrap();
    assert!(ours.run(|d| focus::has_own_keyboard(d)).await.unwrap());
    let id = stage.window.id;
    let text = "zy ZY, Grüße 東京";
    for swapped in [false, true, false] {
        let typed: Vec<char> = text.chars().collect();
        let count = ours.run(move |d| {
            focus::give_keyboard(d, id)?;
            let count = keyboard::type_text(d, &typed)?;
            pings::await_delivery(d, id)?;
            Ok(count)
        });
        assert_eq!(count.await.unwrap(), text.chars().count());
        assert_eq!(read(stage.window.received()), text, "swapped: {swapped}");
        // Meanwhile, the user switches to another layout.
        stage.x11.run(|d| probes::swap_keys(d, 'y', 'z')).await.unwrap();
    }
    // The user gets back the borrowed keys of their keyboard.
    drop(ours);
    for _ in 0..300 {
        if spares().await.unwrap() == before {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(spares().await.unwrap(), before);
    stage.end().await;
}

#[tokio::test]
async fn a_pointer_that_a_crash_left_is_removed() {
    let Some(stage) = Stage::new().await else { return };
    // The name of this pointer contains the id of a window that never existed.
    stage.x11.run(|d| probes::leave_seat_behind(d)).await.unwrap();
    assert_eq!(stage.x11.run(|d| probes::count_seats(d)).await.unwrap(), 1);
    let next = X11::connect(address(&stage.private, true), soon()).await.unwrap();
    assert_eq!(next.run(|d| probes::count_seats(d)).await.unwrap(), 0);
    drop(next);
    stage.end().await;
}

/// One of our processes is killed while its keys and a button are pressed and keys are borrowed.
/// The next process gets the same ids.
#[tokio::test]
async fn keys_left_by_a_kill_are_released_by_the_next_process() {
    let Some(stage) = Stage::new().await else { return };
    let person = || stage.x11.run(|d| Ok((probes::spare_keys(d)?, probes::held_down(d)?)));
    let (spares, nothing) = person().await.unwrap();
    assert_eq!(nothing, 0);
    let shared = || X11::connect(address(&stage.private, true), soon());
    let Rect { x, y, .. } = stage.window(stage.window.id).await.area;
    let id = stage.window.id;
    let both = Modifiers { control: true, shift: true, ..Modifiers::default() };
    let ours = shared().await.unwrap();
    let own = ours.run(move |d| {
        focus::give_keyboard(d, id)?;
        keyboard::type_text(d, &['東', '京'])?;
        pings::await_delivery(d, id)?;
        pointer::move_to(d, x + 9.0, y + 9.0)?;
        keyboard::hold(d, both, true)?;
        pointer::press(d, Button::Left)?;
        let held = probes::held_down(d)?;
        probes::vanish(d)?;
        Ok((d.own, held))
    });
    let (killed, held) = own.await.unwrap();
    assert_ne!(held, 0, "they are down");
    stage.window.received();
    let left = || stage.x11.run(|d| probes::count_seats(d));
    // The killed process held buttons and keys of its own pointer and keyboard; the borrowed keys
    // are on the user's keyboard.
    let (still, held) = person().await.unwrap();
    assert_eq!((still.len(), held, left().await.unwrap()), (spares.len() - 2, 0, 1));
    let next = shared().await.unwrap();
    assert!(next.run(|d| focus::has_own_keyboard(d)).await.unwrap());
    let (again, held) = next.run(|d| Ok((d.own, probes::held_down(d)?))).await.unwrap();
    assert_eq!(again, killed, "the server gives the ids again");
    assert_eq!(held, 0, "its keys and buttons are new ones");
    assert_eq!((left().await.unwrap(), person().await.unwrap()), (1, (spares.clone(), 0)));
    let typed: Vec<char> = "ours".chars().collect();
    next.run(move |d| {
        focus::give_keyboard(d, id)?;
        keyboard::type_text(d, &typed)?;
        pings::await_delivery(d, id)
    })
    .await
    .unwrap();
    assert_eq!(read(stage.window.received()), "ours");
    // A process that is alive is not mistaken for one that has ended.
    let third = shared().await.unwrap();
    assert_eq!(left().await.unwrap(), 1, "that of the second process");
    drop((ours, next, third));
    stage.end().await;
}

#[tokio::test]
async fn a_lent_key_that_a_loaded_layout_took_is_lent_again() {
    let Some(stage) = Stage::new().await else { return };
    let id = stage.window.id;
    let typed = stage.x11.run(move |d| {
        focus::give_keyboard(d, id)?;
        for _ in 0..2 {
            keyboard::type_text(d, &['東'])?;
            pings::await_delivery(d, id)?;
            probes::reset_lent_keys(d)?;
        }
        Ok(())
    });
    typed.await.unwrap();
    assert_eq!(read(stage.window.received()), "東東");
    stage.end().await;
}

/// Borrowed keys are returned on a display without a keyboard of our own, too.
#[tokio::test]
async fn keys_that_a_kill_leaves_lent_are_given_back_by_the_next_one() {
    let Some(stage) = Stage::new().await else { return };
    let spares = || stage.x11.run(probes::spare_keys);
    let before = spares().await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let ours = connect(&stage.private).await;
        assert_eq!(spares().await.unwrap(), before, "those of the one before are free again");
        let killed = ours.run(|d| {
            keyboard::type_text(d, &['東', '京'])?;
            probes::vanish(d)?;
            Ok(d.own)
        });
        ids.push(killed.await.unwrap());
        assert_eq!(spares().await.unwrap().len(), before.len() - 2);
    }
    assert_eq!(ids[0], ids[1], "the server gives the ids again");
    let last = connect(&stage.private).await;
    assert_eq!(spares().await.unwrap(), before);
    drop(last);
    stage.end().await;
}

#[tokio::test]
async fn a_display_that_ends_is_lost() {
    let Some(stage) = Stage::new().await else { return };
    let Stage { mut private, x11, window, _dir } = stage;
    // The test window would panic when its connection breaks.
    drop(window);
    private.end().await.unwrap();
    let error = x11.run(windows::list_windows).await.unwrap_err();
    assert_eq!(error.code, stickpin_device::ErrorCode::BackendLost);
}
