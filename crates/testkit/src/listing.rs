//! Parses a printed outline.

/// A line of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingLine {
    /// The indentation level.
    pub depth: usize,
    /// The ref, as in `@e12`, or empty.
    pub id: String,
    /// The role, as in `button`.
    pub role: String,
    /// The printed name without quotes, with escapes of quotes and backslashes decoded.
    pub name: String,
    /// The rest after the name, such as states.
    pub suffix: String,
}

impl ListingLine {
    /// Parses a line; `None` for headers and remarks.
    pub fn read(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 2;
        let (r#ref, text) = match text.strip_prefix('@') {
            Some(rest) => {
                let (number, rest) = rest.split_once(' ')?;
                (format!("@{number}"), rest)
            }
            None => (String::new(), text),
        };
        let (role, rest) = text.split_once(' ').unwrap_or((text, ""));
        if role.is_empty() || !role.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
            return None;
        }
        let (name, rest) = quoted(rest).unwrap_or((String::new(), rest));
        Some(Self { depth, id: r#ref, role: role.to_owned(), name, suffix: rest.trim().to_owned() })
    }

    /// Returns whether the line has this role and name. Ignores case, because styles may capitalize
    /// a name.
    pub fn is_called(&self, role: &str, name: &str) -> bool {
        self.role == role && self.name.eq_ignore_ascii_case(name)
    }

    /// Returns whether a word occurs after the name.
    pub fn is(&self, state: &str) -> bool {
        self.suffix.split(' ').any(|w| w == state)
    }

    /// Returns the value of a `key="value"` or `key=value` after the name.
    pub fn attr(&self, key: &str) -> Option<String> {
        let at = self.suffix.find(&format!("{key}="))?;
        if at > 0 && !self.suffix[..at].ends_with(' ') {
            return None;
        }
        let value = &self.suffix[at + key.len() + 1..];
        Some(quoted(value).map_or_else(|| value.split(' ').next().unwrap_or("").to_owned(), |(v, _)| v))
    }
}

/// Parses the quoted text at the start; also returns what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &inner[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
    None
}

/// A printed outline.
#[derive(Debug, Clone, Default)]
pub struct Listing(pub Vec<ListingLine>);

impl Listing {
    /// Parses the output of `snapshot`, without the header.
    pub fn read(text: &str) -> Self {
        Self(text.lines().filter(|l| !l.starts_with("page ")).filter_map(ListingLine::read).collect())
    }

    /// Returns the lines with a role, with refs or without.
    pub fn all(&self, role: &str) -> Vec<&ListingLine> {
        self.0.iter().filter(|l| l.role == role).collect()
    }

    /// Returns the line with a role and name.
    pub fn get(&self, role: &str, name: &str) -> Option<&ListingLine> {
        self.0.iter().find(|l| l.role == role && l.name == name)
    }

    /// Returns the line with a role and name near some text: in the smallest row or similar
    /// container of the text that has one, otherwise the first after the text.
    pub fn within(&self, near: &str, role: &str, name: &str) -> Option<&ListingLine> {
        const ROWS: [&str; 6] = ["row", "listitem", "article", "group", "region", "dialog"];
        let at = self.0.iter().position(|l| l.name.contains(near) || l.suffix.contains(near))?;
        let fits = |l: &&ListingLine| l.is_called(role, name);
        let mut depth = self.0[at].depth + 1;
        for (from, row) in self.0[..=at].iter().enumerate().rev() {
            if row.depth >= depth {
                continue;
            }
            depth = row.depth;
            if ROWS.contains(&row.role.as_str()) {
                let inside = self.0[from + 1..].iter().take_while(|l| l.depth > depth);
                if let Some(found) = inside.into_iter().find(fits) {
                    return Some(found);
                }
            }
        }
        self.0[at..].iter().find(fits)
    }
}

#[cfg(test)]
#[test]
fn listing_lines_parse() {
    let line =
        ListingLine::read(r#"  @e12 textbox "Say \"hi\"" value="a b" focused level=2"#).expect("a line");
    assert_eq!((line.depth, line.id.as_str(), line.role.as_str()), (1, "@e12", "textbox"));
    assert_eq!(line.name, "Say \"hi\"");
    assert_eq!(line.attr("value").as_deref(), Some("a b"));
    assert_eq!(line.attr("level").as_deref(), Some("2"));
    assert!(line.is("focused"));
    assert_eq!(ListingLine::read("… 12 more listitem"), None);
    assert_eq!(ListingLine::read("canvas").expect("no name").role, "canvas");
}
