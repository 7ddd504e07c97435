//! GTK 4.

use super::profile::{Chooser, Popups, Profile};

pub(super) const PROFILE: Profile = Profile {
    // It answers -1 with nothing; others read beyond their text when the end lies behind it.
    text_end: i32::MAX,
    chooser: Chooser::Class,
    popups: Popups::InWindows,
    shows_windows_only: true,
    enables_nothing: true,
    hides_pages_silently: true,
    names_after_classes: true,
    labels_differ_from_their_names: true,
    tabs_have_one_name: true,
    wraps_controls: true,
    dialogs_are_fillers: true,
    lines_say_no_press: true,
    combo_boxes_list_nothing: true,
    is_asked_for_places: true,
    places_are_in_the_window: true,
    children_overlap: true,
    popovers_by_class: true,
    says_what_a_press_reaches: true,
    new_is_silent: true,
    draws_after_arrival: true,
    acts_later: true,
    spins_behind_text: true,
    caret_stays_before_text: true,
    fields_activate_nothing: true,
    ..Profile::PLAIN
};
