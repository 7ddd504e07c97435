//! An app with two buttons that logs the requests it receives in order and can change between them.

use crate::app::LinuxDevice;
use crate::bus::wire::Wire;
use crate::bus::{AccessibilityBus, Link, names};
use crate::events::AppEvents;
use crate::model::states as s;
use crate::screen::Screen;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zbus::message::Type;
use zbus::{Connection, Guid, Message, Variant, connection};

/// A request: the object, the method or property name, and the number that goes with it.
pub(crate) type Asked = (String, String, i32);

/// The current state of the app.
#[derive(Debug, Default)]
pub(crate) struct Now {
    /// The name of the first button.
    pub(crate) name: String,
    /// The actions of the first button.
    pub(crate) actions: Vec<&'static str>,
    /// Whether the app has a second window, and whether that window is active.
    pub(crate) twin: Option<bool>,
    /// How many times the first button reports no position before it reports one.
    pub(crate) nowhere: usize,
    /// The requests that the app answers with an error: objects and methods.
    pub(crate) refuses: Vec<(&'static str, &'static str)>,
    /// The requests that the app answers as GTK 4 does for a removed object: no such object.
    pub(crate) forgets: Vec<(&'static str, &'static str)>,
    /// The requests that the app answers with an invalid reply.
    pub(crate) garbles: Vec<(&'static str, &'static str)>,
    /// Whether the first button is below the second.
    pub(crate) stacked: bool,
    /// The object that each of these objects reports at a point; other objects do not have that
    /// method.
    pub(crate) points: Vec<(&'static str, &'static str)>,
    /// How many hit-test requests the app answers with an error.
    pub(crate) errors: usize,
    pub(crate) asked: Vec<Asked>,
}

/// The answers of a test app.
pub(crate) trait Answers: Send + 'static {
    /// Returns the answer to a call: the object, the method or property name, and the number that
    /// goes with it.
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message;
}

/// The test app.
pub(crate) struct Speaker<N = Now> {
    dir: tempfile::TempDir,
    now: Arc<Mutex<N>>,
    /// The connections to the app, oldest first.
    connected: Arc<Mutex<Vec<Connection>>>,
}

pub(crate) const FIRST: &str = "/first";
pub(crate) const SECOND: &str = "/second";
pub(crate) const WINDOW: &str = "/window";
pub(crate) const TWIN: &str = "/twin";

impl Speaker {
    pub(crate) fn start() -> Self {
        Self::with(Now { name: "Save".to_owned(), actions: vec!["click"], ..Now::default() })
    }

    /// Returns the requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.now.lock().unwrap().asked)
    }
}

impl<N: Answers> Speaker<N> {
    pub(crate) fn with(now: N) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("app")).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        let (now, connected) = (Arc::new(Mutex::new(now)), Arc::<Mutex<Vec<Connection>>>::default());
        let (theirs, all) = (Arc::clone(&now), Arc::clone(&connected));
        tokio::spawn(async move {
            loop {
                let stream = listener.accept().await.unwrap().0.into_std().unwrap();
                let guid = Guid::generate();
                let built = connection::Builder::unix_stream(stream).server(guid).p2p().build();
                let (now, all) = (Arc::clone(&theirs), Arc::clone(&all));
                tokio::spawn(async move {
                    let connection = built.await.unwrap();
                    let calls = zbus::MessageStream::from(&connection);
                    all.lock().unwrap().push(connection.clone());
                    answer(&connection, calls, &now).await;
                });
            }
        });
        Self { dir, now, connected }
    }

    async fn connect(&self, heard: Option<Arc<AppEvents>>) -> Wire {
        let address = format!("unix:path={}", self.dir.path().join("app").display());
        let hear = move |message: &crate::bus::Message| {
            heard.iter().for_each(|heard| heard.handle_signal(message));
        };
        Wire::connect(&address, false, Duration::from_secs(20), Box::new(hear)).await.unwrap()
    }

    /// Returns a device that has opened the app, without a display.
    pub(crate) async fn device(&self) -> (LinuxDevice, Arc<AppEvents>) {
        let heard = Arc::new(AppEvents::default());
        heard.state().app = super::peer::SENDER.to_owned();
        let link = Link::over(self.connect(Some(Arc::clone(&heard))).await, None);
        let desktop = AccessibilityBus::over(self.connect(None).await);
        let screen = Screen::shared(None, false);
        (
            LinuxDevice::new(
                desktop,
                link,
                Arc::clone(&heard),
                screen,
                ("app".to_owned(), None),
                Some("linux:app"),
            ),
            heard,
        )
    }

    /// Changes or inspects the state of the app.
    pub(crate) fn becomes<T>(&self, what: impl FnOnce(&mut N) -> T) -> T {
        what(&mut self.now.lock().unwrap())
    }

    /// Sends a signal, and returns as soon as it has been received.
    pub(crate) async fn signals(&self, heard: &AppEvents) {
        let before = heard.state().changes;
        let connected = self.connected.lock().unwrap().clone();
        for connection in connected {
            connection.send(&super::peer::signal()).await.unwrap();
        }
        heard.until(|heard| (heard.changes > before).then_some(())).await;
    }
}

