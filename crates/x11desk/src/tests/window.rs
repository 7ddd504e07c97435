//! A minimal window of another client: it has a title, answers pings, and logs the events it
//! receives.

#![allow(dead_code, reason = "two crates include this file, and each uses a part of it")]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use stickpin_x11desk::PrivateDisplay;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{self, ConnectionExt as _};
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt,
    CreateWindowAux, EventMask, GrabMode, GrabStatus, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
    SelectionRequestEvent, WindowClass,
};
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

/// A command to a window's thread.
#[derive(Debug)]
enum Order {
    Minimise,
    /// Answer requests for the clipboard with a text of this length, in one part.
    Offer(usize),
    End,
}

/// `XIAllMasterDevices`.
const ALL_MASTERS: u16 = 1;

/// A window that runs on its own thread.
#[derive(Debug)]
pub(super) struct TestWindow {
    pub(super) id: u32,
    events: Receiver<String>,
    orders: Sender<Order>,
    conn: std::sync::Arc<RustConnection>,
    thread: Option<std::thread::JoinHandle<()>>,
}

fn connect(private: &PrivateDisplay) -> RustConnection {
    let parsed = parse_display(Some(&private.display)).unwrap();
    let stream = parsed.connect_instruction().find_map(|at| DefaultStream::connect(&at).ok()).unwrap().0;
    // The secret is at the end of the file's only entry.
    let entry = std::fs::read(private.runtime().join("xauthority")).unwrap();
    let (method, secret) = (b"MIT-MAGIC-COOKIE-1".to_vec(), entry[entry.len() - 16..].to_vec());
    RustConnection::connect_to_stream_with_auth_info(stream, 0, method, secret).unwrap()
}

x11rb::atom_manager! {
    Names: NamesCookie {
        UTF8_STRING,
        WM_CHANGE_STATE,
        WM_PROTOCOLS,
        _NET_WM_NAME,
        _NET_WM_PING,
    }
}

