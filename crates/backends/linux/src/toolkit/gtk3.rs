//! Peculiarities of GTK 3: a combo box without a name is named after its selected option. Only that
//! option reveals whether a name is the combo box's own.

use crate::bus::{ACCESSIBLE, BusResult, Call, Link, Reference, SELECTION, calls, unless_lost};
use crate::model::{Interfaces, ObjectTree, role};

/// Reads the selected options of combo boxes.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(super) async fn read_chosen_options(link: &Link, picture: &mut ObjectTree) -> BusResult<()> {
    let is_asked = |at: &usize| {
        let o = &picture[*at];
        let named = !o.name.trim().is_empty() && o.labelled_by.is_empty();
        o.shown && o.role == role::COMBO_BOX && named && o.has(Interfaces::SELECTION)
    };
    let asked: Vec<usize> = (0..picture.objects.len()).filter(is_asked).collect();
    let first = |&at: &usize| Call::new(&picture[at].path, SELECTION, "GetSelectedChild").with((0,));
    let chosen = link.each::<Reference>(&asked.iter().map(first).collect::<Vec<_>>()).await?;
    // Combo boxes that return nothing have no selected option.
    let path = |(&at, child)| Some((at, link.resolve_path(&picture[at].path, child?)));
    let chosen: Vec<(usize, String)> = asked.iter().zip(chosen).filter_map(path).collect();
    let calls: Vec<Call<'_>> =
        chosen.iter().map(|(_, path)| calls::property(path, ACCESSIBLE, "Name")).collect();
    for ((at, _), answer) in chosen.iter().zip(link.calls(&calls).await) {
        if let Some(name) = unless_lost(answer.and_then(|answer| answer.property_text()))? {
            picture[*at].text = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        }
    }
    Ok(())
}
