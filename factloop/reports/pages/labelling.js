"use strict";
// Lets a person label the claims on a page, or answer which of two sides is right, with keys or buttons. Labels can have
// comments and can be undone one by one. The browser stores them under the hash of the page's claims, and the person can
// save them as a file. If the service shows the page in a frame, the service stores the labels with the check.
(() => {
  const list = document.querySelector("#list[data-labelling]");
  if (!list) return;
  const { claims_hash: hash, common, begins, kind: name } = JSON.parse(list.dataset.labelling);
  const kind = {
    labels: {
      choices: [["supported", "Supported"], ["not_supported", "Not supported"], ["irrelevant", "Irrelevant"], ["cannot_tell", "Cannot tell"]],
      hasVerdicts: true, field: "label", one: "a label", done: "labelled", start: "Label claims", stop: "Stop labelling", title: "Label the claims", yours: "Your label",
    },
    answers: {
      choices: [["first", "First is right"], ["second", "Second is right"], ["neither", "Neither"]],
      hasVerdicts: false, field: "answer", one: "an answer", done: "answered", start: "Answer", stop: "Stop answering", title: "Say which side is right", yours: "Your answer",
    },
  }[name];
  const LONGEST_COMMENT = 2000;
  const LARGEST_FILE = 64 * 2 ** 20;
  const place = `factloop-${name}-${hash}`;

  const items = [...list.querySelectorAll(".claim[data-claim]")];
  const numberOf = (item) => Number(item.firstElementChild.id.slice("claim-".length));
  const inOrder = [...items].sort((one, other) => numberOf(one) - numberOf(other)); // in the order of the response
  const itemOf = new Map(inOrder.map((item) => [numberOf(item), item]));
  const claims = new Map(inOrder.map((item) => [numberOf(item), { ...common, ...JSON.parse(item.dataset.claim) }]));
  const named = new Map([...claims].map(([number, { response_id: response, claim_id: claim }]) => [JSON.stringify([response, claim]), number]));
  const words = new Map(kind.choices.map(([label, said]) => [label, said.toLowerCase()]));

  const given = new Map(); // maps claim numbers to { label, comment, blind, given_at }
  const drafts = new Map(); // comments of claims without a label
  const past = []; // [number, previous label]; the last entry is undone first
  const revealed = new Set(); // claims whose verdict was seen since labelling began
  let isOn = false;
  let isBlind = kind.hasVerdicts;
  let current = null;

  // Converts labels to and from the form used by files and the service. Rejects anything but labels for this page's claims.
  const labelsOf = () => [...given].sort(([one], [other]) => one - other).map(([number, { label, blind, ...rest }]) => {
    const { response_id, claim_id } = claims.get(number);
    return { response_id, claim_id, [kind.field]: label, ...(kind.hasVerdicts && { blind }), ...rest };
  });
  const taken = (labels) => {
    const found = new Map();
    for (const { response_id: response, claim_id: claim, [kind.field]: label, comment = "", blind = false, given_at = null } of labels) {
      const number = named.get(JSON.stringify([response, claim]));
      if (number === undefined) throw new Error(`This file contains ${kind.one} for a claim that is not on this page: ${String(claim).slice(0, 80)}`);
      if (found.has(number)) throw new Error(`This file contains two ${name} for claim ${number}.`);
      if (!words.has(label) || typeof comment !== "string") throw new Error(`This file contains ${kind.one} for claim ${number} that cannot be read.`);
      found.set(number, { label, blind: blind === true, given_at, comment: comment.slice(0, LONGEST_COMMENT) });
    }
    return found;
  };
  const download = async () => {
    const file = { schema_version: "1.0", kind: name, claims_hash: hash, claims: [...claims.values()], [name]: labelsOf() };
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(file, null, 1)}\n`], { type: "application/json" }));
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: `${name}-${hash.slice(0, 8)}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    store.isSaved = true;
  };
  const read = async (file) => {
    if (file.size > LARGEST_FILE) throw new Error(`This file is too large to be a file of ${name}.`);
    let found = null;
    try { found = JSON.parse(await file.text()); } catch { /* reported below */ }
    if (found?.kind !== name || !Array.isArray(found[name]) || !found[name].every((one) => one && typeof one === "object")) throw new Error(`This is not a file of ${name} saved by a page.`);
    if (found.claims_hash !== hash) throw new Error(name === "labels" ? "These labels belong to another report." : "These answers belong to another page.");
    return taken(found[name]);
  };

  // Stores labels in the browser or, for a framed page, which has no storage, in the service.
  let store = {
    isKept: true,
    isSaved: true,
    async load() {
      try {
        JSON.parse(localStorage.getItem(`${place}-seen`) ?? "[]").forEach((number) => revealed.add(number));
      } catch { /* the verdicts stay hidden */ }
      try {
        return taken(JSON.parse(localStorage.getItem(place) ?? "[]"));
      } catch { return new Map(); }
    },
    see() {
      try { localStorage.setItem(`${place}-seen`, JSON.stringify([...revealed])); } catch { /* until the page is closed */ }
    },
    async keep() {
      this.see();
      this.isSaved = false;
      this.isKept = true;
      try {
        localStorage.setItem(place, JSON.stringify(labelsOf()));
      } catch {
        this.isKept = false;
        throw new Error(`This browser cannot store the ${name}. Save them to a file before you leave this page.`);
      }
    },
  };
  const keptBy = (port) => {
    const asked = new Map();
    let n = 0;
    const ask = (what) => new Promise((resolve, reject) => {
      n += 1;
      asked.set(n, { resolve, reject });
      port.postMessage({ id: n, ...what });
    });
    port.onmessage = ({ data: { id, labels, error } }) => {
      if (error) asked.get(id).reject(new Error(error));
      else asked.get(id).resolve(labels);
      asked.delete(id);
    };
    return {
      isKept: true, // the surrounding page warns the reader
      load: async () => taken(await ask({})),
      keep: (number, one) => ask({ claim: claims.get(number).claim_id, label: one && { label: one.label, comment: one.comment, blind: one.blind } }),
    };
  };
  addEventListener("message", ({ source, ports: [port] }) => {
    if (source === parent && source !== window && port) store = keptBy(port);
  });
  addEventListener("beforeunload", (event) => { if (isOn && !store.isKept && !store.isSaved) event.preventDefault(); });

  // The dock. Strings become text nodes, and `on...` functions become listeners.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [attribute, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(attribute.slice(2), value);
      else element.setAttribute(attribute, value);
    }
    element.append(...children);
    return element;
  };
  const button = (said, key, act, attributes = {}) => make("button", { type: "button", class: "quiet", "aria-keyshortcuts": key, onclick: act, ...attributes }, `${said} `, make("kbd", { "aria-hidden": "true" }, key));
  const toggle = document.querySelector("#label-mode");
  const bar = make("progress", { value: 0, "aria-label": `Claims that are ${kind.done}` });
  const count = make("p", { class: "label-count" });
  const which = make("p", { class: "label-claim", dir: "auto" });
  const outcome = make("p", { class: "label-outcome", hidden: "" });
  const spoken = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const trouble = make("p", { class: "label-trouble", role: "alert", hidden: "" });
  const agree = button("Agree", "a", () => agreed());
  const choices = new Map(kind.choices.map(([label, said], at) => [label, button(said, String(at + 1), () => give(label), { "aria-pressed": "false" })]));
  const comment = make("input", { type: "text", maxlength: LONGEST_COMMENT, placeholder: "Comment (c)", "aria-label": "Comment on this claim", "aria-keyshortcuts": "c", autocomplete: "off", onchange: () => commented() });
  const undoing = button("Undo", "u", () => undo());
  const hiding = make("input", { type: "checkbox", "aria-keyshortcuts": "b", onchange: () => hide(hiding.checked) });
  const saving = make("button", { type: "button", class: "quiet is-strong", onclick: () => trying(download) }, `Save ${name}`);
  const file = make("input", { type: "file", accept: ".json,application/json", class: "unseen", tabindex: "-1", "aria-label": `File of ${name}`, onchange: () => trying(load) });
  const dock = make("section", { class: "label-dock", "aria-label": kind.title, hidden: "" },
    make("div", { class: "label-head" }, bar, count, which),
    outcome,
    make("div", { class: "label-choices", role: "group", "aria-label": kind.yours }, ...(kind.hasVerdicts ? [agree] : []), ...choices.values()),
    make("div", { class: "label-more" }, comment, undoing,
      button("‹", "p", () => step(-1), { "aria-label": "Previous claim" }), button("›", "n", () => step(1), { "aria-label": "Next claim" })),
    make("div", { class: "label-more" },
      ...(kind.hasVerdicts ? [make("label", { title: "A visible verdict biases your label. If you change a label after seeing the verdict, the label no longer counts as blind." }, hiding, " Hide verdicts ", make("span", { class: "is-long" }, "until labelled "), make("kbd", { "aria-hidden": "true" }, "b"))] : []),
      saving, make("button", { type: "button", class: "quiet", onclick: () => file.click() }, "Load…"), file),
    trouble, spoken);
  new ResizeObserver(() => { document.documentElement.style.scrollPaddingBottom = isOn ? `${dock.offsetHeight + 8}px` : ""; }).observe(dock);

  const say = (said) => { spoken.textContent = said; };
  const trying = async (act) => {
    trouble.hidden = true;
    try { await act(); } catch (error) {
      trouble.textContent = error.message;
      trouble.hidden = false;
    }
  };
  const progress = () => `${given.size.toLocaleString("en")} of ${claims.size.toLocaleString("en")} ${kind.done}`;
  const told = () => (current === null ? "No claim is shown." : `Claim ${current}: ${itemOf.get(current).querySelector(".statement").textContent}`);
  // What the labels say about a single answer and its judge, once they are complete. They are no sample.
  const concluded = () => {
    const n = (label, ...verdicts) => [...given].filter(([number, one]) => one.label === label && (!verdicts.length || verdicts.includes(claims.get(number).verdict))).length;
    const [right, wrong] = [n("supported"), n("not_supported")];
    if (common.dataset !== "reports" || given.size < claims.size || right + wrong === 0) return "";
    const left = given.size - right - wrong;
    const [agreed, passed, missed] = [n("supported", "supported"), n("not_supported", "supported"), n("not_supported", null)];
    return [
      `${right} of your ${right + wrong} labels say supported${left ? ` (${left} “irrelevant” or “cannot tell” not counted)` : ""}: that is this answer’s precision.`,
      n("cannot_tell") ? "" : "It needs no interval and no correction, because you read every claim.",
      agreed + passed ? `Your labels agree with ${agreed} of the judge’s ${agreed + passed} “supported” verdicts.` : `The judge called none of these ${right + wrong} claims supported.`,
      wrong ? `Of the claims that you labelled not supported (${wrong}), the judge flagged ${wrong - passed - missed}, called ${passed} supported and left ${missed} unscored.` : "You labelled no claim not supported, so this does not show if the judge finds errors.",
    ].filter(Boolean).join(" ");
  };
  const isHidden = (number) => isBlind && !given.has(number);
  const draw = () => {
    bar.max = claims.size;
    bar.value = given.size;
    count.textContent = progress();
    outcome.textContent = concluded();
    outcome.hidden = outcome.textContent === "";
    saving.disabled = given.size === 0;
    undoing.disabled = past.length === 0;
    which.textContent = told();
    if (current === null) return;
    const one = given.get(current);
    agree.disabled = claims.get(current).verdict === null || isHidden(current);
    for (const [label, choice] of choices) choice.setAttribute("aria-pressed", String(one?.label === label));
    comment.value = one?.comment ?? drafts.get(current) ?? "";
  };

  // The claims that the list shows. The claim to label is opened, and gets the focus unless a dock button has the focus.
  const shown = () => [...list.querySelectorAll(".claim[data-claim]:not([hidden])")].map(numberOf);
  let opened = null;
  const reveal = (number, focuses) => {
    const details = itemOf.get(number).firstElementChild;
    if (opened && opened !== details) opened.open = false;
    opened = details;
    details.open = true;
    document.querySelectorAll(".is-linked").forEach((element) => element.classList.remove("is-linked"));
    const pieces = [...document.querySelectorAll(`.sentence[data-claims~="${number}"]`)];
    [itemOf.get(number), ...pieces].forEach((element) => element.classList.add("is-linked"));
    pieces[0]?.scrollIntoView({ block: "nearest" });
    if (focuses) details.firstElementChild.focus({ preventScroll: true });
    details.firstElementChild.scrollIntoView({ block: "start" });
  };
  const select = (number) => {
    if (number === null) return;
    const fromButton = dock.contains(document.activeElement) && document.activeElement !== comment;
    current = number;
    reveal(number, !fromButton);
    draw();
  };
  const step = (by) => {
    const numbers = shown();
    const at = numbers.indexOf(current);
    select(numbers[at < 0 ? 0 : Math.min(Math.max(at + by, 0), numbers.length - 1)] ?? null);
    say(told());
  };
  // Returns the next shown claim without a label, starting over after the last claim, or null if there is none.
  const nextOpen = (number) => {
    const numbers = shown();
    const at = numbers.indexOf(number);
    return [...numbers.slice(at + 1), ...numbers.slice(0, at + 1)].find((one) => !given.has(one)) ?? null;
  };

  // Shows decisive passages first or, if the verdict is hidden, passages in the order in which they were found.
  const arrange = (item) => {
    for (const evidence of item.querySelectorAll(".evidences")) {
      const passages = [...evidence.children];
      passages.forEach((passage, at) => { passage.dataset.place ??= at; });
      const isBlindfolded = document.documentElement.classList.contains("is-blind");
      const by = isBlindfolded && isHidden(numberOf(item)) ? "number" : "place";
      evidence.append(...passages.sort((one, other) => one.dataset[by] - other.dataset[by]));
    }
  };
  const put = (number, one) => {
    if (one) {
      given.set(number, one);
      revealed.add(number);
      drafts.delete(number);
    } else given.delete(number);
    const item = itemOf.get(number);
    const summary = item.querySelector("summary");
    summary.querySelector(".given")?.remove();
    item.classList.toggle("is-labelled", Boolean(one));
    arrange(item);
    if (!one) return;
    const { verdict } = claims.get(number);
    summary.append(make("span", { class: "given" }, `${kind.hasVerdicts ? "Labelled" : "Answered:"} ${words.get(one.label)}${verdict && verdict !== one.label ? ", unlike the verdict" : ""}`));
  };
  const change = (number, one) => {
    past.push([number, given.get(number) ?? null]);
    put(number, one);
    trying(() => store.keep(number, one));
    draw();
  };
  const give = (label) => {
    const number = current;
    if (number === null) return;
    const blind = isHidden(number) && !revealed.has(number);
    const before = given.get(number);
    const one = before?.label === label ? before : { label, blind, given_at: new Date().toISOString() };
    change(number, { ...one, comment: comment.value.trim() });
    const next = nextOpen(number);
    select(next);
    const all = given.size === claims.size ? `All claims are ${kind.done}. ${concluded()} Save the ${name}.` : `All claims shown are ${kind.done}.`;
    say(`Claim ${number}: ${words.get(label)}. ${progress()}. ${next === null ? all : told()}`);
  };
  const agreed = () => {
    if (current === null) return;
    const { verdict } = claims.get(current);
    if (isHidden(current)) say("The verdict is hidden: judge for yourself.");
    else if (verdict === null) say("There is no verdict to agree with.");
    else give(verdict);
  };
  const commented = () => {
    const said = comment.value.trim();
    const one = given.get(current);
    if (!one) drafts.set(current, said);
    else if (one.comment !== said) change(current, { ...one, comment: said });
  };
  const undo = () => {
    const last = past.pop();
    if (!last) {
      say("There is nothing to undo.");
      return;
    }
    const [number, before] = last;
    if (!before) drafts.set(number, given.get(number)?.comment ?? "");
    put(number, before);
    trying(() => store.keep(number, before));
    select(number);
    say(`Undone. ${progress()}. ${told()}`);
  };
  const load = async () => {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    const found = await read(chosen);
    for (const [number, one] of found) change(number, one);
    say(`${found.size} ${name} loaded. ${progress()}.`);
  };

  // Shows all claims in the order of the response. Showing problems first would reveal verdicts and bias partial labelling.
  const line = (on) => {
    if (on) {
      list.querySelector("#search").value = "";
      list.querySelector('.chip[data-filter=""]')?.click();
    }
    items[0].parentElement.append(...(on ? inOrder : items));
  };
  // Style sheets cannot hide verdicts in titles, names and roles. Also, links from sentences to claims are named after
  // verdicts, and lead to the worst of several claims.
  const titles = new Map();
  const leads = new Map();
  const blindfold = (on) => {
    document.documentElement.classList.toggle("is-blind", on);
    if (!on) {
      claims.forEach((_, number) => revealed.add(number));
      store.see?.();
    }
    titles.forEach((title, element) => { element.title = title; });
    titles.clear();
    for (const element of on ? document.querySelectorAll(".prose [title]") : []) {
      titles.set(element, element.title);
      element.removeAttribute("title");
    }
    for (const fault of document.querySelectorAll(".prose .fault")) {
      if (on) fault.setAttribute("role", "none");
      else fault.removeAttribute("role");
    }
    for (const signs of document.querySelectorAll(".prose .signs")) {
      leads.set(signs, leads.get(signs) ?? signs.hash);
      const numbers = signs.closest(".sentence").dataset.claims.split(" ");
      if (on) signs.setAttribute("aria-label", `To claim ${numbers.join(", ")}`);
      else signs.removeAttribute("aria-label");
      signs.setAttribute("href", on ? `#claim-${numbers[0]}` : leads.get(signs));
    }
    items.forEach(arrange);
  };
  const hide = (on) => {
    isBlind = hiding.checked = on;
    if (on) line(true); // filtering by verdict or searching hidden reasons would reveal verdicts
    blindfold(on);
    if (current !== null) reveal(current, false);
    draw();
    say(on ? "Each verdict is hidden until you label the claim." : "Verdicts are shown.");
  };

  let loading = null;
  const turn = async (on) => {
    if (on) {
      loading ??= store.load(); // once, even if requested again meanwhile
      try { (await loading).forEach((one, number) => { if (!given.has(number)) put(number, one); }); } catch {
        loading = null; // the surrounding page reports the reason
        return;
      }
    }
    isOn = on;
    dock.hidden = !on;
    toggle.setAttribute("aria-pressed", String(on));
    toggle.firstChild.data = `${on ? kind.stop : kind.start} `;
    document.documentElement.classList.toggle("is-labelling", on);
    line(on);
    hiding.checked = isBlind;
    blindfold(isBlind && (on || begins));
    if (!on) {
      if (dock.contains(document.activeElement)) toggle.focus();
      return;
    }
    draw();
    select(nextOpen(null) ?? shown()[0] ?? null);
    say(`${progress()}. ${told()}`);
  };

  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === comment && (event.key === "Enter" || event.key === "Escape")) {
      commented();
      reveal(current, true);
    } else if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog") || !document.querySelector("#shortcuts").checked) return;
    else if (event.key.toLowerCase() === "l") turn(!isOn);
    else if (!isOn) return;
    else {
      const digit = /^(?:Digit|Numpad)([1-4])$/.exec(event.code)?.[1]; // also on keyboards on which digits need Shift
      const onClaim = event.target.closest("summary");
      const by = { n: 1, j: 1, p: -1, k: -1, ...(onClaim && { ArrowDown: 1, ArrowUp: -1 }) }[event.key];
      const act = { c: () => comment.focus(), u: undo, ...(kind.hasVerdicts && { a: agreed, b: () => hide(!isBlind) }) }[event.key];
      const choice = kind.choices[digit - 1];
      if (choice) give(choice[0]);
      else if (by) step(by);
      else if (act) act();
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  list.append(dock);
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest(".claim[data-claim]");
    if (!item || !isOn || numberOf(item) === current) return;
    current = numberOf(item);
    draw();
  });
  document.addEventListener("keydown", pressed, { capture: true });
  toggle.addEventListener("click", () => turn(!isOn));
  toggle.hidden = false;
  if (begins) turn(true);
})();
