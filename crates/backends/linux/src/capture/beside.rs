//! Labels that nothing but their place ties to their field.

use super::grouped;
use crate::model::names;
use crate::model::roles::{is_field, number as role, number as n};
use crate::model::{Object, Picture};
use hashbrown::HashMap;

/// How far above a field its label may end, in pixels.
const ABOVE: i32 = 24;

/// The labels of fields without a name: the nearest one to the left in the same line, else the one right above, among
/// those in the same box.
pub(super) fn of_fields(picture: &Picture) -> HashMap<&str, &str> {
    let mut out = HashMap::new();
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let shown = || parent.children.iter().map(|&at| &picture.objects[at]).filter(|object| object.shown);
        let labels: Vec<(&Object, [i32; 4])> =
            shown().filter(|o| o.role == n::LABEL).filter_map(|o| Some((o, o.extents?))).collect();
        // GTK 4 calls a field without a name after its class.
        let classed =
            |o: &Object| is_field(o.role) && names::cleaned(&o.name, picture.toolkit, false, "").is_empty();
        let borrows = |o: &Object| grouped::borrows(parent, o, picture.toolkit);
        let nameless = |o: &&Object| lacks_name(o) || classed(o) || borrows(o);
        let fields: Vec<[i32; 4]> = shown().filter(nameless).filter_map(|o| o.extents).collect();
        let unlabelled = |o: &&Object| o.labelled_by.is_empty() || borrows(o);
        for field in shown().filter(|o| nameless(o) && unlabelled(o)) {
            let Some([left, top, width, height]) = field.extents else { continue };
            let before = |[x, y, w, h]: [i32; 4]| {
                let middle = y.saturating_add(h / 2);
                let in_line = middle >= top && middle <= top.saturating_add(height);
                let gap = left.saturating_sub(x.saturating_add(w));
                // It is the label of the first field behind it alone.
                let between = |&[fx, fy, _, fh]: &[i32; 4]| {
                    fx >= x.saturating_add(w) && fx < left && middle >= fy && middle <= fy.saturating_add(fh)
                };
                (in_line && gap >= 0 && !fields.iter().any(between)).then_some(gap)
            };
            let over = |[x, y, w, h]: [i32; 4]| {
                let gap = top.saturating_sub(y.saturating_add(h));
                let across = x < left.saturating_add(width) && left < x.saturating_add(w);
                ((0..=ABOVE).contains(&gap) && across).then_some(gap)
            };
            let nearest = |way: &dyn Fn([i32; 4]) -> Option<i32>| {
                labels.iter().filter_map(|(label, at)| Some((way(*at)?, *label))).min_by_key(|(gap, _)| *gap)
            };
            if let Some((_, label)) = nearest(&before).or_else(|| nearest(&over)) {
                let text =
                    label.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(&label.name);
                out.insert(field.path.as_str(), text.trim());
            }
        }
    }
    out.retain(|_, label| !label.is_empty());
    out
}

/// Whether an object may be called what the label beside it reads. The name of a combo box may be what is chosen in it.
pub(crate) fn lacks_name(object: &Object) -> bool {
    let control = is_field(object.role) || object.role == role::SLIDER;
    control && object.name.is_empty() || object.role == role::COMBO_BOX
}
