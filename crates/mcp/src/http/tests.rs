use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

const SOON: Duration = Duration::from_millis(300);

/// Timeout for an answer on a busy machine.
const LATEST: Duration = Duration::from_secs(20);

/// Serves with these limits while `clients` is running.
fn with<F: Future>(limits: Limits, clients: impl FnOnce(SocketAddr, Arc<AtomicUsize>) -> F) -> F::Output {
    stickpin_client::runtime().expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let bodies = Arc::new(Semaphore::new(MAX_BODIES));
        let served = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&served);
        let answer = move |request| {
            let (bodies, served) = (Arc::clone(&bodies), Arc::clone(&counts));
            async move {
                let whole = read_body(request, &bodies, limits.body).await;
                served.fetch_add(1, Ordering::Relaxed);
                Ok(whole.map_or_else(|refused| refused, |_| text_response(StatusCode::OK, "served")))
            }
        };
        tokio::select! {
            () = accept(&listener, limits, answer) => unreachable!("it serves for ever"),
            ended = timeout(LATEST, clients(address, served)) => ended.expect("the server ends what it has to"),
        }
    })
}

async fn say(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(text.as_bytes()).await.expect("it reads");
    stream
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    // A reset ends the stream too.
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

fn post(body: &str, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn missing_request_head_ends_the_connection() {
    with(Limits { head: SOON, ..Limits::default() }, |address, served| async move {
        for begun in ["", "POST /mcp HTTP/1.1\r\nhost: a\r\nx"] {
            let mut stream = say(address, begun).await;
            let answer = rest(&mut stream).await;
            assert!(!answer.contains("served"), "{answer}");
        }
        assert_eq!(served.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn missing_request_body_is_answered_and_ends_connection() {
    with(Limits { body: SOON, ..Limits::default() }, |address, _| async move {
        let answer = rest(&mut say(address, &post("{\"a\"", 100)).await).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    });
}

#[test]
fn connection_above_the_limit_is_refused() {
    let limits = Limits { head: SOON, connections: 4, ..Limits::default() };
    with(limits, |address, _| async move {
        let mut slow = Vec::new();
        for _ in 0..4 {
            slow.push(say(address, "P").await);
        }
        // Connections are accepted in order.
        let answer = rest(&mut say(address, "").await).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        for stream in &mut slow {
            rest(stream).await;
        }
        let body = post("{}", 2).replace("host: a", "host: a\r\nconnection: close");
        let answer = rest(&mut say(address, &body).await).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    });
}

#[test]
fn half_closed_connection_gets_its_answer() {
    with(Limits::default(), |address, _| async move {
        for _ in 0..20 {
            let mut stream = say(address, &post("{}", 2)).await;
            stream.shutdown().await.expect("open");
            let answer = rest(&mut stream).await;
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("served"), "{answer}");
        }
    });
}

#[test]
fn non_json_body_is_a_bad_request() {
    with(Limits::default(), |address, _| async move {
        for body in ["{", "", "{}x", "\u{1}"] {
            let said = post(body, body.len()).replace("host: a", "host: a\r\nconnection: close");
            let answer = rest(&mut say(address, &said).await).await;
            assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("-32700"), "{body:?}: {answer}");
        }
    });
}
