// Requests to the service this page came from. The key, where one is needed, stays in this tab.

// A path of the service as it is reached from here: behind a proxy it may stand below another path.
const ROOT = new URL("../", import.meta.url).pathname;
export const at = (path) => ROOT + path.replace(/^\//, "");
const KEY = "factloop-key";
const SILENCE_MS = 60_000; // the service says something, if only a heartbeat, more often than that
const LONGEST_WAIT_MS = 15_000;

// What the service refused, in its own words.
export class Refused extends Error {
  constructor(status, { message, field = null, type = null } = {}, retryAfterS = null) {
    const wait = retryAfterS && (status === 429 || status === 503) ? ` (try again in ${retryAfterS} s)` : "";
    super(`${status === 413 ? "Too long for this service: " : ""}${message || `the service answered with status ${status}`}${wait}`);
    Object.assign(this, { status, field, type, retryAfterS });
  }
}

export class Unreachable extends Error {
  constructor() { super("The service does not answer. Is it still running?"); }
}

let askForKey = async () => null; // set by the page: resolves to a key, or to null where the reader gave none
export const whenKeyIsNeeded = (ask) => { askForKey = ask; };
const key = () => { try { return sessionStorage.getItem(KEY); } catch { return remembered; } };
let remembered = null;
export const keep = (given) => {
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
    if (sent !== key()) continue; // the key changed meanwhile
    const given = await askForKey(isTooOften ? `Wrong keys were tried too often from here: ${refused.message}.` : sent ? "The service does not take this key." : "This service asks for a key.");
    if (!given) throw refused;
    keep(given);
  }
};

const refusal = async (answer) => {
  let told = {};
  try { told = (await answer.json()).error ?? {}; } catch { /* not the service's own words */ }
  return new Refused(answer.status, told, Number(answer.headers.get("Retry-After")) || null);
};

const json = { "Content-Type": "application/json" };
export const get = async (path, signal) => (await ask(path, { signal })).json();
export const post = async (path, body) => (await ask(path, { method: "POST", headers: json, body: JSON.stringify(body) })).json();
export const put = async (path, body) => (await ask(path, { method: "PUT", headers: json, body: JSON.stringify(body) })).json();
export const remove = async (path) => { await ask(path, { method: "DELETE" }); };

// A file of the service, saved under a name of ours.
export const save = async (path, name) => {
  const address = URL.createObjectURL(await (await ask(path, {})).blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};

// The events of a job, from the first on. Where the connection breaks it is made again and goes on after the last event
// seen. `told(state)` hears "lost" with the seconds to wait, and "open". Ends with the job.
export const follow = async (id, { heard, told, signal }) => {
  let last = null;
  for (let failures = 0; !signal.aborted;) {
    try {
      const over = await listen(id, last, signal, () => { failures = 0; told("open"); }, (event) => {
        if (event.id !== null) last = event.id;
        heard(event);
      });
      if (over) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status !== 429 && error.status < 500) throw error;
      failures += 1;
      const waitMs = error.retryAfterS ? error.retryAfterS * 1000 : Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures);
      told("lost", Math.round(waitMs / 1000));
      await pause(waitMs, signal);
    }
  }
};

const listen = async (id, last, signal, opened, heard) => {
  const silence = new AbortController();
  let timer = 0;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const headers = { Accept: "text/event-stream", ...(last === null ? {} : { "Last-Event-ID": last }) };
  try {
    alive();
    const answer = await ask(`/v1/jobs/${encodeURIComponent(id)}/events`, { headers, signal: AbortSignal.any([signal, silence.signal]) });
    opened();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = eventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Unreachable();
      alive();
      for (const event of parse(value)) {
        heard(event);
        if (event.type === "job_finished") {
          reader.cancel().catch(() => {});
          return true;
        }
      }
    }
  } finally {
    clearTimeout(timer);
  }
};

// Server-sent events of chunks of text: each with `type`, `data` (parsed JSON) and `id`. Time linear in the text.
export const eventParser = () => {
  let rest = "";
  let event = { type: "message", data: [], id: null };
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    const found = [];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (event.data.length) found.push({ ...event, data: JSON.parse(event.data.join("\n")) });
        event = { type: "message", data: [], id: null };
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue; // a comment, such as a heartbeat
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event.type = value;
      else if (name === "data") event.data.push(value);
      else if (name === "id") event.id = value;
    }
    return found;
  };
};

// Does the work after each pause, one turn after the other however long it takes, until it says true or the view is left.
export const every = async (ms, signal, work) => {
  for (;;) {
    await pause(ms, signal);
    if (signal.aborted || await work()) return;
  }
};

const pause = (ms, signal) => new Promise((resolve) => {
  const end = () => {
    clearTimeout(timer);
    removeEventListener("online", end);
    signal.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  addEventListener("online", end);
  signal.addEventListener("abort", end);
});
