//! The script that reads and watches a page from inside: modules of plain JavaScript, bundled by the build script.
//!
//! It is evaluated once per document in an isolated world, invisible to the page, and answers under the name
//! `__stickpin` there. `agent/script/agent.js` lists its functions.

/// The source of the script: one expression that installs it, and does nothing where it is installed already.
pub const AGENT: &str = include_str!(concat!(env!("OUT_DIR"), "/agent.js"));

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
