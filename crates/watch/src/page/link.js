// The connection to the server: the key of this visit, the stream, and actions.

const NAME = "stickpin-watch-key";
const given = document.querySelector('meta[name="watch-key"]').content;
if (given) {
  sessionStorage.setItem(NAME, given);
  // The token in the address was valid only once and is now useless.
  history.replaceState(null, "", "/");
}
const key = sessionStorage.getItem(NAME) ?? "";

/** Whether this tab was admitted. Another tab of the same browser has the cookie, but no key. */
export const isLetIn = key !== "";

/** Returns a server address that contains the key of the visit. */
export function address(path) {
  return `${path}?key=${key}`;
}

/** Calls the handlers, by event name, for messages from the server. */
export function listen(handlers, onState) {
  const source = new EventSource(address("/stream"));
  source.addEventListener("open", () => onState(true));
  source.addEventListener("error", () => onState(false, source.readyState === EventSource.CLOSED));
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
}

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-watch-key": key },
    body: JSON.stringify(body),
  });
  if (!response.ok) return { ok: false, message: await response.text(), receipt: [] };
  return response.json();
}

let queue = Promise.resolve();

/** Performs an action after all earlier ones, and returns the result. */
export function act(what) {
  const done = queue.then(() => post("/act", what)).catch((e) => ({ ok: false, message: e.message, receipt: [] }));
  queue = done;
  return done;
}

/** Returns a link that admits one more browser to watch. */
export function invite() {
  return post("/invite", {});
}

/** Returns the frame after a command. */
export async function step(command) {
  const response = await fetch(address(`/step/${command}`));
  return response.ok ? response.json() : null;
}