impl TestWindow {
    /// Shows a window, and returns as soon as it is on the screen.
    pub(super) fn show(private: &PrivateDisplay, title: &str, (x, y, w, h): (i16, i16, u16, u16)) -> Self {
        let conn = std::sync::Arc::new(connect(private));
        // Use XKB as toolkits do, because this affects what the server reports to other clients.
        conn.xkb_use_extension(1, 0).unwrap().reply().unwrap();
        let names = Names::new(&*conn).unwrap().reply().unwrap();
        let screen = &conn.setup().roots[0];
        let id = conn.generate_id().unwrap();
        let mask = EventMask::KEY_PRESS
            | EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::EXPOSURE;
        let aux = CreateWindowAux::new().background_pixel(0x0033_6699).event_mask(mask);
        let class = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, id, screen.root, x, y, w, h, 0, class, 0, &aux).unwrap();
        let text = |name, kind, value: &[u8]| {
            conn.change_property8(PropMode::REPLACE, id, name, kind, value).unwrap();
        };
        text(names._NET_WM_NAME, names.UTF8_STRING, title.as_bytes());
        let hints = [1 | 2 | 4 | 8, x as u32, y as u32, u32::from(w), u32::from(h)];
        let hints: Vec<u32> = hints.into_iter().chain([0; 13]).collect();
        let kind = AtomEnum::WM_SIZE_HINTS;
        conn.change_property32(PropMode::REPLACE, id, AtomEnum::WM_NORMAL_HINTS, kind, &hints).unwrap();
        let protocols = [names._NET_WM_PING];
        conn.change_property32(PropMode::REPLACE, id, names.WM_PROTOCOLS, AtomEnum::ATOM, &protocols)
            .unwrap();
        conn.map_window(id).unwrap();
        let place = ConfigureWindowAux::new().x(i32::from(x)).y(i32::from(y));
        conn.configure_window(id, &place).unwrap();
        conn.flush().unwrap();
        let (said, events) = channel();
        let (orders, todo) = channel();
        let theirs = conn.clone();
        let thread = std::thread::spawn(move || run(&theirs, id, names, &said, &todo));
        let window = Self { id, events, orders, conn, thread: Some(thread) };
        window.until("expose");
        window
    }

    /// Returns the next received event whose text starts with `kind`.
    pub(super) fn next(&self, kind: &str) -> String {
        loop {
            let said =
                self.events.recv_timeout(Duration::from_secs(5)).expect("the window receives something");
            if let Some(rest) = said.strip_prefix(kind) {
                return rest.trim().to_owned();
            }
        }
    }

    fn until(&self, kind: &str) {
        self.next(kind);
    }

    /// Returns the events received so far.
    pub(super) fn received(&self) -> Vec<String> {
        self.events.try_iter().collect()
    }

    /// Grabs the pointer, as an open menu does, or releases it.
    pub(super) fn hold_pointer(&self, on: bool) {
        let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
        if on {
            let held =
                self.conn.grab_pointer(true, self.id, EventMask::BUTTON_PRESS, mode, mode, none, none, now);
            assert_eq!(held.unwrap().reply().unwrap().status, GrabStatus::SUCCESS);
        } else {
            self.conn.ungrab_pointer(now).unwrap().check().unwrap();
        }
    }

    /// Grabs the keyboard, as an open menu does, or releases it.
    pub(super) fn hold_keyboard(&self, on: bool) {
        let (mode, now) = (GrabMode::ASYNC, x11rb::CURRENT_TIME);
        if on {
            let held = self.conn.grab_keyboard(true, self.id, now, mode, mode);
            assert_eq!(held.unwrap().reply().unwrap().status, GrabStatus::SUCCESS);
        } else {
            self.conn.ungrab_keyboard(now).unwrap().check().unwrap();
        }
    }

    /// Takes ownership of the clipboard and never returns its content.
    pub(super) fn take_clipboard(&self) {
        let clipboard = self.conn.intern_atom(false, b"CLIPBOARD").unwrap().reply().unwrap().atom;
        self.conn.set_selection_owner(self.id, clipboard, x11rb::CURRENT_TIME).unwrap().check().unwrap();
    }

    /// Takes ownership of the clipboard and provides a text of this length, in one part.
    pub(super) fn offer_on_clipboard(&self, length: usize) {
        self.order(Order::Offer(length));
        self.take_clipboard();
    }

    pub(super) fn minimise(&self) {
        self.order(Order::Minimise);
    }

    /// Changes the window's title. The display has the new title when this returns.
    pub(super) fn rename(&self, title: &str) {
        let names = Names::new(&*self.conn).unwrap().reply().unwrap();
        let (name, kind) = (names._NET_WM_NAME, names.UTF8_STRING);
        self.conn.change_property8(PropMode::REPLACE, self.id, name, kind, title.as_bytes()).unwrap();
        self.conn.get_input_focus().unwrap().reply().unwrap();
    }

    /// Requests a new position.
    pub(super) fn move_to(&self, x: i32, y: i32) {
        self.conn.configure_window(self.id, &ConfigureWindowAux::new().x(x).y(y)).unwrap();
        self.conn.flush().unwrap();
    }

    fn order(&self, order: Order) {
        self.orders.send(order).unwrap();
        // An event that the window sends to itself wakes its thread.
        let wake = ClientMessageEvent::new(32, self.id, AtomEnum::NOTICE, [0; 5]);
        self.conn.send_event(false, self.id, EventMask::NO_EVENT, wake).unwrap();
        self.conn.flush().unwrap();
    }
}

impl Drop for TestWindow {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.order(Order::End);
            self.thread.take().unwrap().join().unwrap();
        }
    }
}

/// A record of the server's button events and the requests to the window manager, in order.
#[derive(Debug)]
pub(super) struct Watch {
    conn: RustConnection,
    question: u32,
}

impl Watch {
    pub(super) fn begin(private: &PrivateDisplay) -> Self {
        let conn = connect(private);
        let root = conn.setup().roots[0].root;
        let question = conn.intern_atom(false, b"_NET_REQUEST_FRAME_EXTENTS").unwrap().reply().unwrap().atom;
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let raw = xinput::XIEventMask::RAW_BUTTON_PRESS | xinput::XIEventMask::RAW_BUTTON_RELEASE;
        let mask = [xinput::EventMask { deviceid: ALL_MASTERS, mask: vec![raw] }];
        conn.xinput_xi_select_events(root, &mask).unwrap().check().unwrap();
        let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        conn.change_window_attributes(root, &aux).unwrap().check().unwrap();
        Self { conn, question }
    }

