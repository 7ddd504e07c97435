//! The script that reads and watches a page from inside: plain JavaScript, put together from files in a fixed order.
//!
//! It is evaluated once per document in an isolated world, invisible to the page, and answers under the name
//! `__stickpin` there. `page/agent.js` lists its functions.

/// The source of the script: one expression that installs it, and does nothing where it is installed already.
pub const AGENT: &str = concat!(
    "(() => {\n\"use strict\";\nif (Object.hasOwn(globalThis, \"__stickpin\")) return;\n",
    include_str!("page/dom.js"),
    include_str!("page/roles.js"),
    include_str!("page/scope.js"),
    include_str!("page/attributes.js"),
    include_str!("page/names.js"),
    include_str!("page/counters.js"),
    include_str!("page/states.js"),
    include_str!("page/icons.js"),
    include_str!("page/details.js"),
    include_str!("page/drawings.js"),
    include_str!("page/capture.js"),
    include_str!("page/unchanged.js"),
    include_str!("page/locate.js"),
    include_str!("page/aim.js"),
    include_str!("page/guard.js"),
    include_str!("page/press.js"),
    include_str!("page/typing.js"),
    include_str!("page/editors.js"),
    include_str!("page/input.js"),
    include_str!("page/fold.js"),
    include_str!("page/files.js"),
    include_str!("page/changes.js"),
    include_str!("page/agent.js"),
    "})();"
);

/// The name of the isolated world that the script lives in.
pub const WORLD: &str = "stickpin";

#[cfg(test)]
mod tests {
    use super::AGENT;

    /// A form answers to the names of its fields and the document to those of its images before the DOM does: these
    /// are read through the getters of dom.js only.
    #[test]
    fn nothing_is_read_from_a_node_that_a_page_can_rename() {
        let clobbered = [
            "nodeType",
            "parentNode",
            "parentElement",
            "firstChild",
            "nextSibling",
            "childNodes",
            "children",
            "textContent",
            "localName",
            "tagName",
            "attributes",
            "isConnected",
            "isContentEditable",
            "ownerDocument",
            "shadowRoot",
            "assignedSlot",
            "innerText",
            "outerHTML",
            "offsetWidth",
            "offsetHeight",
            "clientWidth",
            "clientHeight",
            "scrollHeight",
            "scrollWidth",
            "getAttribute(",
            "hasAttribute(",
            "closest(",
            "matches(",
            "contains(",
            "getRootNode(",
            "getBoundingClientRect(",
            "checkVisibility(",
            "focus(",
            "adoptedStyleSheets",
        ];
        // Shadow roots have no names of their own.
        let allowed = [
            "...root.styleSheets, ...root.adoptedStyleSheets",
            "offsetWidth ? r.width",
            "offsetHeight ? r.height",
        ];
        for line in AGENT.lines() {
            let line = line.trim_start();
            if line.starts_with("//") || line.starts_with('*') || allowed.iter().any(|ok| line.contains(ok)) {
                continue;
            }
            for name in clobbered {
                let read = format!(".{name}");
                let found = line.match_indices(&read).any(|(at, _)| {
                    let rest = &line[at + read.len()..];
                    let whole = name.ends_with('(') || !rest.starts_with(|c: char| c.is_alphanumeric());
                    let on_prototype = line[..at].ends_with("prototype") || line[..at].ends_with(" P");
                    whole && !on_prototype
                });
                assert!(!found, "{name} is read from a node: {line}");
            }
        }
    }
}
