// The page: its views by the address after #, the theme, the key, and what a reader of the screen hears.
import { Refused, Unreachable, get, whenKeyIsNeeded } from "./api.js";
import { isMissing, showCheck } from "./check.js";
import { showComparison } from "./compare.js";
import { button, h, replace } from "./dom.js";
import { keepDraft } from "./draft.js";
import { hasFiles } from "./files.js";
import { showForm } from "./form.js";
import { showHistory } from "./history.js";
import { showJob, showResults } from "./results.js";
import { showTrust, showTrustForm } from "./trust.js";

const one = (selector) => document.querySelector(selector);
const view = one("#view");
let info = null; // what the service is and can do; asked for once
let leaving = new AbortController();
let visits = 0;

const announce = (text) => { if (one("#spoken").textContent !== text) one("#spoken").textContent = text; };

const show = async () => {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [place = "", ...rest] = path.split("/").map(decoded);
  announce("");
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${{ checks: "history", compare: "history", audits: "history", "long-form": "history" }[place] ?? place}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  replace(view, h("p", { class: "nothing" }, "Loading…"));
  try {
    info ??= await get("/v1/info", signal);
    one("#trust-link").hidden = !info.trust;
    await settled(place, rest, new URLSearchParams(query), { signal, announce });
  } catch (error) {
    if (!signal.aborted) fail(error);
  }
};

const settled = (place, [id, other], parameters, context) => {
  titled({ checks: "Check", history: "History", compare: "Comparison", results: "Results", trust: "TrustScore", audits: "Audit", "long-form": "Long answer" }[place] ?? "New check");
  const work = place === "" ? showForm(view, info)
    : place === "checks" && id ? showCheck(view, id, context)
      : place === "history" ? showHistory(view, parameters, context)
        : place === "compare" && other ? showComparison(view, id, other, context)
          : place === "results" ? showResults(view, info, context)
            : (place === "audits" || place === "long-form") && id ? showJob(view, info, id, context)
              : place === "trust" ? (id ? showTrust(view, id, context) : showTrustForm(view, info))
                : fail(new Refused(404, { message: "There is no such page here." }));
  arrive(context.signal);
  return work;
};

const titled = (words) => { document.title = `${words} · factloop`; };

// After the first view, the heading of a new one gets the focus, as with a page that was loaded.
const arrive = (signal) => {
  visits += 1;
  if (visits === 1) return;
  scrollTo(0, 0);
  const found = () => {
    const title = one("#title");
    if (!title || signal.aborted) return false;
    title.focus({ preventScroll: true });
    return true;
  };
  if (found()) return;
  const watching = new MutationObserver(() => { if (found() || signal.aborted) watching.disconnect(); });
  watching.observe(view, { childList: true });
};

const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

const fail = (error) => {
  const missing = isMissing(error);
  replace(view, h("section", { class: "intro", "aria-labelledby": "title" },
    h("h1", { id: "title", tabindex: "-1" }, missing ? "Not here" : error instanceof Unreachable ? "The service does not answer" : "That did not work"),
    h("p", { class: "byline", role: "alert" }, missing ? "The service knows no such thing: it may have been deleted, or belong to another key." : error.message),
    h("div", { class: "actions" }, !missing && button("Try again", show, { class: "quiet is-strong" }), h("a", { class: "quiet", href: "#/" }, "New check"))));
};

// The key: asked for once, however many requests wait for it; Escape leaves without one.
let asking = null;
whenKeyIsNeeded((why) => {
  const dialog = one("#key");
  asking ??= new Promise((resolve) => {
    replace(one("#key-why"), `${why} It is kept in this tab alone, until you close it.`);
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

// Theme: follows the system until the reader chooses.
const THEMES = ["auto", "light", "dark"];
const themeButton = one("#theme");
const recall = () => { try { return localStorage.getItem("factloop-theme"); } catch { return null; } };
const setTheme = (theme) => {
  document.documentElement.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
};
setTheme(THEMES.includes(recall()) ? recall() : "auto");
themeButton.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  setTheme(next);
  try { localStorage.setItem("factloop-theme", next); } catch { /* for this visit only */ }
});

one(".skip").addEventListener("click", (event) => { // its address would be taken for a view's
  event.preventDefault();
  (one("#list") ?? view).focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const search = one("#search");
  if (!search || one("#shortcuts")?.checked === false) return;
  event.preventDefault();
  search.focus();
});
// A file that is dropped beside its field would be opened in the place of this page, and what was typed be lost.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => { if (hasFiles(event)) event.preventDefault(); });
keepDraft();
addEventListener("hashchange", show);
show();
