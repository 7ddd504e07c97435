//! Firefox and its relatives.

use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile {
    is_browser: true,
    reads_text_late: true,
    knows_all_that_it_shows: true,
    hides_covered_windows: true,
    first_cells_are_headers: true,
    ..Profile::PLAIN
};
