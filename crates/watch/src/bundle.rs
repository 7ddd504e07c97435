//! The files of the page, which are embedded in the program.

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($path:literal: $kind:expr,)*) => {
        &[$((concat!("/", $path), Asset { kind: $kind, text: include_str!(concat!("page/", $path)) }),)*]
    };
}

/// The files by path.
const ASSETS: &[(&str, Asset)] = assets! {
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "app.js": SCRIPT,
    "dom.js": SCRIPT,
    "link.js": SCRIPT,
    "picture.js": SCRIPT,
    "outline.js": SCRIPT,
    "log.js": SCRIPT,
    "steps.js": SCRIPT,
};

const PAGE: &str = include_str!("page/index.html");

/// The placeholder in the page for the visit key.
const KEY: &str = "{{key}}";

/// Returns a file by its path.
pub(crate) fn asset(path: &str) -> Option<Asset> {
    ASSETS.iter().find(|(known, _)| *known == path).map(|(_, asset)| *asset)
}

/// Returns the page; `key` is empty for a browser that was admitted earlier.
pub(crate) fn page(key: &str) -> String {
    PAGE.replace(KEY, key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_no_script_or_style_of_its_own() {
        assert_eq!(PAGE.matches(KEY).count(), 1);
        for forbidden in ["<script>", "<style", "style=", "onclick", "http://", "https://", "javascript:"] {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn scripts_insert_text_only() {
        for (path, asset) in ASSETS.iter().filter(|(path, _)| path.ends_with(".js")) {
            for forbidden in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
            {
                assert!(!asset.text.contains(forbidden), "{path}: {forbidden}");
            }
        }
    }

    /// The page escapes the same characters as every other output.
    #[test]
    fn script_names_every_unsafe_character() {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for c in ('\0'..=char::MAX).filter(|c| stickpin_tree::is_unsafe(*c)).map(u32::from) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == c => *last = c,
                _ => ranges.push((c, c)),
            }
        }
        let shown = |(first, last): &(u32, u32)| match first == last {
            true => format!("\\u{{{first:x}}}"),
            false => format!("\\u{{{first:x}}}-\\u{{{last:x}}}"),
        };
        let class = ranges.iter().map(shown).collect::<String>();
        assert!(asset("/dom.js").expect("a file").text.contains(&format!("/[{class}]/gu")), "{class}");
    }

    #[test]
    fn page_refers_to_files_that_are_there() {
        let names = PAGE.split('"').filter(|text| text.starts_with('/'));
        let missing: Vec<_> = names.filter(|path| asset(path).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
