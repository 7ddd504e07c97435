//! Which requests an element receives before it is pressed through its own action, and in which
//! order: its position, its identity, its actions, and then the press. The test app logs the
//! requests.

use super::speaker::{Asked, FIRST, SECOND, Speaker};
use crate::act::focus;
use crate::app::LinuxDevice;
use crate::app::window_stack::FRESH;
use crate::toolkit::profile::Toolkit;
use std::time::Instant;
use stickpin_device::{
    Action, AimOptions, CancellationToken, CaptureRequest, CaptureResult, Device, Dispatched, ErrorCode,
    HitResult, LocatedElement, PreparedInput,
};
use stickpin_tree::Handle;

pub(super) const PRESS: AimOptions<'static> = AimOptions::PLAIN_PRESS;

/// Returns the app, a device that has read it, and its two buttons.
pub(crate) async fn read(
    app: &Speaker,
) -> (LinuxDevice, std::sync::Arc<crate::events::AppEvents>, [Handle; 2]) {
    let (mut device, heard) = app.device().await;
    let CaptureResult::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
        panic!("nothing was stored")
    };
    let button = |name: &str| tree.nodes().find(|n| n.name() == name).and_then(|n| n.handle()).expect(name);
    let buttons = [button("Save"), button("Other")];
    app.asked();
    (device, heard, buttons)
}

async fn name(device: &mut LinuxDevice, button: Handle) -> String {
    let located = device.locate(button, &[]).await.unwrap().expect("it is there");
    located.tree.node(located.node).name().to_owned()
}

async fn aim(device: &mut LinuxDevice, button: Handle) {
    let aim = device.aim(button, PRESS).await.unwrap();
    assert_eq!(aim.hit, HitResult::Target);
}

async fn press(device: &mut LinuxDevice, button: Handle) {
    let action = Action::press((50.0, 25.0), Some(button));
    let performed = device.perform(&action, &CancellationToken::new()).await.unwrap();
    assert!(performed.handled);
}

/// Returns the position of the last such request to an object.
fn last(asked: &[Asked], path: &str, what: &str) -> usize {
    let found = asked.iter().rposition(|(of, asked, _)| of == path && asked == what);
    found.unwrap_or_else(|| panic!("{path} was not asked for {what}: {asked:?}"))
}

fn index(asked: &[Asked]) -> i32 {
    asked[last(asked, FIRST, "DoAction")].2
}

#[tokio::test]
async fn press_asks_place_identity_and_actions_in_order() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    app.becomes(|now| now.actions = vec!["win.undo", "click"]);
    assert_eq!(name(&mut device, save).await, "Save");
    aim(&mut device, save).await;
    assert_eq!(name(&mut device, save).await, "Save");
    press(&mut device, save).await;
    let asked = app.asked();
    let order = ["GetExtents", "Name", "GetActions", "DoAction"].map(|what| last(&asked, FIRST, what));
    assert!(order.is_sorted(), "{asked:?}");
    let order = ["GetExtents", "GetState", "GetActions"].map(|what| last(&asked, FIRST, what));
    assert!(order.is_sorted(), "{asked:?}");
    assert_eq!(index(&asked), 1, "the element's own action among those of the window");
    // Each press uses the actions that were reported for it.
    app.becomes(|now| now.actions = vec!["click"]);
    name(&mut device, save).await;
    press(&mut device, save).await;
    assert_eq!(index(&app.asked()), 0);
    // One prefetched answer does not serve two presses.
    app.becomes(|now| now.actions = vec!["win.undo", "click"]);
    press(&mut device, save).await;
    assert_eq!(index(&app.asked()), 1);
}

/// If the app performed the action and then failed, a press with the pointer would be a second
/// press.
#[tokio::test]
async fn what_answers_a_press_with_an_error_is_not_pressed_once_more() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    let action = Action::press((50.0, 25.0), Some(save));
    app.becomes(|now| now.refuses = vec![(FIRST, "DoAction")]);
    let error = device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.dispatched, Dispatched::Unknown, "{error}");
    assert!(error.message.contains("button \"Save\"") && error.message.contains("not now"), "{error}");
    // If an element has no such action, nothing happened, and the pointer is tried. There is no
    // pointer here.
    app.becomes(|now| (now.refuses, now.forgets) = (Vec::new(), vec![(FIRST, "DoAction")]));
    let error = device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.dispatched, Dispatched::No, "{error}");
    assert!(error.message.contains("press with the pointer"), "{error}");
}

