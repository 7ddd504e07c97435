//! `get title`, `get url`, `get WHAT TARGET`: prints one value.

use crate::commands::prelude::*;
use crate::observe::predicate::{state_words, text_of};
use serde_json::{Value, json};
use stickpin_device::{Page, Query};
use stickpin_tree::{DEFAULT_MAX_BYTES, States};

/// Print the title of the page or window.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetTitle {}

/// Print the address of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetUrl {}

/// Print one property of an element.
///
/// Text is printed line by line, with escapes for control characters; `--json` prints it unescaped.
/// Values are truncated at `--max-bytes` (default 24,000); the last line then says so.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Get {
    /// What to print.
    #[schemars(extend("x-positional" = 0))]
    pub what: Property,
    /// Ref or selector.
    #[schemars(extend("x-positional" = 1))]
    pub target: Target,
}

/// What can be queried about an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Property {
    /// The text inside the element.
    Text,
    /// The value of a field.
    Value,
    /// The accessible name.
    Name,
    /// The role.
    Role,
    /// All attributes that the platform reports for the element.
    Attrs,
    /// The bounding box, in viewport pixels.
    Box,
    /// The states, worded as in a snapshot.
    State,
    /// The HTML, or the platform's equivalent.
    Html,
}

/// A value, possibly truncated.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueOutput {
    /// The value, incomplete if `cut` is set.
    pub value: Value,
    /// The shown and the total size, if the value was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Truncation>,
}

/// The sizes of a truncated value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// The number of bytes shown.
    pub shown: usize,
    /// The total number of bytes.
    pub of: usize,
}

impl ValueOutput {
    /// Wraps a complete value.
    fn complete(value: Value) -> Self {
        Self { value, cut: None }
    }

    /// Wraps a value from the app, truncated at `--max-bytes`. A string is truncated at a character
    /// boundary. An object keeps its first fields, of which the last may itself be truncated. Any
    /// other value is kept whole.
    pub(crate) fn within_limit(value: Value, cx: &Cx) -> Self {
        Self::truncate(value, cx.render.max_bytes.unwrap_or(DEFAULT_MAX_BYTES))
    }

    fn truncate(value: Value, most: usize) -> Self {
        match value {
            Value::String(s) if s.len() > most => {
                let shown = s.floor_char_boundary(most);
                let of = s.len();
                Self { value: s[..shown].into(), cut: Some(Truncation { shown, of }) }
            }
            Value::Object(fields) => {
                let bytes =
                    |(name, value): (&String, &Value)| name.len() + value.as_str().map_or(8, str::len);
                let of: usize = fields.iter().map(bytes).sum();
                if of <= most {
                    return Self::complete(fields.into());
                }
                let mut shown = 0;
                let mut kept = serde_json::Map::new();
                for (name, value) in fields {
                    let left = most.saturating_sub(shown + name.len());
                    if left == 0 {
                        break;
                    }
                    let value = Self::truncate(value, left).value;
                    shown += bytes((&name, &value));
                    kept.insert(name, value);
                }
                Self { value: kept.into(), cut: Some(Truncation { shown, of }) }
            }
            value => Self::complete(value),
        }
    }
}

impl Command for GetTitle {
    const SPEC: Spec = Spec { name: "get title", examples: &["stickpin get title"], ..Spec::SESSION };
    type Output = ValueOutput;

    async fn run(self, cx: &mut Cx) -> Result<ValueOutput> {
        Ok(ValueOutput::complete(page(cx).await?.title.into()))
    }
}

impl Command for GetUrl {
    const SPEC: Spec = Spec { name: "get url", examples: &["stickpin get url"], ..Spec::SESSION };
    type Output = ValueOutput;

    async fn run(self, cx: &mut Cx) -> Result<ValueOutput> {
        Ok(ValueOutput::complete(url(cx).await?.into()))
    }
}

impl Command for Get {
    const SPEC: Spec = Spec {
        name: "get",
        needs: &[Capability::Capture],
        examples: &[
            "stickpin get text @e4",
            "stickpin get value 'label=\"Email\"'",
            "stickpin get box @e4 --json",
        ],
        ..Spec::SESSION
    };
    type Output = ValueOutput;

    async fn run(self, cx: &mut Cx) -> Result<ValueOutput> {
        let (tree, id) = resolve::resolve_element(cx, &self.target).await?;
        let node = tree.node(id);
        let handle = || {
            let gone =
                || Error::unsupported(format!("{} is not backed by an element in the app", self.target));
            node.address().ok_or_else(gone)
        };
        let value = match self.what {
            Property::Text | Property::Value if node.is(States::CLIPPED) => {
                cx.device()?.query(handle()?, Query::Text).await?
            }
            Property::Text => text_of(node).into(),
            Property::Value => node.value().into(),
            Property::Name => node.name().into(),
            Property::Role => node.role().name().into(),
            Property::State => state_words(node).into(),
            Property::Attrs => cx.device()?.query(handle()?, Query::Attrs).await?,
            Property::Html => cx.device()?.query(handle()?, Query::Html).await?,
            Property::Box => match cx.device()?.rects(&[handle()?]).await?.first().copied().flatten() {
                Some(r) => json!(r),
                None => Value::Null,
            },
        };
        Ok(ValueOutput::within_limit(value, cx))
    }
}

/// Returns the app's address and title, from the device if it knows them and from a capture
/// otherwise.
pub(crate) async fn page(cx: &mut Cx) -> Result<Page> {
    match cx.device()?.page().await? {
        Some(page) => Ok(page),
        None => captured_page(cx).await,
    }
}

/// Returns only the app's address. If the device knows it, the page need not respond.
pub(crate) async fn url(cx: &mut Cx) -> Result<String> {
    match cx.device()?.url().await? {
        Some(url) => Ok(url),
        None => Ok(captured_page(cx).await?.url),
    }
}

async fn captured_page(cx: &mut Cx) -> Result<Page> {
    let tree = capture::capture_now(cx).await?;
    let document = &tree.documents()[0];
    Ok(Page::new(document.url.clone(), document.title.clone()))
}

impl Show for ValueOutput {
    fn show(&self, text: &mut Text) {
        match &self.value {
            Value::Null => text.line("none"),
            Value::String(s) => text.app_text(s),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                text.line(words.join(" "));
            }
            Value::Object(fields) => {
                let lines: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                text.app_text(&lines.join("\n"));
            }
            other => text.line(other),
        }
        if let Some(Truncation { shown, of }) = self.cut {
            text.line(format_args!(
                "… {shown} of {of} bytes; use `--max-bytes {of}` to print all, or name a smaller element"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_at_a_character_and_say_how_long_they_are() {
        let ValueOutput { value, cut } = ValueOutput::truncate("aäöü".into(), 4);
        assert_eq!((value, cut.map(|c| (c.shown, c.of))), ("aä".into(), Some((3, 7))));
        assert!(ValueOutput::truncate("abcd".into(), 4).cut.is_none());
        let ValueOutput { value, cut } =
            ValueOutput::truncate(json!({ "id": "x", "style": "0123456789", "class": "y" }), 12);
        assert_eq!(value, json!({ "id": "x", "style": "0123" }));
        assert_eq!(cut.map(|c| (c.shown, c.of)), Some((12, 24)));
    }
}
