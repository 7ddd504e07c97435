//! Selectors as locators.

use super::{Playwright, string};
use stickpin_tree::{Condition, Role, Selector};

/// Roles of ours that `getByRole` does not know.
const NO_ROLE: [Role; 12] = [
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

/// What is said of one element, before it is put together.
#[derive(Default)]
struct Said<'s> {
    role: Option<Role>,
    /// Its label or text, and whether only a part of it.
    name: Option<(&'static str, &'s str, bool)>,
    /// Options of `getByRole`.
    states: Vec<String>,
    /// Locators that must hold, too.
    and: Vec<String>,
    /// Where it stands.
    inside: Vec<String>,
    visible: bool,
    /// Whether it is a frame, which has no role there.
    frame: bool,
}

impl Playwright<'_> {
    /// The locator of a selector. Alternatives that find different elements fail, as several matches do.
    pub(super) fn locator(&self, selector: &Selector) -> Result<String, String> {
        let mut found: Option<String> = None;
        for (conditions, nth) in selector.alternatives() {
            let mut one = self.alternative(&conditions)?;
            if let Some(nth) = nth {
                one = format!("{one}.nth({})", nth.get() - 1);
            }
            found = Some(match found {
                Some(before) => format!("{before}.or({one})"),
                None => one,
            });
        }
        found.ok_or_else(|| "it is empty".to_owned())
    }

    fn alternative(&self, conditions: &[Condition<'_>]) -> Result<String, String> {
        let mut said = Said::default();
        let role = conditions.iter().find_map(|c| match c {
            Condition::Role(role) => Some(*role),
            _ => None,
        });
        said.frame = role == Some(Role::Iframe);
        said.role = role.filter(|role| !NO_ROLE.contains(role) && !said.frame);
        if let Some(role) = role.filter(|role| NO_ROLE.contains(role) && *role != Role::Text) {
            return Err(format!("it knows no role {role}"));
        }
        for condition in conditions {
            self.condition(condition, &mut said)?;
        }
        self.whole(said)
    }

    fn condition<'s>(&self, condition: &Condition<'s>, said: &mut Said<'s>) -> Result<(), String> {
        match *condition {
            Condition::Role(_) => {}
            Condition::Has { key: "id", part: false, value } => {
                said.and.push(format!("byId(page, {})", self.text(value)));
            }
            Condition::Has { key: key @ ("text" | "label"), part, value } if said.name.is_none() => {
                said.name = Some((key, value, part));
            }
            Condition::Has { key: "placeholder", part, value } => {
                let exact = if part { "" } else { ", { exact: true }" };
                said.and.push(format!("page.getByPlaceholder({}{exact})", self.text(value)));
            }
            Condition::Has { key: "row", value, .. } => {
                let row = "page.getByRole('row').or(page.getByRole('listitem'))";
                said.inside.push(format!("{row}.filter({{ hasText: {} }})", self.text(value)));
            }
            Condition::Has { key, .. } => return Err(format!("it cannot look for `{key}` here")),
            Condition::Is { flag: "visible", wanted: true }
            | Condition::Is { flag: "hidden", wanted: false } => {
                said.visible = true;
            }
            Condition::Is { flag, wanted } => state(flag, wanted, said)?,
            Condition::In(outer) => {
                let frame = if is_frame(outer) { ".contentFrame()" } else { "" };
                said.inside.push(format!("{}{frame}", self.locator(outer)?));
            }
            Condition::Css(css) => said.and.push(format!("page.locator({})", self.text(css))),
        }
        Ok(())
    }

    fn whole(&self, said: Said<'_>) -> Result<String, String> {
        let exact = |part: bool| if part { "" } else { ", { exact: true }" };
        let mut parts = Vec::new();
        match (said.role, said.name) {
            // Its name is its title there, or what it is labelled with.
            (None, name) if said.frame => {
                parts.push("page.locator('iframe')".to_owned());
                parts.extend(name.map(|(_, value, part)| {
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
                    name.iter().map(|(text, ..)| text.clone()).chain(said.states.clone()).collect();
                let options = if options.is_empty() {
                    String::new()
                } else {
                    format!(", {{ {} }}", options.join(", "))
                };
                let by_role = format!("page.getByRole({}{options})", string(role.name()));
                parts.push(match name {
                    // Fields for passwords have no role there.
                    Some((_, value, part)) if role == Role::TextBox && said.states.is_empty() => {
                        format!("{by_role}.or(page.getByLabel({}{}))", self.text(value), exact(part))
                    }
                    _ => by_role,
                });
            }
            (None, Some((_, value, part))) => {
                let (text, exact) = (self.text(value), exact(part));
                parts.push(format!("page.getByLabel({text}{exact}).or(page.getByText({text}{exact}))"));
            }
            (None, None) => {}
        }
        parts.extend(said.and);
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else {
            return Err("it says nothing that a locator can look for".to_owned());
        };
        let mut locator = parts.fold(first, |all, one| format!("{all}.and({one})"));
        for outer in said.inside {
            locator = format!("{outer}.locator({locator})");
        }
        if said.visible {
            locator.push_str(".filter({ visible: true })");
        }
        Ok(locator)
    }
}

/// Whether what it finds is a frame: what stands in it is found from its document.
fn is_frame(selector: &Selector) -> bool {
    selector.alternatives().all(|(conditions, _)| conditions.contains(&Condition::Role(Role::Iframe)))
}

fn state(flag: &str, wanted: bool, said: &mut Said<'_>) -> Result<(), String> {
    if said.role.is_some() {
        let option = match flag {
            "checked" | "expanded" | "selected" | "disabled" => Some(format!("{flag}: {wanted}")),
            "enabled" => Some(format!("disabled: {}", !wanted)),
            _ => None,
        };
        if let Some(option) = option {
            said.states.push(option);
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
        _ => return Err(format!("it cannot look for `{flag}={wanted}`")),
    };
    said.and.push(format!("page.locator({})", string(css)));
    Ok(())
}
