//! Qt. It dies of `Properties.GetAll` on its root.

use super::profile::{Chooser, Profile};

pub(super) const PROFILE: Profile = Profile {
    chooser: Chooser::Folder,
    has_an_empty_cache: true,
    leaves_out_popups: true,
    parks_parts_outside: true,
    folded_lists_say_shown: true,
    headers_lie_before_cells: true,
    headers_may_be_hidden: true,
    counts_trees_by_lines: true,
    shows_icons_in_tables: true,
    items_say_that_several_may_be_chosen: true,
    group_boxes_name_what_they_hold: true,
    several_say_focused: true,
    chosen_tab_says_focused: true,
    entries_say_only_checked: true,
    spin_boxes_say_only_read_only: true,
    combo_boxes_have_no_other_name: true,
    combo_boxes_hold_their_field: true,
    draws_in_order: true,
    paints_over_controls: true,
    docks_float: true,
    turns_without_click: true,
    menu_on_a_part: true,
    boxes_hold_controls: true,
    takes_presses_on_text_only: true,
    choosers_say_what_they_do: true,
    ..Profile::PLAIN
};
