//! One connection: a socket, the answers that are waited for, and the signals that come by themselves.
//!
//! Calls go out in batches, one write for all of them, and are answered while the next are still being read: over one
//! socket an app answers a thousand questions in the time of fifty that wait for each other. Answers and signals come in
//! the order in which the app sent them, so an answer proves that what was signalled before it has been heard.

use super::Fault;
use super::marshal::{self, Args, Call, Kind, Message};
use hashbrown::HashMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream as StdStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(3);

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Who hears the signals of a connection, in their order. Called by the task that reads: it must not wait.
pub(crate) type Listener = Box<dyn Fn(&Message) + Send + Sync>;

/// A connection to a bus or to an app.
#[derive(Debug)]
pub(crate) struct Wire {
    shared: Arc<Shared>,
    write: tokio::sync::Mutex<OwnedWriteHalf>,
    serial: AtomicU32,
    /// Our name on the bus; empty for a connection to an app.
    pub(crate) name: String,
    reader: tokio::task::JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Which batch a call belongs to, and its place there.
    calls: HashMap<u32, (Arc<Batch>, usize)>,
    closed: Option<String>,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is held; if something did, the state would still be whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, why: &str) {
        let mut waiting = self.waiting();
        waiting.closed.get_or_insert_with(|| why.to_owned());
        for (_, (batch, _)) in waiting.calls.drain() {
            batch.done.notify_one();
        }
    }
}

/// Calls that wait together.
#[derive(Debug)]
struct Batch {
    answers: Mutex<Answers>,
    done: Notify,
}

#[derive(Debug)]
struct Answers {
    slots: Vec<Option<Result<Message, Fault>>>,
    missing: usize,
    last: Instant,
}

impl Wire {
    /// Connects to the first of the addresses that answers (`unix:path=…;unix:abstract=…`).
    ///
    /// # Errors
    /// `Closed` when none does.
    pub(crate) async fn connect(addresses: &str, bus: bool, listener: Listener) -> Result<Self, Fault> {
        let stream = timeout(CONNECT, authenticated(addresses))
            .await
            .map_err(|_| Fault::Silent(CONNECT.as_millis()))?
            .map_err(|e| Fault::Closed(format!("{addresses}: {e}")))?;
        let (read, write) = stream.into_split();
        let shared = Arc::new(Shared::default());
        let reader = tokio::spawn(read_all(read, Arc::clone(&shared), listener));
        let mut wire = Self {
            shared,
            write: tokio::sync::Mutex::new(write),
            serial: AtomicU32::new(1),
            name: String::new(),
            reader,
        };
        if bus {
            let hello = Call {
                path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus",
                member: "Hello",
                args: Args::new(),
            };
            wire.name =
                wire.call(Some("org.freedesktop.DBus"), &hello, CONNECT).await?.body().text()?.to_owned();
        }
        Ok(wire)
    }

    /// Whether nothing more will be answered.
    pub(crate) fn closed(&self) -> bool {
        self.shared.waiting().closed.is_some()
    }

