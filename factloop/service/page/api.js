// Requests to the service that this page came from. The key, if one is needed, stays in this tab.

// Turns a path of the service into a path for this page. Behind a proxy, the service may be below another path.
const ROOT = new URL("../", import.meta.url).pathname;
const at = (path) => ROOT + path.replace(/^\//, "");
const KEY = "factloop-key";
const LONGEST_WAIT_MS = 15_000;

// A rejection by the service, with its message.
export class Refused extends Error {
  constructor(status, { message, field = null, type = null } = {}, retryAfterS = null) {
    const wait = retryAfterS && (status === 429 || status === 503) ? ` (try again in ${retryAfterS} s)` : "";
    super(`${status === 413 ? "Too long for this service: " : ""}${message || `the service responded with status ${status}`}${wait}`);
    Object.assign(this, { status, field, type });
  }
}

export class Unreachable extends Error {
  constructor() { super("The service is not responding. Is it still running?"); }
}

let askForKey = async () => null; // set by the page: resolves to a key, or to null if the user enters none
export const whenKeyIsNeeded = (ask) => { askForKey = ask; };
let remembered = null;
const key = () => { try { return sessionStorage.getItem(KEY); } catch { return remembered; } };
const keep = (given) => {
  remembered = given;
  try { sessionStorage.setItem(KEY, given); } catch { /* for as long as this page is open */ }
};

const ask = async (path, options) => {
  for (;;) {
    const sent = key();
    const headers = { ...options.headers, ...(sent ? { Authorization: `Bearer ${sent}` } : {}) };
    let answer;
    try {
      answer = await fetch(at(path), { ...options, headers, cache: "no-store" });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new Unreachable();
    }
    if (answer.ok) return answer;
    const refused = await refusal(answer);
    const isTooOften = refused.type === "too_many_attempts";
    if (answer.status !== 401 && !isTooOften) throw refused;
    if (sent !== key()) continue; // the key has changed in the meantime
    const given = await askForKey(isTooOften ? `Too many attempts with wrong keys: ${refused.message}.` : sent ? "The service does not accept this key." : "This service requires a key.");
    if (!given) throw refused;
    keep(given);
  }
};

const refusal = async (answer) => {
  let told = {};
  try { told = (await answer.json()).error ?? {}; } catch { /* the body is not the service's */ }
  return new Refused(answer.status, told, Number(answer.headers.get("Retry-After")) || null);
};

const json = { "Content-Type": "application/json" };
const sending = (method) => async (path, body) => (await ask(path, { method, headers: json, body: JSON.stringify(body) })).json();
export const get = async (path, signal) => (await ask(path, { signal })).json();
export const post = sending("POST");
export const put = sending("PUT");
// Requests a page that cannot be read here, to report why the service rejects it.
export const tried = async (path, signal) => { await ask(path, { signal }); };
export const remove = async (path) => { await ask(path, { method: "DELETE" }); };

// Saves a response of the service as a file with this name.
export const save = async (path, name) => {
  const address = URL.createObjectURL(await (await ask(path, {})).blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};

// A URL that the browser itself can open. The browser sends no key, so if one is needed, the service issues a ticket. The
// ticket's URL may have the public host, but the page's own host is the one that the page's policy allows.
export const opened = async (path, info) => {
  if (!info.needs_key) return at(path);
  const { pathname, search } = new URL((await post("/v1/tickets", { page: path })).address, location.href);
  return pathname + search;
};

// Receives a job's events until the job ends. The browser reconnects by itself and continues after the last event. If the
// service rejects the connection, all events are received again. `told` is called with whether there is a connection.
export const follow = async (path, info, { heard, told, signal }) => {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await get(path, signal);
      if (await listen(await opened(`${path}/events`, info), signal, heard, told)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status !== 429 && error.status < 500) throw error;
    }
    told(false);
    await pause(Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures), signal);
  }
};

const EVENTS = ["response_split", "claim_found", "claim_searched", "claim_judged", "waiting", "check_finished", "job_finished"];
const listen = (address, signal, heard, told) => new Promise((resolve) => {
  const source = new EventSource(address);
  const end = (isOver) => { source.close(); resolve(isOver); };
  signal.addEventListener("abort", () => end(true), { once: true });
  source.addEventListener("open", () => told(true));
  source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) end(false); else told(false); });
  for (const type of EVENTS) {
    source.addEventListener(type, (event) => {
      heard(type, JSON.parse(event.data));
      if (type === "job_finished") end(true);
    });
  }
});

// Repeats the work after each pause until it returns true or the user leaves the view.
export const every = async (ms, signal, work) => {
  for (;;) {
    await pause(ms, signal);
    if (signal.aborted || await work()) return;
  }
};

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  const end = () => { clearTimeout(timer); resolve(); };
  addEventListener("online", end, { once: true });
  signal.addEventListener("abort", end, { once: true });
});