    /// Returns the modifiers and buttons that are held down, as one mask.
    pub(super) fn held_down(&self) -> u16 {
        let root = self.conn.setup().roots[0].root;
        self.conn.query_pointer(root).unwrap().reply().unwrap().mask.into()
    }

    /// Ends the window manager.
    pub(super) fn end_window_manager(&self) {
        let check = self.conn.intern_atom(false, b"_NET_SUPPORTING_WM_CHECK").unwrap().reply().unwrap().atom;
        let root = self.conn.setup().roots[0].root;
        let said =
            self.conn.get_property(false, root, check, AtomEnum::WINDOW, 0, 1).unwrap().reply().unwrap();
        let window = said.value32().unwrap().next().expect("a window manager");
        self.conn.kill_client(window).unwrap().check().unwrap();
    }

    /// Returns the events since the last call.
    pub(super) fn told(&self) -> Vec<&'static str> {
        self.conn.get_input_focus().unwrap().reply().unwrap();
        let events = std::iter::from_fn(|| self.conn.poll_for_event().unwrap());
        let word = |event| match event {
            Event::XinputRawButtonPress(_) => Some("down"),
            Event::XinputRawButtonRelease(_) => Some("up"),
            Event::ClientMessage(e) if e.type_ == self.question => Some("asked"),
            _ => None,
        };
        events.filter_map(word).collect()
    }
}

fn run(conn: &RustConnection, id: u32, names: Names, said: &Sender<String>, todo: &Receiver<Order>) {
    let root = conn.setup().roots[0].root;
    let to_root = |kind, data: [u32; 5]| {
        let event = ClientMessageEvent::new(32, id, kind, data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        conn.send_event(false, root, mask, event).unwrap();
        conn.flush().unwrap();
    };
    let mut offered = None;
    loop {
        let event = conn.wait_for_event().unwrap();
        while let Ok(order) = todo.try_recv() {
            match order {
                Order::Minimise => to_root(names.WM_CHANGE_STATE, [3, 0, 0, 0, 0]),
                Order::Offer(length) => offered = Some(length),
                Order::End => return,
            }
        }
        let line = match event {
            Event::Expose(_) => "expose".to_owned(),
            Event::MotionNotify(e) => format!("move {},{}", e.root_x, e.root_y),
            Event::ButtonPress(e) => format!("down {} {}", e.detail, u16::from(e.state)),
            Event::ButtonRelease(e) => format!("up {}", e.detail),
            Event::KeyPress(e) => {
                // Like toolkits, this uses the mapping that is in effect when the event is read.
                let map = conn.get_keyboard_mapping(e.detail, 1).unwrap().reply().unwrap();
                let shift = usize::from(u16::from(e.state) & 1 != 0);
                format!("key {:x} {}", map.keysyms[shift], u16::from(e.state))
            }
            Event::SelectionRequest(e) => {
                if let Some(length) = offered {
                    hand_over(conn, &e, length);
                }
                continue;
            }
            Event::ClientMessage(e) if e.type_ == names.WM_PROTOCOLS => {
                let data = e.data.as_data32();
                if data[0] == names._NET_WM_PING {
                    let back = ClientMessageEvent::new(32, root, names.WM_PROTOCOLS, data);
                    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
                    conn.send_event(false, root, mask, back).unwrap();
                    conn.flush().unwrap();
                }
                continue;
            }
            _ => continue,
        };
        // The test may have ended.
        if said.send(line).is_err() {
            return;
        }
    }
}

/// Answers a request for the clipboard with a text of this length. The text is in one property,
/// although it is written in several requests, because a request has a maximum length.
fn hand_over(conn: &RustConnection, asked: &SelectionRequestEvent, length: usize) {
    let text = vec![b'x'; length];
    for part in text.chunks(1 << 20) {
        conn.change_property8(PropMode::APPEND, asked.requestor, asked.property, asked.target, part).unwrap();
    }
    let answer = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: asked.time,
        requestor: asked.requestor,
        selection: asked.selection,
        target: asked.target,
        property: asked.property,
    };
    conn.send_event(false, asked.requestor, EventMask::NO_EVENT, answer).unwrap();
    conn.flush().unwrap();
}
