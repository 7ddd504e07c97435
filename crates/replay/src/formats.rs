//! Scripts in other formats, read into and written from the same type as `.ad` scripts. Without the
//! feature `formats`, only `.ad` scripts are read.

#[cfg(feature = "formats")]
mod agent_device;
#[cfg(feature = "formats")]
mod export;
#[cfg(feature = "formats")]
mod maestro;
#[cfg(feature = "formats")]
mod playwright;
pub(crate) mod read;
#[cfg(feature = "formats")]
mod unsupported;
#[cfg(feature = "formats")]
mod writer;
#[cfg(feature = "formats")]
mod yaml;

#[cfg(all(test, feature = "formats"))]
mod tests;

#[cfg(feature = "formats")]
pub use export::{Export, Format, export};
pub use read::parse;
#[cfg(feature = "formats")]
pub use writer::Note;
