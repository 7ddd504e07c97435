//! What is asked of an element before it is pressed by its own action, and in which order: where it is, who it is,
//! which actions it has, and then the press. On an app of ours, which wrote down what it was asked.

use super::speaker::{Asked, FIRST, SECOND, Speaker};
use crate::act::focus;
use crate::app::LinuxDevice;
use stickpin_device::{
    Action, AimOptions, CancellationToken, CaptureRequest, Captured, Device, Dispatched, ErrorCode, Hit,
};
use stickpin_tree::Handle;

/// The app, a device that has read it, and its two buttons.
async fn read(app: &Speaker) -> (LinuxDevice, std::sync::Arc<crate::events::Heard>, [Handle; 2]) {
    let (mut device, heard) = app.device().await;
    let Captured::Tree(tree) = device.capture(CaptureRequest::default()).await.unwrap() else {
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
    let aim = device
        .aim(button, AimOptions { pointer: true, press: true, plain: true, guarded: &[] })
        .await
        .unwrap();
    assert_eq!(aim.hit, Hit::Target);
}

async fn press(device: &mut LinuxDevice, button: Handle) {
    let action = Action::press((50.0, 25.0), Some(button));
    let performed = device.perform(&action, &CancellationToken::new()).await.unwrap();
    assert!(performed.handled);
}

/// The place of the last time that an object was asked this.
fn last(asked: &[Asked], path: &str, what: &str) -> usize {
    let found = asked.iter().rposition(|(of, asked, _)| of == path && asked == what);
    found.unwrap_or_else(|| panic!("{path} was not asked for {what}: {asked:?}"))
}

fn index(asked: &[Asked]) -> i32 {
    asked[last(asked, FIRST, "DoAction")].2
}

#[tokio::test]
async fn it_is_asked_where_it_is_then_who_then_what_it_does_and_is_pressed_by_that() {
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
    // Each press is by what was answered for it.
    app.becomes(|now| now.actions = vec!["click"]);
    name(&mut device, save).await;
    press(&mut device, save).await;
    assert_eq!(index(&app.asked()), 0);
    // Nor is an answer there for two of them.
    app.becomes(|now| now.actions = vec!["win.undo", "click"]);
    press(&mut device, save).await;
    assert_eq!(index(&app.asked()), 1);
}

/// Where it did it and failed behind that, a press by the pointer would be the second one.
#[tokio::test]
async fn what_answers_a_press_with_an_error_is_not_pressed_once_more() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    let action = Action::press((50.0, 25.0), Some(save));
    app.becomes(|now| now.refuses = vec![(FIRST, "DoAction")]);
    let error = device.perform(&action, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.dispatched, Dispatched::Unknown, "{error}");
    assert!(error.message.contains("button \"Save\"") && error.message.contains("not now"), "{error}");
    // What has no such action did nothing: then it is the pointer's turn, of which there is none here.
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
async fn what_was_looked_at_is_looked_at_again_though_nothing_was_signalled() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    name(&mut device, save).await;
    aim(&mut device, save).await;
    // No toolkit signals everything.
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

/// A window that has just opened, on a machine that is busy: nothing is signalled meanwhile.
#[tokio::test]
async fn what_has_no_place_yet_is_waited_for_and_what_never_has_one_is_not_on_the_screen() {
    let app = Speaker::start();
    let (mut device, _, [save, _]) = read(&app).await;
    let options = AimOptions { pointer: true, press: true, plain: true, guarded: &[] };
    app.becomes(|now| now.nowhere = 16);
    assert_eq!(device.aim(save, options).await.unwrap().hit, Hit::Target);
    app.becomes(|now| now.nowhere = usize::MAX);
    assert_eq!(device.aim(save, options).await.unwrap().hit, Hit::OffScreen);
}
