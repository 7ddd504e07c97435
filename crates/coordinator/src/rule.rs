//! The text form of scope rules: `act:*`, `act:target=shop,origins=https://shop.test`.

use stickpin_device::{Error, Result};
use stickpin_session::turn::{Constraint, ScopeRule, TargetId, TargetRef, TargetSelector, Verb};
use stickpin_tree::quote;

/// Parses a rule that is to take effect.
///
/// # Errors
/// Returns the errors of [`parse`], and `INVALID_ARGS` for a limit on something that no device
/// reports: such a limit could not be enforced.
pub(crate) fn parse_enforceable(text: &str, targets: &[TargetRef]) -> Result<ScopeRule> {
    let rule = parse(text, targets)?;
    let limits = rule.constraint.as_ref();
    let unreported = [
        ("packages", limits.is_some_and(|limits| limits.packages.is_some())),
        ("windows", limits.is_some_and(|limits| limits.window_roles.is_some())),
        ("roots", limits.is_some_and(|limits| limits.file_roots.is_some())),
    ];
    match unreported.into_iter().find(|(_, is_set)| *is_set) {
        None => Ok(rule),
        Some((limit, _)) => {
            let message = format!(
                "the limit `{limit}` of {} cannot be enforced: no device reports such values yet",
                quote(text)
            );
            Err(Error::invalid_args(message).hint("limit the rule with `origins`, or omit the limit"))
        }
    }
}

/// Parses a rule about what a session must not do.
///
/// # Errors
/// Returns the errors of [`parse_enforceable`], and `INVALID_ARGS` for `observe`: reads are never
/// refused, so such a denial could not be enforced.
pub(crate) fn parse_denial(text: &str, targets: &[TargetRef]) -> Result<ScopeRule> {
    let rule = parse_enforceable(text, targets)?;
    if rule.verbs.contains(&Verb::Observe) {
        let message = format!("the denial {} cannot be enforced: no read is ever refused", quote(text));
        return Err(Error::invalid_args(message).hint("deny actions instead: `deny+=act:*`"));
    }
    Ok(rule)
}

/// Parses a rule, which may name one of `targets`. Folders are resolved, so that a symbolic link
/// cannot widen the rule.
///
/// # Errors
/// Returns `INVALID_ARGS`, with the reason why the text is not a rule.
pub(crate) fn parse(text: &str, targets: &[TargetRef]) -> Result<ScopeRule> {
    let bad = |why: &str| {
        Error::invalid_args(format!("{} is not a rule: {why}", quote(text))).hint(
            "write `VERB:TARGET[,LIMIT=VALUE]...`, for example `act:*` or `act:*,origins=https://shop.test`",
        )
    };
    let mut parts = text.split(',');
    let (verb, target) =
        parts.next().and_then(|first| first.split_once(':')).ok_or_else(|| bad("it has no target"))?;
    let verb = Verb::ALL.into_iter().find(|known| known.name() == verb);
    let verb = verb.ok_or_else(|| bad("its verb must be `observe`, `act` or `admin`"))?;
    let target = match target.strip_prefix("target=") {
        None if target == "*" => TargetSelector::Any,
        Some(id) if targets.iter().any(|target| target.target_id.as_str() == id) => {
            TargetSelector::Target(TargetId::new(id))
        }
        Some(_) => return Err(bad("the session has no such target")),
        None => return Err(bad("its target is neither `*` nor `target=ID`")),
    };
    let mut limits = Constraint::default();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| bad("a limit has no value"))?;
        if value.is_empty() {
            return Err(bad("a limit has no value"));
        }
        let (limit, value) = match name {
            "origins" => {
                (&mut limits.origins, origin(value).ok_or_else(|| bad("an origin must be `SCHEME://HOST`"))?)
            }
            "packages" => (&mut limits.packages, value.to_owned()),
            "windows" => (&mut limits.window_roles, value.to_owned()),
            "roots" => {
                let root = std::fs::canonicalize(value).ok().filter(|_| value.starts_with('/'));
                let root = root.and_then(|root| root.to_str().map(str::to_owned));
                (
                    &mut limits.file_roots,
                    root.ok_or_else(|| bad("a root must be the absolute path of an existing folder"))?,
                )
            }
            _ => return Err(bad("a limit must be `origins`, `packages`, `windows` or `roots`")),
        };
        limit.get_or_insert_default().insert(value);
    }
    let constraint = (limits != Constraint::default()).then_some(limits);
    Ok(ScopeRule { verbs: [verb].into(), target, constraint })
}

