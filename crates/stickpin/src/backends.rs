//! The built-in backends, in the order in which they are queried.

use std::sync::Arc;
use stickpin_device::Provider;

/// Returns the providers of all built-in backends.
pub(crate) fn providers() -> Vec<Arc<dyn Provider>> {
    vec![
        #[cfg(feature = "sim")]
        Arc::new(stickpin_backend_sim::SimProvider::new()),
        // Precedes the web backend, which would read `linux:4711` as a host with a port.
        #[cfg(feature = "linux")]
        Arc::new(stickpin_backend_linux::LinuxProvider::new(crate::env::linux_config())),
        #[cfg(feature = "web")]
        Arc::new(web()),
    ]
}

/// Returns the names of apps that `open` could start here.
pub(crate) fn installed_apps() -> Vec<String> {
    let mut apps: Vec<String> = providers().iter().flat_map(|provider| provider.installed_apps()).collect();
    apps.sort_unstable();
    apps.dedup();
    apps
}

#[cfg(feature = "web")]
fn web() -> stickpin_backend_web::WebProvider {
    let (chromium, path, no_sandbox) = crate::env::web_config();
    stickpin_backend_web::WebProvider::new(stickpin_backend_web::WebConfig { chromium, path, no_sandbox })
}
