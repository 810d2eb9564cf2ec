"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Theme: follows the system until the reader chooses. Storage may be refused to a page opened from a file.
  const THEMES = ["auto", "light", "dark"];
  const themeButton = one("#theme");
  const remember = (theme) => { try { localStorage.setItem("factloop-theme", theme); } catch { /* for this visit only */ } };
  const recall = () => { try { return localStorage.getItem("factloop-theme"); } catch { return null; } };
  const setTheme = (theme) => {
    document.documentElement.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
  };
  setTheme(THEMES.includes(recall()) ? recall() : "auto");
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    setTheme(next);
    remember(next);
  });

  // A printed report shows every claim open, and closes again on the screen what was closed before.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("main details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));

  const claims = all(".claim");
  if (claims.length === 0) return;

  // Filters. Several verdicts may be chosen; none chosen means all.
  const chips = all(".chip");
  const search = one("#search");
  const chosen = new Set();
  let texts = null; // lower-cased text of each claim, made when the first search needs it

  const apply = () => {
    const words = search.value.trim().toLowerCase();
    if (words) texts ??= claims.map((claim) => claim.textContent.toLowerCase());
    let shown = 0;
    claims.forEach((claim, index) => {
      const kept = chosen.size === 0 || claim.dataset.filters.split(" ").some((key) => chosen.has(key));
      claim.hidden = !(kept && (!words || texts[index].includes(words)));
      if (!claim.hidden) shown += 1;
    });
    chips.forEach((chip) => {
      const key = chip.dataset.filter;
      chip.setAttribute("aria-pressed", String(key ? chosen.has(key) : chosen.size === 0));
    });
    const total = claims.length.toLocaleString("en");
    const noun = claims.length === 1 ? "claim" : "claims";
    one("#shown").textContent = shown === claims.length ? `${total} ${noun}` : `${shown.toLocaleString("en")} of ${total} ${noun}`;
    one("#nothing").hidden = shown > 0;
  };
  const reset = () => {
    chosen.clear();
    search.value = "";
    apply();
  };

  chips.forEach((chip) => chip.addEventListener("click", () => {
    const key = chip.dataset.filter;
    if (!key) chosen.clear();
    else if (!chosen.delete(key)) chosen.add(key);
    apply();
  }));
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(apply, 120);
  });
  const toolbar = one(".toolbar");
  toolbar.addEventListener("submit", (event) => event.preventDefault());
  one("#reset").addEventListener("click", () => {
    reset();
    search.focus();
  });

  const openAll = one("#open-all");
  openAll.addEventListener("click", () => {
    const open = openAll.getAttribute("aria-pressed") === "false";
    claims.forEach((claim) => { claim.firstElementChild.open = open; });
    openAll.setAttribute("aria-pressed", String(open));
  });

  // From a sentence to its claims, and back.
  const link = (sentence) => {
    all(".is-linked").forEach((element) => element.classList.remove("is-linked"));
    sentence.classList.add("is-linked");
    sentence.dataset.claims.trim().split(" ").forEach((number) => {
      document.getElementById(`claim-${number}`).parentElement.classList.add("is-linked");
    });
  };
  const reveal = (details) => {
    if (details.parentElement.hidden) reset();
    details.open = true;
    details.firstElementChild.focus({ preventScroll: true });
    details.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest('a[href^="#claim-"], a[href^="#sentence-"]');
    if (!anchor) return;
    event.preventDefault();
    const target = document.getElementById(anchor.hash.slice(1));
    if (anchor.matches(".sentence")) link(anchor);
    if (target.matches(".sentence")) {
      link(target);
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "nearest" });
    } else {
      reveal(target);
    }
  });
  // Keys. Letters can be switched off, for those who speak to their browser.
  const move = (step) => {
    const shown = claims.filter((claim) => !claim.hidden);
    if (shown.length === 0) return;
    const at = shown.indexOf(document.activeElement.closest(".claim"));
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + step, 0), shown.length - 1)];
    next.querySelector("summary").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const onClaim = event.target.matches(".claim > details > summary");
    const letters = one("#shortcuts").checked;
    if ((letters && event.key === "j") || (onClaim && event.key === "ArrowDown")) move(1);
    else if ((letters && event.key === "k") || (onClaim && event.key === "ArrowUp")) move(-1);
    else if (letters && event.key === "/") search.focus();
    else return;
    event.preventDefault();
  });

  // What is scrolled to or tabbed to must not end up under the toolbar, whose height changes with the window.
  new ResizeObserver(() => {
    const covers = getComputedStyle(toolbar).position === "sticky";
    document.documentElement.style.scrollPaddingTop = covers ? `${toolbar.offsetHeight + 8}px` : "0";
  }).observe(toolbar);

  toolbar.hidden = false;
  one(".keys").hidden = false;

  const addressed = /^#claim-\d+$/.test(location.hash) && one(location.hash);
  if (addressed) reveal(addressed);
})();
