//! Lookup of the elements in an output by the text that its reader sees.

use crate::act::outcome::ActionOutput;
use crate::api::target::RefTarget;
use crate::command::definition::Command;
use crate::commands::find::FindOutput;
use crate::commands::open::OpenOutput;
use crate::commands::press::PressOutput;
use crate::commands::snapshot::{OutlineOutput, SnapshotOutput};
use crate::embed::answer::Answer;
use crate::observe::changes::Changes;
use crate::observe::resolve::{MAX_CANDIDATES, add_candidates};
use std::str::FromStr as _;
use stickpin_device::{Error, Result};
use stickpin_refs::{Generation, Ref, RefToken};
use stickpin_tree::quote;

/// An output that lists elements, one per line: `@e12 button "Save"`.
pub trait Listing {
    /// Returns the lines. Some have no ref.
    fn lines(&self) -> Vec<&str>;
}

impl Listing for OutlineOutput {
    fn lines(&self) -> Vec<&str> {
        self.tree.iter().flat_map(|tree| tree.lines()).collect()
    }
}

impl Listing for Changes {
    fn lines(&self) -> Vec<&str> {
        let lines = self.lines.iter().flat_map(|lines| lines.lines());
        // Removed elements no longer exist.
        lines.filter_map(|line| line.strip_prefix(['+', '~'])).collect()
    }
}

impl Listing for SnapshotOutput {
    fn lines(&self) -> Vec<&str> {
        match self {
            Self::Outline(outline) => outline.lines(),
            Self::Changes(changes) => changes.lines(),
        }
    }
}

impl Listing for ActionOutput {
    fn lines(&self) -> Vec<&str> {
        self.changes.iter().flat_map(Listing::lines).collect()
    }
}

impl Listing for PressOutput {
    fn lines(&self) -> Vec<&str> {
        self.acted.lines()
    }
}

impl Listing for OpenOutput {
    fn lines(&self) -> Vec<&str> {
        self.snapshot.iter().flat_map(Listing::lines).collect()
    }
}

impl Listing for FindOutput {
    fn lines(&self) -> Vec<&str> {
        self.matches.iter().map(|found| found.line.as_str()).collect()
    }
}

impl<C: Command<Output: Listing>> Answer<C> {
    /// Returns the ref of the only listed element with this name, pinned to this output.
    ///
    /// The whole name is compared, case-sensitively. Only a count at its end may be omitted (`Cart`
    /// matches `Cart (2)`). Elements with the same name are distinguished by a quoted part of the
    /// line: `"Remove" in "Ada"`.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` with the first lines that contain the name, `AMBIGUOUS_MATCH`
    /// with the first lines that match, or `INTERNAL` when the response issued no refs.
    pub fn find(&self, name: &str) -> Result<RefTarget> {
        let listed: Vec<(RefToken, &str)> = self.output.lines().into_iter().filter_map(with_ref).collect();
        let found: Vec<_> = listed.iter().filter(|(_, line)| is_named(line, name)).collect();
        match found[..] {
            [&(token, _)] => self.pinned_ref(token),
            [] => {
                let wanted = name.to_lowercase();
                let near: Vec<_> =
                    listed.iter().filter(|(_, line)| line.to_lowercase().contains(&wanted)).collect();
                let e = Error::element_not_found(format!("no listed element is named {}", quote(name)));
                Err(match near.is_empty() {
                    true => e.hint("use a name as the output prints it, or search with `Session::find`"),
                    false => add_candidates(e, "nearest:", &first(&near), near.len()),
                })
            }
            ref several => {
                let message = format!("{} listed elements are named {}", several.len(), quote(name));
                let e = Error::ambiguous_match(message);
                Err(add_candidates(e, "use part of one line:", &first(several), several.len()))
            }
        }
    }

    /// Returns the refs of all listed elements, pinned to this output, with their lines.
    ///
    /// # Errors
    /// Returns `INTERNAL` when elements are listed but the response issued no refs.
    pub fn elements(&self) -> Result<Vec<(RefTarget, &str)>> {
        let listed = self.output.lines().into_iter().filter_map(with_ref);
        listed.map(|(token, line)| Ok((self.pinned_ref(token)?, line))).collect()
    }

    /// Adds the pin of this response to a ref that it issued.
    fn pinned_ref(&self, token: RefToken) -> Result<RefTarget> {
        let Some(generation) = self.response.refs_generation else {
            return Err(Error::internal(format!("{token} is listed but was not issued")));
        };
        Ok(RefToken { pin: Some(Generation::new(generation)), ..token }.into())
    }
}

/// Returns the first of the given lines, at most as many as an error lists.
fn first(listed: &[&(RefToken, &str)]) -> Vec<(Ref, String)> {
    listed.iter().take(MAX_CANDIDATES).map(|(token, line)| (token.id, (*line).to_owned())).collect()
}

/// Returns the ref at the beginning of a line, and the whole line without its indentation. `None`
/// if there is no ref.
fn with_ref(line: &str) -> Option<(RefToken, &str)> {
    let line = line.trim_start();
    let word = line.split(' ').next().filter(|word| word.starts_with('@'))?;
    Some((RefToken::from_str(word).ok()?, line))
}

/// Returns whether a line such as `@e12 button "Save" ...` describes an element with this name. A
/// name that contains a quotation mark may also be any other part of the line.
fn is_named(line: &str, name: &str) -> bool {
    let mut words = line.splitn(3, ' ').skip(1);
    let (Some(_role), Some(rest)) = (words.next(), words.next()) else { return false };
    let quoted = quote(name);
    let Some(after) = rest.strip_prefix(&quoted[..quoted.len() - 1]) else {
        return name.contains('"') && line.contains(name);
    };
    let is_count = |rest: &str| {
        let digits = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
        digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    // The rest of the name, up to the closing quote.
    after.split_once('"').is_some_and(|(left, next)| {
        (left.is_empty() || is_count(left)) && (next.is_empty() || next.starts_with([' ', ',']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_compared_as_a_whole_but_for_a_count() {
        for (line, name) in [
            (r#"@e5 link "Cart (0)""#, "Cart"),
            (r#"@e5 link "Cart (0)" focused"#, "Cart (0)"),
            (r#"@e5 link "Cart (1)", was "Cart (0)""#, "Cart"),
            (r#"@e4 button "Remove" in "Ada, Window""#, "Remove"),
            (r#"@e4 button "Remove" in "Ada, Window""#, r#""Remove" in "Ada"#),
            (r#"@e4 button "say \"hi\"""#, r#"say "hi""#),
        ] {
            assert!(is_named(line, name), "{line} {name}");
        }
        for (line, name) in [
            (r#"@e8 button "Add to cart""#, "cart"),
            (r#"@e8 button "Cartoons""#, "Cart"),
            (r#"@e8 button "Cart (old)""#, "Cart"),
            (r#"@e8 button "Cart 2""#, "Cart"),
            (r#"@e4 button "Remove" in "Ada""#, "Ada"),
            (r#"@e9 form"#, "form"),
            (r#"@e9 textbox ="Cart""#, "Cart"),
            (r#"@e9 link "x" "#, ""),
        ] {
            assert!(!is_named(line, name), "{line} {name}");
        }
    }
}
