//! Connections on the loopback interface.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

/// The time limit for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause when no connection can be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// The body of every response.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Serves connections until the future is dropped.
pub(crate) async fn serve<F>(
    listener: &TcpListener,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Above the limit, a connection is closed at once.
                let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
                let answer = answer.clone();
                let service = service_fn(move |request| {
                    let answered = answer(request);
                    async move { Ok::<_, Infallible>(answered.await) }
                });
                tokio::spawn(async move {
                    let _place = place;
                    let served = hyper::server::conn::http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEAD_TIMEOUT)
                        .serve_connection(TokioIo::new(stream), service);
                    if let Err(e) = served.await {
                        tracing::debug!("a connection ended: {e}");
                    }
                });
            }
            // No file descriptor is free, or the client disconnected.
            Err(e) => {
                tracing::warn!("accept: {e}");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}
