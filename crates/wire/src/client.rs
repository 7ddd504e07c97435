//! What a front end holds: something that runs commands, near or far.

use crate::connection::{Connection, failed};
use crate::place::Place;
use crate::start::Start;
use async_trait::async_trait;
use std::sync::Arc;
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::{Error, ErrorCode, Host, Request, Response, Result};

/// Something that runs commands: a host in this process, or a daemon behind a socket.
#[async_trait]
pub trait Client: Send + Sync {
    /// Runs one command. When the token fires the command ends where nothing is half done, and still answers.
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response;
}

#[async_trait]
impl Client for Host {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        Self::call(self, request, cancel).await
    }
}

/// A daemon behind a socket, found or started at each call. Calls may overlap; each has a connection of its own, which
/// costs some 15 us, and a daemon that went in between is simply started again.
#[derive(Debug, Clone)]
pub struct SocketClient {
    inner: Arc<(Place, Start)>,
}

impl SocketClient {
    /// The daemon of a state dir.
    #[must_use]
    pub fn new(place: Place, start: Start) -> Self {
        Self { inner: Arc::new((place, start)) }
    }
}

#[async_trait]
impl Client for SocketClient {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        let inner = Arc::clone(&self.inner);
        let (command, session) = (request.command.clone(), request.session.clone());
        let failed = |error| failed(&command, session.clone(), error);
        let connected = blocking(move || Connection::find_or_start(&inner.0, &inner.1)).await;
        let mut connection = match connected {
            Ok(connection) => connection,
            Err(error) => return failed(error),
        };
        let canceller = match connection.canceller() {
            Ok(canceller) => canceller,
            Err(e) => return failed(Error::new(ErrorCode::Io, format!("no file can be opened: {e}"))),
        };
        let call = blocking(move || Ok(connection.call(&request)));
        tokio::pin!(call);
        let answered = tokio::select! {
            answered = &mut call => answered,
            () = cancel.cancelled() => {
                canceller.cancel();
                call.await
            }
        };
        answered.unwrap_or_else(failed)
    }
}

/// Runs the blocking connection beside the runtime.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| {
        Err(Error::new(ErrorCode::Internal, format!("the thread of a call to the daemon ended: {e}")))
    })
}
