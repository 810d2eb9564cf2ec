// The page: its views (selected by the URL's part after #), the key dialog, and announcements for screen readers.
import { Refused, Unreachable, get, whenKeyIsNeeded } from "./api.js";
import { button, h, heading, replace } from "./dom.js";
import { showForm, showTrustForm } from "./form.js";
import { showHistory } from "./history.js";
import { showJob, showResults } from "./job.js";

const one = (selector) => document.querySelector(selector);
const view = one("#view");
let info = null; // what the service can do; requested once
let leaving = new AbortController();
let isArriving = false;

const announce = (text) => { if (one("#spoken").textContent !== text) one("#spoken").textContent = text; };

const show = async () => {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [place = "", ...rest] = path.split("/").map(decoded);
  const [name, work] = viewOf(place, ...rest);
  document.title = `${name} · factloop`;
  announce("");
  const part = name === "Job" ? "History" : name;
  for (const link of document.querySelectorAll("nav a")) link.setAttribute("aria-current", link.textContent === part ? "page" : "false");
  replace(view, h("p", { class: "nothing" }, "Loading…"));
  try {
    info ??= await get("/v1/info", signal);
    one('nav a[href="#/results"]').hidden = !info.has_results;
    one('nav a[href="#/trust"]').hidden = !info.trust;
    await work({ signal, announce, parameters: new URLSearchParams(query) });
  } catch (error) {
    if (!signal.aborted) fail(error);
  }
};

// The name of a view, and the function that shows it.
const viewOf = (place, id) => {
  if (place === "") return ["New check", () => showForm(view, info)];
  if (place === "trust" && !id) return ["TrustScore", () => showTrustForm(view, info)];
  if (place === "history") return ["History", ({ parameters, signal }) => showHistory(view, parameters, { signal })];
  if (place === "results") return ["Results", (context) => showResults(view, info, id, context)];
  if (["jobs", "checks", "trust", "audits", "long-form"].includes(place) && id) return ["Job", (context) => showJob(view, info, id, context)];
  return ["Not found", () => fail(new Refused(404))];
};

// After the first view, the heading of each new view gets the focus, as if a page had been loaded.
new MutationObserver(() => {
  if (!isArriving || !one("#title")) return;
  isArriving = false;
  one("#title").focus({ preventScroll: true });
}).observe(view, { childList: true });

const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

const fail = (error) => {
  const isMissing = error instanceof Refused && error.status === 404;
  replace(view, h("section", { class: "intro", "aria-labelledby": "title" },
    heading(isMissing ? "Not found" : error instanceof Unreachable ? "The service is not responding" : "Something went wrong"),
    h("p", { class: "byline", role: "alert" }, isMissing ? "There is nothing at this address. The job may have been deleted, or it may belong to another key." : error.message),
    h("div", { class: "actions" }, !isMissing && button("Try again", show, { class: "quiet is-strong" }), h("a", { class: "quiet", href: "#/" }, "New check"))));
};

// Asks for the key once, even if several requests wait for it. Escape closes the dialog without a key.
let asking = null;
whenKeyIsNeeded((why) => {
  const dialog = one("#key");
  asking ??= new Promise((resolve) => {
    replace(one("#key-why"), `${why} The key is kept only in this tab, until you close the tab.`);
    const field = one("#key-field");
    field.value = "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      asking = null;
      resolve(dialog.returnValue === "given" ? field.value.trim() : null);
      field.value = "";
    }, { once: true });
    dialog.showModal();
  });
  return asking;
});
one("#key form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (one("#key-field").value.trim()) one("#key").close("given");
});
one("#key-leave").addEventListener("click", () => one("#key").close(""));

one(".skip").addEventListener("click", (event) => { // the link's URL would be mistaken for a view's URL
  event.preventDefault();
  (one("iframe") ?? view).focus();
});
addEventListener("hashchange", () => {
  isArriving = true;
  scrollTo(0, 0);
  show();
});
show();
