//! `find`: finds elements by text or selector and prints them with refs.

use crate::commands::prelude::*;
use crate::observe::resolve::Freshness;
use stickpin_tree::{NodeId, Selector};

/// The maximum number of listed matches.
const MAX_LISTED: usize = 25;

/// Find elements by text or selector, and print them with their refs.
///
/// A query is a selector if each of its alternatives has a key, such as `role=`. Any other query is
/// searched for in labels, values and texts, ignoring case.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Find {
    /// Text or selector.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    pub query: String,
    /// Only the first match.
    #[serde(default)]
    pub first: bool,
    /// Only the last match.
    #[serde(default)]
    pub last: bool,
    /// Only the match with this number, counting from 1.
    #[schemars(range(min = 1), extend("x-placeholder" = "N"))]
    pub nth: Option<usize>,
}

/// The elements that a query matched.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FindOutput {
    /// The listed matches, in document order.
    pub matches: Vec<Match>,
    /// The number of matches, listed or not.
    pub total: usize,
}

/// A matching element.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The ref of the element.
    pub r#ref: String,
    /// The element's line in a snapshot.
    pub line: String,
}

impl Find {
    /// Creates a `find` command that lists the matches of a text or selector.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    fn selector(&self) -> Result<Selector> {
        if !Selector::is_selector(&self.query) {
            return Ok(Selector::containing(&self.query));
        }
        match self.query.parse::<Target>()? {
            Target::Selector(selector) => Ok(selector),
            other => Err(Error::invalid_args(format!("{other} is not a selector"))
                .hint("for example: `stickpin find 'role=button'` or `stickpin find \"add to cart\"`")),
        }
    }

    /// Returns the match that `first`, `last` or `nth` selects, or all matches if none of these is
    /// given.
    fn requested_matches<'m>(&self, all: &'m [NodeId]) -> Result<&'m [NodeId]> {
        if usize::from(self.first) + usize::from(self.last) + usize::from(self.nth.is_some()) > 1 {
            return Err(Error::invalid_args("only one of `first`, `last` and `nth` can be given")
                .hint("for example: `stickpin find \"add to cart\" --nth 2`"));
        }
        let at = match (self.first, self.last, self.nth) {
            (true, ..) => 0,
            (_, true, _) => all.len().saturating_sub(1),
            (.., Some(n)) if (1..=all.len()).contains(&n) => n - 1,
            (.., Some(n)) => {
                let message = format!("there is no match number {n}; matches found: {}", all.len());
                return Err(Error::element_not_found(message)
                    .hint("omit `--nth` to list the matches, which are counted from 1"));
            }
            _ => return Ok(all),
        };
        Ok(all.get(at..=at).unwrap_or(all))
    }
}

impl Command for Find {
    const SPEC: Spec = Spec {
        name: "find",
        needs: &[Capability::Capture],
        examples: &["stickpin find \"add to cart\"", "stickpin find 'role=button disabled' --first"],
        ..Spec::SESSION
    };
    type Output = FindOutput;

    async fn run(self, cx: &mut Cx) -> Result<FindOutput> {
        if self.query.trim().is_empty() {
            return Err(Error::invalid_args("the query is empty")
                .hint("for example: `stickpin find \"add to cart\"`"));
        }
        let selector = self.selector()?;
        let (tree, all) = resolve::capture_matches(cx, &selector, Freshness::Stored).await?;
        if all.is_empty() {
            return Err(resolve::not_found(cx, &tree, &selector)?);
        }
        let listed: Vec<NodeId> = self.requested_matches(&all)?.iter().copied().take(MAX_LISTED).collect();
        // Issue all refs in one call, so that numbers follow document order and not the order of
        // the lines.
        capture::issue(cx, &listed)?;
        let mut found = Vec::new();
        for node in listed {
            let line = capture::issue_line(cx, &tree, node)?;
            let r#ref = line.split(' ').next().unwrap_or_default().to_owned();
            found.push(Match { r#ref, line });
        }
        Ok(FindOutput { matches: found, total: all.len() })
    }
}

impl Show for FindOutput {
    fn show(&self, text: &mut Text) {
        for found in &self.matches {
            text.line(&found.line);
        }
        if self.matches.len() >= MAX_LISTED && self.total > MAX_LISTED {
            let left = self.total - self.matches.len();
            text.line(format_args!(
                "… {left} more; use longer text or a selector (`role=... text=...`) to narrow the search"
            ));
        }
    }
}
