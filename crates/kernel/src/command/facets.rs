//! Access to the facets of a device, with `UNSUPPORTED` for missing ones.

use stickpin_device::{
    Clipboard, Device, Dialogs, Files, Geometry, Navigator, Result, Screenshots, Script, Tabs, Traffic,
    unsupported,
};

macro_rules! facets {
    ($($name:ident: $facet:ident;)*) => {$(
        /// Returns the facet; `what` describes its purpose for the error message.
        ///
        /// # Errors
        /// Returns `UNSUPPORTED` if the device lacks the facet.
        pub(crate) fn $name<'d>(device: &'d mut dyn Device, what: &str) -> Result<&'d mut dyn $facet> {
            let kind = device.info().kind;
            device.$name().ok_or_else(|| unsupported(kind, what))
        }
    )*};
}

facets! {
    geometry: Geometry;
    screenshots: Screenshots;
    dialogs: Dialogs;
    navigator: Navigator;
    tabs: Tabs;
    clipboard: Clipboard;
    files: Files;
    traffic: Traffic;
    script: Script;
}
