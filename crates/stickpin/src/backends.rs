//! The backends that were built in, in the order in which they are asked.

use std::sync::Arc;
use stickpin_kernel::Provider;

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Provider>> {
    vec![
        #[cfg(feature = "sim")]
        Arc::new(stickpin_backend_sim::SimProvider::new()),
    ]
}
