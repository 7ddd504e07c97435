//! Implementation of the device traits over the Chrome DevTools Protocol: a browser of our own, its tabs, and the page
//! that is driven, which `stickpin-webpage` knows how to.
//!
//! | module | |
//! |---|---|
//! | `find`, `launch` | which browser, how it starts and ends, what is swept after a crash |
//! | `around`, `events`, `downloads`, `gate` | what is known of the browser from its events; which files its pages may show |
//! | `driven` | a browser and the tab of it that is driven: what the functions below work on |
//! | `tabs` | which tabs there are, and the one that is driven |
//! | `provider`, `device`, `facets` | the device traits |
//! | `navigate`, `address`, `hang` | going somewhere, what an address is, pages that do not answer and how they are left |
//! | `act` | inputs, answers to dialogs |
//! | `fold` | closing a list that was opened in vain |

mod act;
mod address;
mod around;
mod device;
mod downloads;
mod driven;
mod events;
mod facets;
mod find;
mod fold;
mod gate;
mod hang;
mod launch;
mod navigate;
mod provider;
mod tabs;

pub use device::WebDevice;
pub use provider::{WebConfig, WebProvider};
