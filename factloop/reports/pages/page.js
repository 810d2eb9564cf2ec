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
    document.dispatchEvent(new Event("themechange")); // for a page that frames another
  });

  // In a frame of the service, which has a header and a theme of its own. Links to sources open in a new tab there.
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || source === window || !THEMES.includes(data?.theme)) return;
    setTheme(data.theme);
    document.documentElement.classList.add("is-framed");
    all('a[href^="http"]').forEach((link) => { link.target = "_blank"; });
  });

  // On paper everything is open, and on the screen it closes again afterwards.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("main details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
})();
