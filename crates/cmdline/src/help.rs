//! Help topics: short plain-text files for agents and people in a hurry.

/// The topics in reading order, with their texts.
pub const TOPICS: &[(&str, &str)] = &[
    ("workflow", include_str!("../help/workflow.md")),
    ("refs", include_str!("../help/refs.md")),
    ("selectors", include_str!("../help/selectors.md")),
    ("web", include_str!("../help/web.md")),
    ("replay", include_str!("../help/replay.md")),
    ("test", include_str!("../help/test.md")),
    ("turns", include_str!("../help/turns.md")),
    ("linux", include_str!("../help/linux.md")),
    ("paths", include_str!("../help/paths.md")),
];

/// Returns the text of a topic; `None` if there is no such topic.
#[must_use]
pub fn topic(name: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, text)| *text)
}

/// Returns the names of all topics, separated by commas.
#[must_use]
pub fn names() -> String {
    TOPICS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_short() {
        for (name, text) in TOPICS {
            let lines = text.lines().count();
            assert!((10..60).contains(&lines), "{name}: {lines} lines");
            for line in text.lines() {
                assert!(line.chars().count() <= 118, "{name}: {line}");
            }
        }
    }
}
