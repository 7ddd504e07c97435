//! Colors of text output. Only our own words are colored: an app's words must not look like ours.

use anstyle::{AnsiColor, Style};

const REF: Style = AnsiColor::Cyan.on_default();
const CODE: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = Style::new().dimmed();

/// Colors the refs at the starts of lines, if the response issued them.
pub(crate) fn color_refs(text: &str, issued: &[(u32, u32)]) -> String {
    text.split_inclusive('\n').map(|line| answer_line(line, issued)).collect()
}

fn answer_line(line: &str, issued: &[(u32, u32)]) -> String {
    // The lines of a diff begin with a sign.
    let indent = line.len() - line.trim_start_matches([' ', '+', '-', '~']).len();
    let (before, rest) = line.split_at(indent);
    let digits = rest.strip_prefix("@e").map_or("", |after| {
        after.split_once(|c: char| !c.is_ascii_digit()).map_or(after, |(digits, _)| digits)
    });
    let is_issued = |number: u32| issued.iter().any(|(first, last)| (*first..=*last).contains(&number));
    if !digits.parse().is_ok_and(is_issued) {
        return line.to_owned();
    }
    let (name, rest) = rest.split_at("@e".len() + digits.len());
    format!("{before}{REF}{name}{REF:#}{rest}")
}

/// Colors the code and the hint of an error.
pub(crate) fn color_error(text: &str) -> String {
    let (first, hint) = text.split_once('\n').map_or((text, None), |(first, hint)| (first, Some(hint)));
    let first = match first.split_once(':') {
        Some((code, message)) => format!("{CODE}{code}:{CODE:#}{message}"),
        None => first.to_owned(),
    };
    let hint = hint.map(|hint| format!("\n{HINT}{hint}{HINT:#}")).unwrap_or_default();
    first + &hint
}

/// Adds a colored `warning:` before a warning.
pub(crate) fn color_warning(text: &str) -> String {
    format!("{WARNING}warning:{WARNING:#} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_issued_refs_are_colored() {
        let text = "  @e12 button \"@e3 Save\"\n+ @e13 link\n@e4 said by a page\ntext \"@e12\"\n@everyone";
        let expected =
            "  <@e12> button \"@e3 Save\"\n+ <@e13> link\n@e4 said by a page\ntext \"@e12\"\n@everyone";
        let shown = color_refs(text, &[(1, 3), (12, 13)]);
        assert_eq!(shown.replace(&REF.render().to_string(), "<").replace("\u{1b}[0m", ">"), expected);
    }

    #[test]
    fn error_code_and_hint_are_colored() {
        let shown = color_error("STALE_REF: @e1: gone\nlook: again").replace("\u{1b}[0m", ">");
        let shown = shown.replace(&CODE.render().to_string(), "<").replace(&HINT.render().to_string(), "(");
        assert_eq!(shown, "<STALE_REF:> @e1: gone\n(look: again>");
    }
}
