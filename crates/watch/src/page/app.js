// The page: data from the server goes to the panels, and the person's actions go to the server.

import { arrows, byId, clock, plain } from "./dom.js";
import { act, invite, isLetIn, listen, step } from "./link.js";
import { add, clear, onLog, selectCall, showNoticed } from "./log.js";
import { onOutline, select, showOutline } from "./outline.js";
import { mark, onPicture, setMine, show } from "./picture.js";
import { addSteps, clearSteps, onStep, selectStep } from "./steps.js";

const TOAST_TIME = 5000;

let live = null;
let past = null;
let mine = false;
let connected = true;
let session = null;

// Data from the server.

function onSession(state) {
  session = state;
  mine = state.mine;
  setMine(mine && !past);
  byId("session").textContent = plain(state.session, 40);
  document.title = `${plain(state.session, 40)} · stickpin watch`;
  const turn = byId("turn");
  turn.textContent = turnText(state);
  turn.dataset.state = state.closed ? "closed" : mine ? "mine" : state.owner ? "held" : "idle";
  byId("take").hidden = mine;
  byId("take").disabled = state.closed;
  byId("release").hidden = !mine;
  byId("typing").hidden = byId("ways").hidden = !mine || Boolean(past);
  byId("viewers").textContent = state.viewers > 1 ? `${state.viewers} viewers` : "";
  notice();
}

function turnText(state) {
  if (state.closed) return "closed";
  if (state.mine) return "you have the session";
  if (state.owner) return `${plain(state.owner, 40)} ${state.implicit ? "is acting" : "has the session"}`;
  if (state.reservedFor) return `reserved for ${plain(state.reservedFor, 40)}`;
  return "idle";
}

function notice() {
  const problem = !connected
    ? "The connection to `stickpin watch` was lost. Start it again, and open the new link."
    : session?.closed
      ? "The session is closed. Its log stays here."
      : session?.problem
        ? plain(session.problem, 300)
        : "";
  byId("notice").textContent = problem;
  byId("notice").hidden = problem === "";
}

function onFrame(frame) {
  live = frame;
  byId("title").textContent = plain(frame.title, 120);
  byId("url").textContent = plain(frame.url, 200);
  byId("dialog").hidden = !frame.dialog;
  byId("question").textContent = frame.dialog ? plain(frame.dialog, 200) : "";
  showNoticed(frame);
  if (!past && !frame.dialog) show(frame, shown);
}

function shown(frame) {
  showOutline(frame.outline);
  byId("frame").dataset.frame = frame.id;
}

function onEntries(entries) {
  add(entries);
  addSteps(entries);
}

function onClear() {
  clear();
  clearSteps();
}

function onState(open, ended) {
  connected = open;
  if (ended) notice();
  else setTimeout(notice, 1500);
}

// Past steps.

let choice = 0;

async function choose(entry) {
  selectCall(entry.id);
  selectStep(entry.id);
  const own = ++choice;
  const frame = entry.outcome ? await step(entry.id) : null;
  // Another step has been chosen since.
  if (own !== choice) return;
  if (!frame) {
    toast(entry.outcome ? "No picture was taken of this step, and no tree was stored." : "");
    return;
  }
  past = { ...frame, past: true, without: frame.stored ? withoutPicture(entry, frame) : null };
  byId("stage-name").textContent = `After ${plain(entry.what, 24)}`;
  changeTime();
  show(past, shown);
}

/** States why there is no picture of a step, and where its outline comes from. */
function withoutPicture(entry, { stored, problem }) {
  const outline = `The outline is the tree that ${
    stored.command === entry.id ? "this command" : plain(stored.what, 24)
  } stored at ${clock(stored.at)}`;
  return `No picture was taken: nobody was watching, or the next command followed at once. ${outline}${problem ? `; ${problem}` : ""}.`;
}

function toLive() {
  past = null;
  choice += 1;
  byId("stage-name").textContent = "Live";
  selectStep(null);
  selectCall(null);
  changeTime();
  if (live) show(live, shown);
}

function changeTime() {
  byId("live").hidden = !past;
  document.body.classList.toggle("past", Boolean(past));
  if (session) onSession(session);
}

// The person's actions.

async function perform(what) {
  const done = await act(what);
  if (!done.ok) toast(done.message, true);
  else if (done.warning) toast(done.warning);
  return done.ok;
}

let hiding = 0;
function toast(text, bad = false) {
  const shown = byId("toast");
  clearTimeout(hiding);
  shown.textContent = plain(text, 400);
  shown.classList.toggle("bad", bad);
  shown.hidden = !text;
  hiding = setTimeout(() => (shown.hidden = true), TOAST_TIME);
}

byId("take").addEventListener("click", async () => {
  if (await perform({ act: "take" })) byId("picture").focus();
});
byId("release").addEventListener("click", () => byId("handoff").showModal());
byId("handoff").addEventListener("close", async () => {
  const dialog = byId("handoff");
  if (dialog.returnValue !== "release") return;
  await perform({ act: "release", status: byId("done").value, nextAction: byId("next").value });
  byId("done").value = byId("next").value = "";
});
byId("typing").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = byId("text");
  if (text.value && (await perform({ act: "type", text: text.value }))) text.value = "";
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => perform({ act: "key", chord: button.dataset.key }));
}
for (const button of document.querySelectorAll("[data-go]")) {
  button.addEventListener("click", () => perform({ act: "go", to: button.dataset.go }));
}
byId("dialog").addEventListener("submit", (event) => {
  event.preventDefault();
  perform({ act: "dialog", accept: true });
});
byId("dismiss").addEventListener("click", () => perform({ act: "dialog", accept: false }));
byId("live").addEventListener("click", toLive);
byId("refs").addEventListener("change", (event) => document.body.classList.toggle("bare", !event.target.checked));
byId("invite").addEventListener("click", async () => {
  const { link, message } = await invite();
  if (!link) return toast(message, true);
  try {
    await navigator.clipboard.writeText(link);
    toast("The link was copied to the clipboard. It works once, and only for watching.");
  } catch {
    toast(link);
  }
});

// Panels become tabs if there is not enough space for all of them.

const tabs = [...document.querySelectorAll('[role="tab"]')];
function open(tab) {
  for (const other of tabs) {
    const is = other === tab;
    other.setAttribute("aria-selected", String(is));
    other.tabIndex = is ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !is;
  }
  document.body.dataset.panel = tab.id;
}
for (const tab of tabs) tab.addEventListener("click", () => open(tab));
arrows(document.querySelector('[role="tablist"]'), '[role="tab"]', (tab) => (open(tab), tab.focus()), [
  "ArrowLeft",
  "ArrowRight",
]);
open(tabs[0]);
// A wide window shows the outline next to the others.
matchMedia("(min-width: 900px)").addEventListener("change", (wide) => {
  if (wide.matches && document.body.dataset.panel === "tab-outline") open(tabs[0]);
});

onPicture({
  act: perform,
  point: (ref) => {
    mark(ref);
    select(ref);
  },
});
onOutline(mark);
onLog(choose);
onStep(choose);

if (isLetIn) {
  listen({ session: onSession, frame: onFrame, log: onEntries, clear: onClear }, onState);
} else {
  connected = false;
  byId("notice").textContent = "This tab has no access. Use the tab that you opened first, or a new link from `stickpin watch`.";
  byId("notice").hidden = false;
}
