//! What is chosen in the combo boxes of GTK 3 that nothing labels. They are called what is chosen in them, unless the app
//! gave them a name: only what is chosen tells which of the two a name is.

use crate::bus::body::reference;
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, SELECTION};
use crate::bus::{Args, Call, Link, calls};
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
    let first = |&at: &usize| Call {
        path: &picture.objects[at].path,
        interface: SELECTION,
        member: "GetSelectedChild",
        args: Args::new().int(0),
    };
    let calls: Vec<Call<'_>> = asked.iter().map(first).collect();
    let mut chosen = Vec::with_capacity(asked.len());
    for (&at, answer) in asked.iter().zip(link.calls(&calls).await) {
        match answer.and_then(|answer| reference(&mut answer.body())) {
            Ok(child) => chosen.push((at, link.named(&picture.objects[at].path, child))),
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
            // Nothing is.
            Err(_) => {}
        }
    }
    let calls: Vec<Call<'_>> =
        chosen.iter().map(|(_, path)| calls::property(path, ACCESSIBLE, "Name")).collect();
    let names = link.calls(&calls).await;
    for ((at, _), answer) in chosen.iter().zip(names) {
        match answer.and_then(|answer| Ok(answer.body().variant_text()?.trim().to_owned())) {
            Ok(name) => picture.objects[*at].text = Some(name).filter(|name| !name.is_empty()),
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
            Err(_) => {}
        }
    }
    Ok(())
}