/// Returns the origin of an address: scheme, host and, if given, port; `None` for an address
/// without a scheme or without a host.
pub(crate) fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!scheme.is_empty() && !host.is_empty()).then(|| format!("{scheme}://{host}").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Vec<TargetRef> {
        let (target_id, text) = (TargetId::new("shop"), || "shop".to_owned());
        vec![TargetRef { target_id, kind: text(), label: text(), device_key: text() }]
    }

    #[test]
    fn rules_are_read_and_nothing_is_guessed() {
        let rule = parse("act:target=shop,origins=https://A.test/x,origins=https://b.test", &shop()).unwrap();
        assert_eq!(rule.target, TargetSelector::Target(TargetId::new("shop")));
        let origins = rule.constraint.unwrap().origins.unwrap();
        assert_eq!(origins, ["https://a.test".to_owned(), "https://b.test".to_owned()].into());
        assert_eq!(parse("observe:*", &shop()).unwrap().constraint, None);
        for text in ["observe:*", "admin:target=shop", "act:*,origins=https://a.test,origins=https://b.test"]
        {
            assert_eq!(parse(text, &shop()).unwrap().to_string(), text);
        }
        let all = "act:*,origins=https://a.test,packages=org.a,windows=dialog,roots=/";
        assert_eq!(parse(all, &shop()).unwrap().to_string(), all);
        for bad in [
            "act",
            "act:",
            "press:*",
            "act:target=mail",
            "act:web:page=2",
            "act:*,x=1",
            "act:*,origins=",
            "act:*,origins=shop.test",
            "act:*,roots=upload",
            "act:*,roots=/nowhere/at/all",
        ] {
            assert!(parse(bad, &shop()).is_err(), "{bad}");
        }
    }

    #[test]
    fn limit_that_no_device_reports_is_refused() {
        for (limit, value) in [("packages", "org.a"), ("windows", "dialog"), ("roots", "/")] {
            let text = format!("act:*,origins=https://a.test,{limit}={value}");
            let refused = parse_enforceable(&text, &shop()).unwrap_err();
            assert_eq!(refused.code, stickpin_device::ErrorCode::InvalidArgs);
            assert!(refused.message.contains(&format!("`{limit}`")), "{}", refused.message);
        }
        parse_enforceable("act:*,origins=https://a.test", &shop()).unwrap();
    }

    #[test]
    fn denial_of_reading_is_refused() {
        for text in ["observe:*", "observe:target=shop", "observe:*,origins=https://a.test"] {
            let refused = parse_denial(text, &shop()).unwrap_err();
            assert_eq!(refused.code, stickpin_device::ErrorCode::InvalidArgs);
            assert!(refused.message.contains("no read is ever refused"), "{}", refused.message);
            parse_enforceable(text, &shop()).expect("reading can be lent");
        }
        for text in ["act:*", "admin:*", "act:*,origins=https://a.test"] {
            parse_denial(text, &shop()).unwrap();
        }
    }

    #[test]
    fn credentials_and_paths_are_no_part_of_an_origin() {
        assert_eq!(origin("https://ada:x@shop.test:8080/a?b#c").as_deref(), Some("https://shop.test:8080"));
        assert_eq!((origin("about:blank"), origin("")), (None, None));
    }
}