#[tokio::test]
async fn what_was_asked_of_one_element_is_no_answer_for_another() {
    let app = Speaker::start();
    let (mut device, _, [save, other]) = read(&app).await;
    app.becomes(|now| now.actions = vec!["win.undo", "click"]);
    name(&mut device, save).await;
    aim(&mut device, save).await;
    app.asked();
    press(&mut device, other).await;
    let asked = app.asked();
    assert!(last(&asked, SECOND, "GetActions") < last(&asked, SECOND, "DoAction"));
    assert_eq!(asked[last(&asked, SECOND, "DoAction")].2, 0);
}

#[tokio::test]
async fn what_signals_after_it_was_looked_at_is_looked_at_again() {
    let app = Speaker::start();
    let (mut device, heard, [save, _]) = read(&app).await;
    name(&mut device, save).await;
    aim(&mut device, save).await;
    app.becomes(|now| now.name = "Delete".to_owned());
    app.signals(&heard).await;
    assert_eq!(name(&mut device, save).await, "Delete");
}

#[tokio::test]
async fn element_is_rechecked_without_a_signal() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    name(&mut device, save).await;
    aim(&mut device, save).await;
    // No toolkit signals every change.
    app.becomes(|now| now.name = "Delete".to_owned());
    assert_eq!(name(&mut device, save).await, "Delete");
}

#[tokio::test]
async fn what_answers_with_an_error_is_not_taken_for_what_it_was() {
    for (what, forgotten) in [("Name", false), ("GetState", false), ("GetRole", false), ("Name", true)] {
        let app = Speaker::start();
        let (mut device, _, [save, _]) = read(&app).await;
        let before = device.locate(save, &[]).await.unwrap().expect("it is there").tree;
        app.becomes(|now| {
            now.name = "Delete".to_owned();
            match forgotten {
                true => now.forgets = vec![(FIRST, what)],
                false => now.refuses = vec![(FIRST, what)],
            }
        });
        let after = device.locate(save, &[]).await.unwrap();
        assert!(
            after.is_none_or(|after| !std::sync::Arc::ptr_eq(&before, &after.tree)),
            "{what} {forgotten}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_pressed_to_get_the_focus_gets_no_keys() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    app.becomes(|now| now.nowhere = usize::MAX);
    let error = focus::focus_element(&mut device, save).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementOffscreen, "{error}");
}

/// A window that has just opened, on a busy machine: no signal arrives meanwhile.
#[tokio::test]
async fn element_without_position_is_awaited_then_off_screen() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    app.becomes(|now| now.nowhere = 16);
    assert_eq!(device.aim(save, PRESS).await.unwrap().hit, HitResult::Target);
    app.becomes(|now| now.nowhere = usize::MAX);
    assert_eq!(device.aim(save, PRESS).await.unwrap().hit, HitResult::OffScreen);
}

pub(super) fn reads(located: &LocatedElement) -> &str {
    located.tree.node(located.node).name()
}

/// Returns the identity of an element and the answers that were read with it.
async fn located(device: &mut LinuxDevice, button: Handle) -> LocatedElement {
    device.locate(button, &[]).await.unwrap().expect("it is there")
}

