//! One client over standard input and output.

use crate::server::{Server, Shared};
use crate::setup::Setup;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use stickpin_kernel::{Error, Result};

/// Serves until the client disconnects or a signal arrives, then closes the client's own sessions.
///
/// # Errors
/// Returns `IO` when the runtime or waiting for signals fails, and `INTERNAL` when the server
/// fails. Returns `PROTOCOL_MISMATCH` when the client does not start with the handshake of the
/// protocol.
pub fn serve_stdio(setup: Setup) -> Result<()> {
    let runtime = stickpin_client::runtime()?;
    let ended = runtime.block_on(async {
        let shared = Shared::new(setup);
        let server = Server::new(&shared, true);
        let signalled = crate::end_signal()?;
        let serving = async {
            match server.serve(rmcp::transport::stdio()).await {
                Ok(running) => match running.waiting().await {
                    Ok(_) => Ok(()),
                    Err(e) => Err(Error::internal(format!(
                        "internal error in the server (this is a bug in stickpin): {e}"
                    ))),
                },
                // A client that disconnects before the handshake is not an error.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(e) => Err(Error::protocol_mismatch(e.to_string()).hint(
                    "an MCP client begins with `initialize`; `stickpin mcp --print-config CLIENT` prints the configuration of a client",
                )),
            }
        };
        let ended = tokio::select! {
            ended = serving => ended,
            () = signalled => Ok(()),
        };
        shared.leave_all().await;
        ended
    });
    // A normal shutdown would wait for a read from a standard input that stays open.
    runtime.shutdown_background();
    ended
}
