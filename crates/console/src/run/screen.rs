//! The console as a screen: draws the state and performs its effects.

use super::executor::Executor;
use super::feed::{self, Bells};
use super::terminal::{Screen, read_events, terminal_error};
use crate::model::app::{App, Effect, Input};
use crate::model::outcome::{Outcome, Printed};
use crate::setup::Setup;
use crate::view::{Theme, draw};
use std::sync::Arc;
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The capacity of the queue of inputs to the screen. Readers wait while the queue is full.
const INPUTS: usize = 64;

/// Runs the console until the person leaves it.
pub(crate) async fn run(setup: Setup) -> Result<u8> {
    let theme = Theme { colors: setup.colors };
    let executor = Arc::new(Executor::new(setup));
    executor.join().await?;
    let history = executor.prompts().await?;
    let ended = show(&executor, theme, history).await;
    // The terminal is restored before anything is printed on it.
    let left = executor.leave().await;
    ended.and(left.map_or(Ok(0), Err))
}

async fn show(executor: &Arc<Executor>, theme: Theme, history: Vec<String>) -> Result<()> {
    let listen = |kind| signal(kind).map_err(|e| Error::io(format!("cannot wait for signals: {e}")));
    let (mut terminations, mut hangups) = (listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    let mut screen = Screen::open()?;
    let size = screen.terminal.size().map_err(|e| terminal_error("get the terminal size", &e))?;
    let mut app = App::new(
        executor.session().to_owned(),
        history,
        executor.setup().client_commands,
        (size.width, size.height),
    );
    let mut typed = read_events();
    let (tell, mut heard) = mpsc::channel(INPUTS);
    let mut driver = Driver {
        executor: Arc::clone(executor),
        bells: Arc::default(),
        tell: tell.clone(),
        running: CancellationToken::new(),
    };
    feed::start(executor, &driver.bells, &tell);
    driver.bells.tree.notify_one();
    driver.bells.turn.notify_one();
    loop {
        screen
            .terminal
            .draw(|frame| draw(&app, theme, frame))
            .map_err(|e| terminal_error("draw on the terminal", &e))?;
        let mut input = tokio::select! {
            biased;
            _ = terminations.recv() => return Ok(()),
            _ = hangups.recv() => return Ok(()),
            input = typed.recv() => match input {
                Some(Ok(input)) => input,
                Some(Err(e)) => return Err(terminal_error("read from the terminal", &e)),
                None => return Ok(()),
            },
            Some(input) = heard.recv() => input,
        };
        // All inputs that have already arrived are shown at once.
        loop {
            if let Input::Feed(page) = &input {
                executor.note_shown(app.news_for_me(page));
            }
            for effect in app.update(input) {
                if driver.perform(effect) {
                    return Ok(());
                }
            }
            input = match typed.try_recv() {
                Ok(Ok(input)) => input,
                Ok(Err(e)) => return Err(terminal_error("read from the terminal", &e)),
                Err(_) => match heard.try_recv() {
                    Ok(input) => input,
                    Err(_) => break,
                },
            };
        }
    }
}

/// Performs the effects that the state requests.
struct Driver {
    executor: Arc<Executor>,
    bells: Arc<Bells>,
    tell: mpsc::Sender<Input>,
    /// Cancels the running line.
    running: CancellationToken,
}

impl Driver {
    /// Performs an effect. Returns true if the console must end.
    fn perform(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::Run(line) => {
                self.running = CancellationToken::new();
                let (executor, tell) = (Arc::clone(&self.executor), self.tell.clone());
                let cancel = self.running.clone();
                let run = tokio::spawn(async move { executor.run(&line, cancel).await });
                tokio::spawn(async move {
                    let outcome = run.await.unwrap_or_else(|e| panic_outcome(&e.to_string()));
                    // Nobody receives it once the console has ended.
                    let _ = tell.send(Input::Done(outcome)).await;
                });
            }
            Effect::Cancel => self.running.cancel(),
            Effect::ReadTree => self.bells.tree.notify_one(),
            Effect::ReadTurn => self.bells.turn.notify_one(),
            Effect::Follow => self.bells.log.notify_one(),
            Effect::Quit => return true,
        }
        false
    }
}

/// Returns the outcome for a line whose task panicked. The console continues.
fn panic_outcome(why: &str) -> Outcome {
    let err = format!("INTERNAL: internal error in this command (this is a bug in stickpin): {why}\n");
    let exit = ErrorCode::Internal.exit();
    Outcome { printed: Printed { out: String::new(), err }, exit, ran: true, quit: false }
}