/// Locates an element, aims at it with the answers that were read with it, and presses it, fast
/// enough on any machine.
#[tokio::test]
async fn a_press_by_an_action_is_two_trips_and_its_outcome_one() {
    for toolkit in [Toolkit::Gtk4, Toolkit::Qt, Toolkit::Gtk3] {
        loop {
            let app = Speaker::start();
            let (mut device, _) = app.device().await;
            device.app.link.toolkit = toolkit;
            device.capture(CaptureRequest::default()).await.unwrap();
            let save = device.app.ids.handle(FIRST);
            app.asked();
            let (before, begun) = (device.app.link.trips(), Instant::now());
            let ticket = located(&mut device, save).await.ticket;
            let PreparedInput { aim, located, ticket, .. } =
                device.prepare(save, &[], PRESS, ticket).await.unwrap();
            let action = Action::press(aim.point, Some(save));
            let performed = device.commit(&action, ticket, &CancellationToken::new()).await.unwrap();
            let pressed = device.app.link.trips();
            let outcome = device.outcome(save, performed.ticket).await.unwrap();
            if begun.elapsed() >= FRESH {
                continue;
            }
            assert!(aim.hit == HitResult::Target && performed.handled);
            let all = [located, outcome].map(|located| located.expect("it is there"));
            assert_eq!(all.each_ref().map(reads), ["Save", "Save"]);
            let asked = app.asked();
            let trips = (pressed - before, device.app.link.trips() - pressed);
            // GTK 4 acts only later: if nothing is signaled, there is nothing to ask yet.
            let acts = toolkit != Toolkit::Gtk4;
            assert_eq!(trips, (2, usize::from(acts)), "{toolkit:?}: {asked:?}");
            let order =
                ["GetExtents", "GetActions", "DoAction", "GetState"].map(|what| last(&asked, FIRST, what));
            assert!(order[..3].is_sorted() && order.is_sorted() == acts, "{asked:?}");
            break;
        }
    }
}

#[tokio::test]
async fn prefetch_is_valid_until_a_signal_or_timeout() {
    enum Since {
        Signalled,
        Waited,
        Another,
    }
    for since in [Since::Signalled, Since::Waited, Since::Another] {
        let app = Speaker::start();
        let (mut device, heard, [save, other]) = read(&app).await;
        let of = if matches!(since, Since::Another) { other } else { save };
        let ticket = located(&mut device, of).await.ticket;
        app.becomes(|now| now.name = "Delete".to_owned());
        match since {
            Since::Signalled => app.signals(&heard).await,
            Since::Waited => tokio::time::sleep(FRESH).await,
            Since::Another => {}
        }
        let prepared = device.prepare(save, &[], PRESS, ticket).await.unwrap();
        assert_eq!(reads(&prepared.located.expect("it is there")), "Delete");
        // The actions are also requested again if the check before the press is no longer valid.
        app.becomes(|now| now.actions = vec!["win.undo", "click"]);
        app.signals(&heard).await;
        app.asked();
        let action = Action::press(prepared.aim.point, Some(save));
        device.commit(&action, prepared.ticket, &CancellationToken::new()).await.unwrap();
        assert_eq!(index(&app.asked()), 1);
    }
}

#[tokio::test]
async fn outcome_is_read_after_the_press() {
    let app = Speaker::start();
    let (mut device, heard, [save, _]) = read(&app).await;
    let ticket = located(&mut device, save).await.ticket;
    let PreparedInput { aim, ticket, .. } = device.prepare(save, &[], PRESS, ticket).await.unwrap();
    let action = Action::press(aim.point, Some(save));
    let performed = device.commit(&action, ticket, &CancellationToken::new()).await.unwrap();
    app.becomes(|now| now.name = "Saved".to_owned());
    app.signals(&heard).await;
    let outcome = device.outcome(save, performed.ticket).await.unwrap();
    assert_eq!(reads(&outcome.expect("it is there")), "Saved");
}

#[tokio::test]
async fn press_prefetch_survives_a_new_capture() {
    loop {
        let app = Speaker::start();
        let (mut device, heard, [save, _]) = read(&app).await;
        app.signals(&heard).await;
        let begun = Instant::now();
        let ticket = located(&mut device, save).await.ticket;
        let before = device.app.link.trips();
        let prepared = device.prepare(save, &[], PRESS, ticket).await.unwrap();
        if begun.elapsed() < FRESH {
            assert_eq!(device.app.link.trips(), before, "nothing is asked again");
            assert_eq!(reads(&prepared.located.expect("it is there")), "Save");
            break;
        }
    }
}
