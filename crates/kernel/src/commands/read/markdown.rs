//! `read`: prints the app as Markdown. Issues no refs; to act, take a snapshot.

use crate::commands::prelude::*;
use serde_json::json;
use stickpin_tree::{DEFAULT_MAX_BYTES, Heading, Markdown, NodeId, SectionError, bare_url, escape};

/// Print the page, or the content of one element, as Markdown.
///
/// Keeps headings, paragraphs, lists, tables, code and quotes. Links are numbered and listed once
/// at the end; controls are printed in brackets, worded as in a snapshot. The text has no refs;
/// `snapshot` and `find` print them. A line that begins with `[…` is not part of the page and says
/// what was omitted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Read {
    /// Ref or selector of the element to read; by default the whole page.
    #[schemars(extend("x-positional" = 0))]
    pub target: Option<Target>,
    /// Only the headings, with their levels.
    pub outline: bool,
    /// Only the section whose heading is or contains this text.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub section: Option<String>,
    /// Maximum length of the text in bytes (default 24,000).
    pub max_bytes: Option<usize>,
}

/// A part of the app as Markdown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkdownOutput {
    /// The address of the document that contains this part.
    pub url: String,
    /// The title of the document that contains this part.
    pub title: String,
    /// The content as Markdown, within the size limit.
    pub markdown: String,
    /// Whether lines are missing because of the size limit.
    pub cut: bool,
    /// Whether the device truncated the capture.
    pub truncated: bool,
}

impl Command for Read {
    const SPEC: Spec = Spec {
        name: "read",
        needs: &[Capability::Capture],
        examples: &[
            "stickpin read",
            "stickpin read --outline",
            "stickpin read --section Installation",
            "stickpin read role=main --max-bytes 8000",
        ],
        ..Spec::SESSION
    };
    type Output = MarkdownOutput;

    async fn run(self, cx: &mut Cx) -> Result<MarkdownOutput> {
        capture::capture_app(cx, Origin::Internal).await?;
        let scope = match &self.target {
            Some(target) => resolve::resolve_in_stored_tree(cx, target).await?,
            None => NodeId::ROOT,
        };
        let max_bytes = self.max_bytes.or(cx.render.max_bytes).unwrap_or(DEFAULT_MAX_BYTES);
        let tree = cx.tree()?;
        let page = Markdown::of(&tree, scope);
        let lines = match &self.section {
            Some(text) => page.section(text).map_err(|why| no_section(text, why))?,
            None => page.all_lines(),
        };
        let excerpt = if self.outline { page.outline(lines, max_bytes) } else { page.text(lines, max_bytes) };
        let document = tree.node(scope).document();
        Ok(MarkdownOutput {
            url: document.url.clone(),
            title: document.title.clone(),
            markdown: excerpt.text,
            cut: excerpt.missing > 0,
            truncated: tree.is_truncated(),
        })
    }
}

fn no_section(text: &str, why: SectionError) -> Error {
    let (code, message, headings) = match why {
        SectionError::None(headings) => {
            (ErrorCode::ElementNotFound, format!("no heading matches {}", quote(text)), headings)
        }
        SectionError::Several(headings) => {
            let count = headings.len();
            (ErrorCode::AmbiguousMatch, format!("{count} headings match {}", quote(text)), headings)
        }
    };
    let listed: Vec<String> = headings
        .iter()
        .take(5)
        .map(|Heading { level, title }| format!("h{level} {}", quote(title)))
        .collect();
    let hint = match (code, listed.is_empty()) {
        (ErrorCode::ElementNotFound, true) => {
            "the content that was read has no headings; run `stickpin read` for the whole page".to_owned()
        }
        (ErrorCode::ElementNotFound, false) => {
            format!("nearest: {}; run `stickpin read --outline` to list all headings", listed.join(", "))
        }
        _ => format!(
            "{}; use longer text, or name the element around one of them: `stickpin read @e4 --section TEXT`",
            listed.join(", ")
        ),
    };
    let details: Vec<_> = headings
        .iter()
        .take(25)
        .map(|h| json!({ "level": h.level, "title": escape(&h.title, 200) }))
        .collect();
    Error::new(code, message).hint(hint).details(json!({ "headings": details }))
}

impl Show for MarkdownOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("page {} {}\n\n", quote(&self.title), bare_url(&self.url)));
        text.escaped_lines(&self.markdown);
    }
}