/// Answers calls until the peer disconnects.
async fn answer<N: Answers>(connection: &Connection, mut calls: zbus::MessageStream, now: &Mutex<N>) {
    use zbus::export::futures_core::Stream;
    let mut next = std::pin::pin!(&mut calls);
    while let Some(Ok(call)) = std::future::poll_fn(|cx| next.as_mut().poll_next(cx)).await {
        if call.message_type() != Type::MethodCall {
            continue;
        }
        let reply = reply(&call, &mut *now.lock().unwrap());
        // A test that has ended receives nothing more.
        if connection.send(&reply).await.is_err() {
            return;
        }
    }
}

fn reply(call: &Message, now: &mut impl Answers) -> Message {
    let header = call.header();
    let path = header.path().map_or("", |path| path.as_str());
    let member = header.member().map_or("", |member| member.as_str());
    let body = call.body();
    match member {
        "Get" => now.answer(call, path, body.deserialize::<(&str, &str)>().unwrap().1, -1),
        member => now.answer(call, path, member, body.deserialize::<i32>().unwrap_or(-1)),
    }
}

/// Builds a reference to an object of the app.
pub(crate) fn object(path: &str) -> (String, zbus::OwnedObjectPath) {
    (":1.2".to_owned(), zbus::ObjectPath::try_from(path).unwrap().into_owned().into())
}

/// Builds the reply to an unknown request.
pub(crate) fn unknown(call: &Message, why: &str) -> Message {
    Message::error(&call.header(), "org.freedesktop.DBus.Error.UnknownMethod").build(&why).unwrap()
}

impl Answers for Now {
    fn answer(&mut self, call: &Message, path: &str, what: &str, number: i32) -> Message {
        self.asked.push((path.to_owned(), what.to_owned(), number));
        let now = self;
        let header = call.header();
        let say = Message::method_return(&header);
        let button = [FIRST, SECOND].contains(&path);
        let children: &[&str] = match path {
            names::ROOT if now.twin.is_some() => &[WINDOW, TWIN],
            names::ROOT => &[WINDOW],
            WINDOW => &[FIRST, SECOND],
            _ => &[],
        };
        let name = match path {
            FIRST => now.name.as_str(),
            SECOND => "Other",
            TWIN => "Twin",
            _ => "Window",
        };
        let meant = |all: &[(&str, &str)]| all.contains(&(path, what));
        let built = match what {
            _ if meant(&now.refuses) => {
                Message::error(&header, "org.freedesktop.DBus.Error.Failed").build(&"not now")
            }
            _ if meant(&now.forgets) => return unknown(call, "no such object"),
            _ if meant(&now.garbles) => say.build(&7_u32),
            "Name" => say.build(&Variant::from(name)),
            "Description" => say.build(&Variant::from("")),
            "ChildCount" => say.build(&Variant::from(children.len() as i32)),
            "GetChildren" => say.build(&children.iter().map(|path| object(path)).collect::<Vec<_>>()),
            "GetRole" => say.build(&(if button { 43_u32 } else { 23 })),
            "GetState" => {
                let active = if path == TWIN && now.twin == Some(true) { s::ACTIVE } else { 0 };
                let all = s::VISIBLE | s::SHOWING | s::ENABLED | s::SENSITIVE | active;
                say.build(&vec![all as u32, 0_u32])
            }
            "GetInterfaces" => {
                let action = "org.a11y.atspi.Action";
                let all = ["org.a11y.atspi.Accessible", "org.a11y.atspi.Component", action];
                say.build(&all[..if button { 3 } else { 2 }].to_vec())
            }
            "GetExtents" if path == FIRST && now.nowhere > 0 => {
                now.nowhere -= 1;
                say.build(&((i32::MIN, i32::MIN, 80_i32, 30_i32),))
            }
            "GetExtents" => {
                let alone = path == FIRST && !now.stacked;
                say.build(&((10_i32, if alone { 10_i32 } else { 60 }, 80_i32, 30_i32),))
            }
            "GetAccessibleAtPoint" if now.errors > 0 => {
                now.errors -= 1;
                Message::error(&header, "org.freedesktop.DBus.Error.Failed").build(&"not now")
            }
            "GetAccessibleAtPoint" => match now.points.iter().find(|(of, _)| *of == path) {
                Some((_, there)) => say.build(&object(there)),
                None => return unknown(call, "no"),
            },
            "GetActions" => {
                let actions = if path == FIRST { now.actions.clone() } else { vec!["click"] };
                say.build(&actions.into_iter().map(|name| (name, "", "")).collect::<Vec<_>>())
            }
            "DoAction" => say.build(&true),
            _ => return unknown(call, "no"),
        };
        built.unwrap()
    }
}
