//! LibreOffice.

use super::profile::Profile;

pub(super) const PROFILE: Profile = Profile {
    knows_all_that_it_shows: true,
    labels_lack_names: true,
    tabs_hold_pages: true,
    ..Profile::PLAIN
};
