//! Converts selectors into locators.

use super::{PlaywrightWriter, string};
use crate::formats::writer::required_role;
use stickpin_tree::{Compare, Condition, Role, Selector};

/// The roles that `getByRole` does not support.
const UNSUPPORTED_ROLES: [Role; 12] = [
    Role::Document,
    Role::Text,
    Role::Generic,
    Role::Clickable,
    Role::Window,
    Role::Video,
    Role::Audio,
    Role::Canvas,
    Role::Label,
    Role::Legend,
    Role::Mark,
    Role::Suggestion,
];

/// The conditions on one element, before they are combined.
#[derive(Default)]
struct LocatorParts<'s> {
    role: Option<Role>,
    /// `label` or `text`, the value that the element must have there, and whether it is enough that
    /// the element's label or text contains this value.
    name: Option<(&'static str, &'s str, bool)>,
    /// The options for `getByRole`.
    states: Vec<String>,
    /// The locators that must match as well.
    and: Vec<String>,
    /// The locators of the ancestors: for each ancestor, the alternatives.
    ancestors: Vec<Vec<String>>,
    visible: bool,
    /// Whether the element is a frame, which has no role in Playwright.
    frame: bool,
}

impl PlaywrightWriter<'_> {
    /// Returns the locator of a selector. The locator finds the first alternative that exists, as
    /// our selectors do.
    pub(super) fn locator(&self, selector: &Selector) -> Result<String, String> {
        let mut all = self.locators(selector)?;
        if all.len() == 1 {
            return Ok(all.remove(0));
        }
        Ok(format!("(await firstOf({}))", all.join(", ")))
    }

    /// Returns the locators of the alternatives, in the order in which they are tried.
    pub(super) fn locators(&self, selector: &Selector) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for (conditions, nth) in selector.alternatives() {
            let nth_call = nth.map(|nth| format!(".nth({})", nth.get() - 1)).unwrap_or_default();
            all.extend(self.alternative(&conditions)?.into_iter().map(|one| one + &nth_call));
        }
        if all.is_empty() { Err("the selector is empty".to_owned()) } else { Ok(all) }
    }

    fn alternative(&self, conditions: &[Condition<'_>]) -> Result<Vec<String>, String> {
        let mut parts = LocatorParts::default();
        let role = required_role(conditions);
        parts.frame = role == Some(Role::Iframe);
        parts.role = role.filter(|role| !UNSUPPORTED_ROLES.contains(role) && !parts.frame);
        if let Some(role) = role.filter(|role| UNSUPPORTED_ROLES.contains(role) && *role != Role::Text) {
            return Err(format!("Playwright has no role {role}"));
        }
        for condition in conditions {
            self.condition(condition, &mut parts)?;
        }
        self.combine_locators(parts)
    }

    fn condition<'s>(&self, condition: &Condition<'s>, parts: &mut LocatorParts<'s>) -> Result<(), String> {
        match *condition {
            Condition::Role(_) => {}
            Condition::Has { compare: compare @ (Compare::StartsWith | Compare::EndsWith), .. } => {
                return Err(format!("the operator `{}` has no counterpart", compare.sign()));
            }
            Condition::Has { key: "id", compare: Compare::Equals, value } => {
                parts.and.push(format!("byId(page, {})", self.text(value)));
            }
            Condition::Has { key: key @ ("text" | "label"), compare, value } if parts.name.is_none() => {
                parts.name = Some((key, value, compare == Compare::Contains));
            }
            Condition::Has { key: "placeholder", compare, value } => {
                let exact = if compare == Compare::Contains { "" } else { ", { exact: true }" };
                parts.and.push(format!("page.getByPlaceholder({}{exact})", self.text(value)));
            }
            Condition::Has { key: "row", value, .. } => {
                let row = "page.getByRole('row').or(page.getByRole('listitem'))";
                parts
                    .ancestors
                    .push(vec![format!("{row}.filter({{ hasText: words({}) }})", self.text(value))]);
            }
            Condition::Has { key, .. } => return Err(format!("the selector key `{key}` has no counterpart")),
            Condition::Is { flag: "visible", wanted: true }
            | Condition::Is { flag: "hidden", wanted: false } => {
                parts.visible = true;
            }
            Condition::Is { flag, wanted } => add_state(flag, wanted, parts)?,
            Condition::In(outer) => {
                let frame = if is_frame(outer) { ".contentFrame()" } else { "" };
                let outer = self.locators(outer)?;
                parts.ancestors.push(outer.into_iter().map(|outer| outer + frame).collect());
            }
            Condition::Css(css) => parts.and.push(format!("page.locator({})", self.text(css))),
        }
        Ok(())
    }

    fn combine_locators(&self, parts: LocatorParts<'_>) -> Result<Vec<String>, String> {
        let exact = |part: bool| if part { "" } else { ", { exact: true }" };
        // Locators by name, in the order in which they are tried: an element with the label comes
        // before one that displays it.
        let mut named: Vec<String> = Vec::new();
        let mut and = parts.and;
        match (parts.role, parts.name) {
            // A frame is found by its title or its label.
            (None, name) if parts.frame => {
                named.push("page.locator('iframe')".to_owned());
                and.extend(name.map(|(_, value, part)| {
                    let (text, exact) = (self.text(value), exact(part));
                    format!("page.getByTitle({text}{exact}).or(page.getByLabel({text}{exact}))")
                }));
            }
            (Some(role), name) => {
                let name = name.map(|(_, value, part)| {
                    let exact = if part { "" } else { ", exact: true" };
                    (format!("name: {}{exact}", self.text(value)), value, part)
                });
                let options: Vec<String> =
                    name.iter().map(|(text, ..)| text.clone()).chain(parts.states.clone()).collect();
                let options = (!options.is_empty()).then(|| format!(", {{ {} }}", options.join(", ")));
                let options = options.unwrap_or_default();
                named.push(format!("page.getByRole({}{options})", string(role.name())));
                // Password fields have no role in Playwright.
                if let Some((_, value, part)) = name
                    && role == Role::TextBox
                    && parts.states.is_empty()
                {
                    let label = format!("page.getByLabel({}{})", self.text(value), exact(part));
                    named.push(format!("{label}.and(page.locator('input[type=password]'))"));
                }
            }
            (None, Some((_, value, part))) => {
                let (text, exact) = (self.text(value), exact(part));
                named.push(format!("page.getByLabel({text}{exact})"));
                named.push(format!("page.getByText({text}{exact})"));
            }
            (None, None) if and.is_empty() => {
                return Err("the selector has no condition that a locator can express".to_owned());
            }
            (None, None) => named.push(and.remove(0)),
        }
        let visible = if parts.visible { ".filter({ visible: true })" } else { "" };
        for one in &mut named {
            *one = and.iter().fold(std::mem::take(one), |all, one| format!("{all}.and({one})"));
        }
        for outer in parts.ancestors {
            let within = |one: &String| {
                outer.iter().map(|outer| format!("{outer}.locator({one})")).collect::<Vec<_>>()
            };
            named = named.iter().flat_map(within).collect();
        }
        Ok(named.into_iter().map(|one| one + visible).collect())
    }
}