    /// One call.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn call(
        &self,
        destination: Option<&str>,
        call: &Call<'_>,
        deadline: Duration,
    ) -> Result<Message, Fault> {
        let mut answers = self.calls(destination, std::slice::from_ref(call), deadline).await;
        answers.pop().unwrap_or(Err(Fault::Silent(deadline.as_millis())))
    }

    /// Many calls at once; their answers in the same order. `patience` is how long nothing at all may come: each answer
    /// gives the next as long.
    pub(crate) async fn calls(
        &self,
        destination: Option<&str>,
        calls: &[Call<'_>],
        patience: Duration,
    ) -> Vec<Result<Message, Fault>> {
        if calls.is_empty() {
            return Vec::new();
        }
        let count = calls.len();
        let batch = Arc::new(Batch {
            answers: Mutex::new(Answers { slots: vec![None; count], missing: count, last: Instant::now() }),
            done: Notify::new(),
        });
        // Serials wrap around after four thousand million calls, past zero, which is none.
        let first = self.serial.fetch_add(u32::try_from(count).unwrap_or(1), Ordering::Relaxed);
        let serial = |at: usize| first.wrapping_add(at as u32).max(1);
        let mut bytes = Vec::with_capacity(count * 200);
        for (at, call) in calls.iter().enumerate() {
            let from = bytes.len();
            marshal::write_call(&mut bytes, serial(at), destination, call);
            debug_assert!(from < bytes.len());
        }
        let forget = Forget { shared: &self.shared, first: serial(0), count };
        let closed = {
            let mut waiting = self.shared.waiting();
            for at in 0..count {
                waiting.calls.insert(serial(at), (Arc::clone(&batch), at));
            }
            waiting.closed.clone()
        };
        let failed = match closed {
            Some(why) => Some(Fault::Closed(why)),
            None => match timeout(patience, self.send(&bytes)).await {
                Ok(Ok(())) => self.collect(&batch, patience).await,
                Ok(Err(e)) => {
                    // Half a message may have been written: nothing can be said on this connection any more.
                    self.shared.close(&e.to_string());
                    Some(Fault::Closed(e.to_string()))
                }
                Err(_) => {
                    self.shared.close("it reads nothing that is written to it");
                    Some(Fault::Silent(patience.as_millis()))
                }
            },
        };
        drop(forget);
        let mut answers = lock(&batch.answers);
        let failed = failed.unwrap_or(Fault::Silent(patience.as_millis()));
        answers.slots.drain(..).map(|slot| slot.unwrap_or_else(|| Err(failed.clone()))).collect()
    }

    async fn send(&self, bytes: &[u8]) -> std::io::Result<()> {
        self.write.lock().await.write_all(bytes).await
    }

    /// Waits for the answers of a batch; why some are missing, if some are.
    async fn collect(&self, batch: &Batch, patience: Duration) -> Option<Fault> {
        loop {
            let (missing, last) = {
                let answers = lock(&batch.answers);
                (answers.missing, answers.last)
            };
            if missing == 0 {
                return None;
            }
            if let Some(why) = &self.shared.waiting().closed {
                return Some(Fault::Closed(why.clone()));
            }
            if last.elapsed() >= patience {
                return Some(Fault::Silent(patience.as_millis()));
            }
            // Whether it was woken or not: it looks again.
            drop(tokio::time::timeout_at(last + patience, batch.done.notified()).await);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the calls of a batch out of those that are waited for, also when whoever waited does not any more.
struct Forget<'a> {
    shared: &'a Shared,
    first: u32,
    count: usize,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let mut waiting = self.shared.waiting();
        for at in 0..self.count {
            waiting.calls.remove(&self.first.wrapping_add(at as u32).max(1));
        }
    }
}

/// Reads until the other side closes the connection.
async fn read_all(mut read: OwnedReadHalf, shared: Arc<Shared>, listener: Listener) {
    let mut bytes: Vec<u8> = Vec::with_capacity(CHUNK);
    let mut from = 0;
    let why = loop {
        match marshal::message_length(&bytes[from..]) {
            Err(e) => break e.to_string(),
            Ok(Some(length)) if bytes.len() - from >= length => {
                let message = marshal::read_message(&bytes[from..from + length]);
                from += length;
                match message {
                    Ok(message) => received(&shared, &listener, message),
                    // The message ends where it says, so what comes behind it can be read all the same.
                    Err(e) => tracing::debug!("a message was dropped: {e}"),
                }
                continue;
            }
            Ok(_) => {}
        }
        bytes.drain(..from);
        from = 0;
        bytes.reserve(CHUNK);
        match read.read_buf(&mut bytes).await {
            Ok(0) => break "it was closed by the other side".to_owned(),
            Ok(_) => {}
            Err(e) => break e.to_string(),
        }
    };
    shared.close(&why);
}

fn received(shared: &Shared, listener: &Listener, message: Message) {
    match message.kind {
        Kind::Signal => listener(&message),
        // Nobody has anything to ask of us.
        Kind::Call => {}
        Kind::Return | Kind::Error => {
            let Some((batch, at)) = shared.waiting().calls.remove(&message.reply_to) else { return };
            let answer = match message.kind {
                Kind::Error => {
                    let said = if message.signature.starts_with('s') {
                        message.body().text().unwrap_or("")
                    } else {
                        ""
                    };
                    Err(Fault::of(&message.error, said))
                }
                _ => Ok(message),
            };
            let mut answers = lock(&batch.answers);
            answers.slots[at] = Some(answer);
            answers.missing -= 1;
            answers.last = Instant::now();
            if answers.missing == 0 {
                batch.done.notify_one();
            }
        }
    }
}

/// Connects and authenticates as the user that we are (D-Bus specification, "Authentication Protocol", EXTERNAL).
async fn authenticated(addresses: &str) -> std::io::Result<UnixStream> {
    let mut failed = std::io::Error::other("no address that can be connected to");
    for address in addresses.split(';') {
        let Some(socket) = socket_of(address) else { continue };
        match connected(&socket).await {
            Ok(stream) => return Ok(stream),
            Err(e) => failed = e,
        }
    }
    Err(failed)
}

async fn connected(socket: &SocketAddr) -> std::io::Result<UnixStream> {
    // A local socket connects or fails at once, unless the other side's queue is full.
    let stream = StdStream::connect_addr(socket)?;
    stream.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(stream)?;
    let uid = rustix::process::geteuid().as_raw().to_string();
    let hex: String = uid.bytes().map(|b| format!("{b:02x}")).collect();
    stream.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes()).await?;
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        if line.len() > 1024 {
            return Err(std::io::Error::other("no answer of a D-Bus server"));
        }
        line.push(stream.read_u8().await?);
    }
    if !line.starts_with(b"OK") {
        let said = String::from_utf8_lossy(&line).trim().to_owned();
        return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, said));
    }
    stream.write_all(b"BEGIN\r\n").await?;
    Ok(stream)
}

/// The socket that one address names; none for other transports.
fn socket_of(address: &str) -> Option<SocketAddr> {
    let options = address.strip_prefix("unix:")?;
    options.split(',').find_map(|option| {
        let (key, value) = option.split_once('=')?;
        let value = unescaped(value)?;
        match key {
            "path" => SocketAddr::from_pathname(std::path::Path::new(std::str::from_utf8(&value).ok()?)).ok(),
            "abstract" => SocketAddr::from_abstract_name(value).ok(),
            _ => None,
        }
    })
}

/// Undoes `%20`.
fn unescaped(value: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.bytes();
    while let Some(b) = bytes.next() {
        if b != b'%' {
            out.push(b);
            continue;
        }
        let digit = |b: Option<u8>| char::from(b?).to_digit(16);
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_sockets() {
        let path = socket_of("unix:path=/run/a%20b,guid=12").unwrap();
        assert_eq!(path.as_pathname().unwrap().to_str(), Some("/run/a b"));
        let hidden = socket_of("unix:guid=1,abstract=/tmp/x").unwrap();
        assert_eq!(hidden.as_abstract_name(), Some(&b"/tmp/x"[..]));
        assert!(socket_of("tcp:host=localhost").is_none());
        assert!(unescaped("%2").is_none());
    }
}
