//! Apps that hang, die in the middle of an answer, or say what is no message: a socket of our own plays them.

use crate::bus::{Args, Call, Fault, Wire};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// What an app on the other side does with each call: answer with its serial, or say something else.
#[derive(Clone, Copy)]
enum Peer {
    Answers,
    /// Says nothing more after so many answers.
    Silent(usize),
    /// Is gone after so many answers.
    Dies(usize),
    Garbage,
}

/// A peer behind a socket, and a connection to it.
async fn connected_to(peer: Peer, dir: &std::path::Path) -> Wire {
    let path = dir.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        greet(&mut stream).await;
        answer(peer, stream).await;
    });
    let address = format!("unix:path={}", path.display());
    Wire::connect(&address, false, Box::new(|_| {})).await.unwrap()
}

/// The server's part of the handshake (D-Bus specification, "Authentication Protocol").
async fn greet(stream: &mut UnixStream) {
    let mut line = Vec::new();
    loop {
        line.push(stream.read_u8().await.unwrap());
        if !line.ends_with(b"\r\n") {
            continue;
        }
        let said = String::from_utf8(std::mem::take(&mut line)).unwrap();
        let answer = match said.trim_start_matches('\0').split_whitespace().next() {
            Some("AUTH") => "OK 0123456789abcdef0123456789abcdef\r\n",
            Some("NEGOTIATE_UNIX_FD") => "AGREE_UNIX_FD\r\n",
            Some("BEGIN") => return,
            _ => panic!("{said}"),
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn answer(peer: Peer, mut stream: UnixStream) {
    let mut bytes = Vec::new();
    let mut answered = 0;
    loop {
        while let Some(length) = message_length(&bytes)
            && bytes.len() >= length
        {
            let serial = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
            bytes.drain(..length);
            match peer {
                Peer::Silent(after) if answered >= after => std::future::pending().await,
                Peer::Dies(after) if answered >= after => return,
                Peer::Garbage => stream
                    .write_all(&[b'l', 9, 0, 1, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0])
                    .await
                    .unwrap(),
                _ => stream.write_all(&reply(serial)).await.unwrap(),
            }
            answered += 1;
        }
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return;
        }
    }
}

/// A reply that carries the serial that it answers.
fn reply(serial: u32) -> Vec<u8> {
    let mut out = vec![b'l', 2, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0];
    out.extend_from_slice(&[5, 1, b'u', 0]);
    out.extend_from_slice(&serial.to_le_bytes());
    out.extend_from_slice(&[8, 1, b'g', 0, 1, b'u', 0, 0]);
    out.extend_from_slice(&serial.to_le_bytes());
    out
}

async fn ask(peer: Peer, calls: usize) -> (Vec<Result<u32, Fault>>, Wire) {
    let dir = tempfile::tempdir().unwrap();
    let wire = connected_to(peer, dir.path()).await;
    let call = Call { path: "/", interface: "a.b", member: "C", args: Args::new() };
    let answers = wire.calls(None, &vec![call; calls], Duration::from_millis(200)).await;
    (answers.into_iter().map(|a| a.and_then(|m| m.body().unsigned())).collect(), wire)
}

#[tokio::test]
async fn every_call_of_a_batch_gets_its_own_answer() {
    let (answers, wire) = ask(Peer::Answers, 300).await;
    let expected: Vec<_> = (1..=300).map(Ok).collect();
    assert_eq!(answers, expected);
    assert!(!wire.closed());
}

#[tokio::test]
async fn an_app_that_hangs_is_given_up_and_what_it_answered_is_kept() {
    let (answers, wire) = ask(Peer::Silent(2), 5).await;
    assert_eq!(answers[..2], [Ok(1), Ok(2)]);
    assert!(answers[2..].iter().all(|a| *a == Err(Fault::Silent(200))), "{answers:?}");
    // It may wake up again: the connection stays.
    assert!(!wire.closed());
}

#[tokio::test]
async fn an_app_that_dies_in_the_middle_is_gone_at_once() {
    let (answers, wire) = ask(Peer::Dies(1), 3).await;
    assert_eq!(answers[0], Ok(1));
    assert!(answers[1..].iter().all(|a| matches!(a, Err(Fault::Closed(_)))), "{answers:?}");
    assert!(wire.closed());
}

#[tokio::test]
async fn what_is_no_message_ends_the_connection() {
    let (answers, wire) = ask(Peer::Garbage, 2).await;
    assert!(answers.iter().all(|a| matches!(a, Err(Fault::Closed(_)))), "{answers:?}");
    assert!(wire.closed());
}

/// How long the little endian message is that these bytes begin with; none while it is not there whole.
fn message_length(bytes: &[u8]) -> Option<usize> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    Some((16 + word(12)?).next_multiple_of(8) + word(4)?)
}