/// Returns whether every alternative of the selector finds a frame. Elements inside a frame are
/// located from its document.
fn is_frame(selector: &Selector) -> bool {
    selector.alternatives().all(|(conditions, _)| conditions.contains(&Condition::Role(Role::Iframe)))
}

fn add_state(flag: &str, wanted: bool, parts: &mut LocatorParts<'_>) -> Result<(), String> {
    if parts.role.is_some() {
        let option = match flag {
            "checked" | "expanded" | "selected" | "disabled" => Some(format!("{flag}: {wanted}")),
            "enabled" => Some(format!("disabled: {}", !wanted)),
            _ => None,
        };
        if let Some(option) = option {
            parts.states.push(option);
            return Ok(());
        }
    }
    let css = match (flag, wanted) {
        ("checked", true) => ":checked",
        ("checked", false) => ":not(:checked)",
        ("enabled", true) | ("disabled", false) => ":enabled",
        ("disabled", true) | ("enabled", false) => ":disabled",
        ("focused", true) => ":focus",
        ("focused", false) => ":not(:focus)",
        ("selected", true) => "[aria-selected=\"true\"]",
        ("expanded", true) => "[aria-expanded=\"true\"]",
        ("editable", true) => ":read-write",
        _ => return Err(format!("the state `{flag}={wanted}` has no counterpart")),
    };
    parts.and.push(format!("page.locator({})", string(css)));
    Ok(())
}
