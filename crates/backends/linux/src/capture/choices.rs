//! What is chosen in the combo boxes of GTK 3 that nothing labels. They are called what is chosen in them, unless the app
//! gave them a name: only what is chosen tells which of the two a name is.

use crate::bus::body::Reference;
use crate::bus::fault::{Fault, unless_lost};
use crate::bus::names::{ACCESSIBLE, SELECTION};
use crate::bus::{Call, Link, calls};
use crate::model::roles::number as role;
use crate::model::{Interfaces, Picture};

/// Writes down what is chosen, as the text of the combo box.
///
/// # Errors
/// When the app is gone or silent.
pub(super) async fn read(link: &Link, picture: &mut Picture) -> Result<(), Fault> {
    if !picture.toolkit.profile().combo_boxes_are_called_after_their_choice {
        return Ok(());
    }
    let asked = picture.objects.iter().enumerate().filter(|(_, o)| {
        o.shown
            && o.role == role::COMBO_BOX
            && !o.name.trim().is_empty()
            && o.labelled_by.is_empty()
            && o.has(Interfaces::SELECTION)
    });
    let asked: Vec<usize> = asked.map(|(at, _)| at).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let first = |&at: &usize| Call::new(&picture.objects[at].path, SELECTION, "GetSelectedChild").with((0,));
    let chosen = link.each::<Reference>(&asked.iter().map(first).collect::<Vec<_>>()).await?;
    // Nothing is chosen in those that name nothing.
    let chosen = asked.iter().zip(chosen).filter_map(|(&at, child)| Some((at, child?)));
    let chosen: Vec<(usize, String)> =
        chosen.map(|(at, child)| (at, link.named(&picture.objects[at].path, child))).collect();
    let calls: Vec<Call<'_>> =
        chosen.iter().map(|(_, path)| calls::property(path, ACCESSIBLE, "Name")).collect();
    for ((at, _), answer) in chosen.iter().zip(link.calls(&calls).await) {
        if let Some(name) = unless_lost(answer.and_then(|answer| answer.property_text()))? {
            picture.objects[*at].text = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        }
    }
    Ok(())
}
