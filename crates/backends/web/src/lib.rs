//! The device traits over the Chrome DevTools Protocol: our own browser, its tabs, and the driven
//! page, which `stickpin-webpage` implements.
//!
//! | module | |
//! |---|---|
//! | `find`, `launch` | which browser to use; starting and ending it |
//! | `browser_state`, `events`, `downloads`, `file_gate` | state from events; the file gate |
//! | `driven` | a browser and its driven tab, on which the modules below work |
//! | `tabs` | the list of tabs and the driven one |
//! | `provider`, `device`, `facets` | the device traits |
//! | `navigate`, `address`, `unresponsive` | navigation, URLs, leaving pages that do not answer |
//! | `act` | inputs and answers to dialogs |
//! | `popup` | closing a list that was opened but not used |
//!
//! ```
//! use stickpin_backend_web::{WebConfig, WebProvider};
//! use stickpin_device::Provider as _;
//!
//! let provider = WebProvider::new(WebConfig::default());
//! assert!(provider.claims("http://127.0.0.1:3000"));
//! assert!(!provider.claims("sim:shop"));
//! ```

mod act;
mod address;
mod browser_state;
mod device;
mod downloads;
mod driven;
mod events;
mod facets;
mod file_gate;
mod find;
mod launch;
mod navigate;
mod popup;
mod provider;
mod tabs;
mod unresponsive;

pub use device::WebDevice;
pub use provider::{WebConfig, WebOptions, WebProvider};
