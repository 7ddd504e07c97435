//! GTK 3 and what else goes through its bridge: Java, VTE.

use super::profile::{Popups, Profile};

pub(super) const PROFILE: Profile = Profile {
    popups: Popups::AsWindows,
    has_sockets: true,
    labels_lack_names: true,
    tabs_hold_pages: true,
    cells_hold_cells: true,
    rows_name_their_parent: true,
    headers_lie_before_cells: true,
    combo_boxes_are_called_after_their_choice: true,
    combo_boxes_hold_their_field: true,
    draws_in_order: true,
    children_overlap: true,
    only_panels_overlap: true,
    popovers_are_panels: true,
    draws_after_arrival: true,
    locks_up_in_dialogs: true,
    caret_stays_before_text: true,
    ..Profile::PLAIN
};
