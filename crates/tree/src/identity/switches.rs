//! One switch per clause, so that what each is worth can be measured.

use bitflags::bitflags;

bitflags! {
    /// The clauses of the record rule that can be switched off to measure them. The product always uses all:
    /// see `docs/records.md` for the table.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Switches: u32 {
        /// Keys on rows.
        const KEYS = 1;
        /// Keys in step with the place of their rows are indexes, not keys.
        const KEYS_IN_STEP = 1 << 1;
        /// The text that tells a row from its siblings.
        const ROW_TEXT = 1 << 2;
        /// Link targets count like text.
        const ROW_LINKS = 1 << 3;
        /// Volatile text tells nothing.
        const VOLATILE = 1 << 4;
        /// Names of other controls, where the text tells nothing.
        const ROW_NAMES = 1 << 5;
        /// The element's own name, where no sibling row has one like it.
        const OWN_NAME = 1 << 6;
        /// Numbers, where nothing better tells the rows apart.
        const ROW_NUMBERS = 1 << 7;
        /// Values of fields show that rows without anything else were shifted.
        const ROW_SHIFTS = 1 << 8;
        /// A row that tells nothing: the next row outside it.
        const OUTER_ROW = 1 << 9;
        /// Repeated structure without a role makes rows.
        const STRUCTURE = 1 << 10;
        /// The row at issue stays the row while its node lives around the element.
        const ROW_LIVES = 1 << 11;
        /// Headings.
        const HEADINGS = 1 << 12;
        /// A heading whose node still reads the same holds, wherever the nearest one is now.
        const HEADING_LIVES = 1 << 13;
        /// Sections between the element and its heading.
        const SECTIONS = 1 << 14;
        /// Banners, navigation and the like need no record.
        const FRAMEWORK = 1 << 15;
        /// Openers of menus and dialogs.
        const OPENERS = 1 << 16;
        /// Texts of dialogs, alerts and live regions.
        const DIALOG_TEXT = 1 << 17;
        /// Names may differ in counts.
        const COUNTS_IN_NAMES = 1 << 18;
        /// Text nodes side by side are one leaf.
        const JOINED_TEXT = 1 << 19;
        /// Content matching at all.
        const CONTENT_MATCH = 1 << 20;
        /// Content matching inside a row that kept its node.
        const ROW_KEPT = 1 << 21;
        /// Content matching where the replaced part reads the same.
        const READS_SAME = 1 << 22;
        /// Content matching in a reloaded document.
        const RELOAD = 1 << 23;
        /// Hidden is not replaced.
        const HIDDEN = 1 << 24;
        /// What was another element before replaces nothing.
        const FRESH = 1 << 25;
        /// Titles of groups between the element and its heading.
        const GROUPS = 1 << 26;
        /// Rows that say nothing themselves are asked where they stand.
        const PARTS = 1 << 27;
        /// What an element without a name says stands for its name.
        const WORDS = 1 << 28;
    }
}
