"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const items = all(".claim");
  if (items.length === 0) return;

  // Filters. Several may be chosen, and an item that any of them shows is shown; none chosen means all. The same filter
  // may stand in the table and in the toolbar.
  const toolbar = one(".toolbar");
  const chips = all(".chip");
  const search = one("#search");
  const chosen = new Set();
  const noun = items.length === 1 ? toolbar.dataset.noun : `${toolbar.dataset.noun}s`;
  let texts = null; // lower-cased text of each item, made when the first search needs it

  // Opens what is shown, and no more than a browser lays out at once; then closes everything.
  const MOST_OPEN = 100;
  const openAll = one("#open-all");
  let opened = false;
  const nameOpenAll = (shown) => {
    const open = shown > MOST_OPEN ? `Open the first ${MOST_OPEN}` : "Open all";
    openAll.textContent = opened ? "Close all" : open;
  };
  openAll.addEventListener("click", () => {
    const shown = items.filter((item) => !item.hidden);
    opened = !opened;
    (opened ? shown.slice(0, MOST_OPEN) : items).forEach((item) => { item.firstElementChild.open = opened; });
    nameOpenAll(shown.length);
  });
  nameOpenAll(items.length);

  const apply = () => {
    const words = search.value.trim().toLowerCase();
    if (words) texts ??= items.map((item) => item.textContent.toLowerCase());
    let shown = 0;
    items.forEach((item, index) => {
      const kept = chosen.size === 0 || item.dataset.filters.split(" ").some((key) => chosen.has(key));
      item.hidden = !(kept && (!words || texts[index].includes(words)));
      if (!item.hidden) shown += 1;
    });
    chips.forEach((chip) => {
      const key = chip.dataset.filter;
      chip.setAttribute("aria-pressed", String(key ? chosen.has(key) : chosen.size === 0));
    });
    const total = items.length.toLocaleString("en");
    nameOpenAll(shown);
    one("#shown").textContent = shown === items.length ? `${total} ${noun}` : `${shown.toLocaleString("en")} of ${total} ${noun}`;
    one("#nothing").hidden = shown > 0;
  };
  const reset = () => {
    chosen.clear();
    search.value = "";
    apply();
  };

  chips.forEach((chip) => {
    chip.disabled = chip.matches(".is-empty");
    chip.addEventListener("click", () => {
      const key = chip.dataset.filter;
      if (!key) chosen.clear();
      else if (!chosen.delete(key)) chosen.add(key);
      apply();
    });
  });
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(apply, 120);
  });
  toolbar.addEventListener("submit", (event) => event.preventDefault());
  one("#reset").addEventListener("click", () => {
    reset();
    search.focus();
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
    const shown = items.filter((item) => !item.hidden);
    if (shown.length === 0) return;
    const at = shown.indexOf(document.activeElement.closest(".claim"));
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + step, 0), shown.length - 1)];
    next.querySelector("summary").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const onItem = event.target.matches(".claim > details > summary");
    const letters = one("#shortcuts").checked;
    if ((letters && event.key === "j") || (onItem && event.key === "ArrowDown")) move(1);
    else if ((letters && event.key === "k") || (onItem && event.key === "ArrowUp")) move(-1);
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
