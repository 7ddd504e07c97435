//! Relaxes selectors that no longer match, to suggest what they may have meant.

use super::{Alternative, Key, Selector, Term};

/// The property that a suggestion shares with a selector, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuggestionReason {
    /// The same developer's id.
    Id,
    /// The same role, and the same label, text or placeholder.
    RoleAndLabel,
    /// The same label, text or placeholder.
    Label,
}

impl SuggestionReason {
    /// Returns the name of the reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::RoleAndLabel => "role and label",
            Self::Label => "label",
        }
    }
}

impl Selector {
    /// Returns selectors made of some of the terms, best first: for each shared property, first
    /// within the same containers, then anywhere. The returned selectors have no `nth`.
    #[must_use]
    pub fn relaxed(&self) -> Vec<(SuggestionReason, Self)> {
        let mut found: Vec<(SuggestionReason, Self)> = Vec::new();
        let mut add = |likeness, terms: Vec<Term>| {
            let selector = Self { alternatives: vec![Alternative { terms, nth: None }] };
            if !found.iter().any(|(_, known)| *known == selector) {
                found.push((likeness, selector));
            }
        };
        for likeness in [SuggestionReason::Id, SuggestionReason::RoleAndLabel, SuggestionReason::Label] {
            for alternative in &self.alternatives {
                let of = |wanted: fn(&Term) -> bool| -> Vec<Term> {
                    alternative.terms.iter().filter(|t| wanted(t)).cloned().collect()
                };
                let label =
                    of(|t| matches!(t, Term::Has { key: Key::Label | Key::Text | Key::Placeholder, .. }));
                let role = of(|t| matches!(t, Term::Role(_)));
                let terms = match likeness {
                    SuggestionReason::Id => of(|t| matches!(t, Term::Has { key: Key::Id, .. })),
                    SuggestionReason::RoleAndLabel if !label.is_empty() && !role.is_empty() => {
                        [role, label].concat()
                    }
                    SuggestionReason::Label => label,
                    SuggestionReason::RoleAndLabel => Vec::new(),
                };
                if terms.is_empty() {
                    continue;
                }
                let containers = of(|t| matches!(t, Term::In(_)));
                if !containers.is_empty() {
                    add(likeness, [terms.clone(), containers].concat());
                }
                add(likeness, terms);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relaxed_selectors_drop_terms_in_order() {
        let selector: Selector = r#"id=save || role=button label="Save all" row="Mail 1" in(role=dialog)"#
            .parse()
            .expect("a selector");
        let relaxed: Vec<(&str, String)> =
            selector.relaxed().into_iter().map(|(why, s)| (why.name(), s.to_string())).collect();
        assert_eq!(
            relaxed,
            [
                ("id", "id=save".to_owned()),
                ("role and label", r#"role=button label="Save all" in(role=dialog)"#.to_owned()),
                ("role and label", r#"role=button label="Save all""#.to_owned()),
                ("label", r#"label="Save all" in(role=dialog)"#.to_owned()),
                ("label", r#"label="Save all""#.to_owned()),
            ]
        );
    }
}
