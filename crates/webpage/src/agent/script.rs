//! The script that reads and watches a page from inside, bundled from JavaScript modules by the
//! build script.
//!
//! The script is evaluated once per document, in an isolated world that the page cannot see. Its
//! functions are available there as `__stickpin`; `agent/script/agent.js` lists them.

/// The source of the script: one expression that installs the script, or does nothing if it is
/// installed already.
pub const AGENT: &str = include_str!(concat!(env!("OUT_DIR"), "/agent.js"));

/// The name of the isolated world in which the script runs.
pub const WORLD: &str = "stickpin";

#[cfg(test)]
mod tests {
    use super::AGENT;

    /// The names of a form's fields, and of a document's images, take precedence over DOM
    /// properties. Read these properties only through the getters of dom.js.
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
        // Shadow roots themselves have no named properties.
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
