//! The script that reads and watches a page from inside: plain JavaScript, put together from files in a fixed order.
//!
//! It is evaluated once per document in an isolated world, invisible to the page, and answers under the name
//! `__stickpin` there. `page/agent.js` lists its functions.

/// The source of the script: one expression that installs it, and does nothing where it is installed already.
pub const AGENT: &str = concat!(
    "(() => {\n\"use strict\";\nif (globalThis.__stickpin) return;\n",
    include_str!("page/dom.js"),
    include_str!("page/roles.js"),
    include_str!("page/scope.js"),
    include_str!("page/attributes.js"),
    include_str!("page/names.js"),
    include_str!("page/counters.js"),
    include_str!("page/states.js"),
    include_str!("page/capture.js"),
    include_str!("page/locate.js"),
    include_str!("page/aim.js"),
    include_str!("page/input.js"),
    include_str!("page/files.js"),
    include_str!("page/changes.js"),
    include_str!("page/agent.js"),
    "})();"
);

/// The name of the isolated world that the script lives in.
pub const WORLD: &str = "stickpin";
