"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // The theme follows the system until the reader chooses one. A page opened from a file may have no access to storage.
  const THEMES = ["auto", "light", "dark"];
  const themeButton = one("#theme");
  const remember = (theme) => { try { localStorage.setItem("factloop-theme", theme); } catch { /* lasts for this visit only */ } };
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
    document.dispatchEvent(new Event("themechange")); // for a page that has another page in a frame
  });

  // Handles messages from the service if the service shows this page in a frame. The service has its own header and theme,
  // and makes the frame as high as this page. Links to sources then open in a new tab.
  addEventListener("message", ({ source, data }) => {
    const root = document.documentElement;
    if (source !== parent || source === window) return;
    if (THEMES.includes(data?.theme)) {
      setTheme(data.theme);
      if (root.classList.contains("is-framed")) return;
      root.classList.add("is-framed");
      all('a[href^="http"]').forEach((link) => { link.target = "_blank"; });
      new ResizeObserver(() => parent.postMessage({ height: Math.ceil(document.body.getBoundingClientRect().height), scrolled: scrollY }, "*")).observe(document.body);
    }
    // Sticky elements are moved by as much of the page as is outside the reader's window.
    for (const side of ["above", "below"]) if (Number.isFinite(data?.[side])) root.style.setProperty(`--${side}`, `${data[side]}px`);
  });

  // Opens everything for printing, and closes it again afterwards.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("main details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
})();
