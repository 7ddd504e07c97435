//! What the desktop needs, and the command that mends what is missing.

use crate::bus::Desktop;
use crate::events::Heard;
use crate::provider::LinuxProvider;
use std::sync::Arc;
use stickpin_kernel::device::Check;

/// Looks at everything that the desktop device needs.
pub(crate) async fn checks(provider: &LinuxProvider) -> Vec<Check> {
    let heard = Arc::new(Heard::new());
    let listener = Arc::clone(&heard);
    let desktop =
        Desktop::connect(&provider.addresses(), Box::new(move |message| listener.hear(message))).await;
    let bus = match &desktop {
        Ok(desktop) => match desktop.running().await {
            Ok(running) => Check {
                name: "linux accessibility bus".into(),
                ok: true,
                found: format!("{} apps are registered", running.len()),
                fix: String::new(),
            },
            Err(e) => missing(&format!("its registry does not answer: {e}")),
        },
        Err(e) => missing(&e.to_string()),
    };
    vec![bus]
}

fn missing(found: &str) -> Check {
    Check {
        name: "linux accessibility bus".into(),
        ok: false,
        found: found.to_owned(),
        fix: "apt install at-spi2-core dbus".into(),
    }
}
