"use strict";
// Labels that a person gives the claims of a page, or answers which of two sides is right: by keys or buttons, with a
// comment, undone one by one. No module, as pages that stand alone have it inline; the page of the service loads it
// before its modules.
globalThis.Labelling = (() => {
  const LABELS = {
    choices: [["supported", "Supported"], ["not_supported", "Not supported"], ["irrelevant", "Irrelevant"], ["cannot_tell", "Cannot tell"]],
    hasVerdicts: true, field: "label", one: "a label", noun: "labels", done: "labelled", start: "Label claims", stop: "Stop labelling", title: "Label the claims", yours: "Your label",
  };
  const ANSWERS = {
    choices: [["first", "First is right"], ["second", "Second is right"], ["neither", "Neither"]],
    hasVerdicts: false, field: "answer", one: "an answer", noun: "answers", done: "answered", start: "Answer", stop: "Stop answering", title: "Say which side is right", yours: "Your answer",
  };
  const LONGEST_COMMENT = 2000;

  // Texts become text nodes. `on...` functions listen.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name.slice(2), value);
      else if (value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const button = (words, key, act, attributes = {}) => make("button", { type: "button", class: "quiet", "aria-keyshortcuts": key, onclick: act, ...attributes }, `${words} `, make("kbd", { "aria-hidden": "true" }, key));

  return class {
    static kinds = { labels: LABELS, answers: ANSWERS };

    // The passages of a claim whose verdict is hidden stand as they were found: elsewhere those that decide stand first.
    static arrange(claim) {
      const isHidden = document.documentElement.matches(".is-blind") && !claim.matches(".is-labelled");
      for (const list of claim.querySelectorAll(".evidences")) {
        const items = [...list.children];
        items.forEach((item, place) => { item.dataset.place ??= place; });
        const by = isHidden ? "number" : "place";
        const wanted = [...items].sort((one, other) => one.dataset[by] - other.dataset[by]);
        if (wanted.some((item, place) => item !== items[place])) list.append(...wanted);
      }
    }

    // `claims`: number on the page to `{ verdict, ... }`. `view` shows claims, `store` keeps labels: see label.js.
    constructor({ claims, view, store, toggle, isBlind = false, kind = LABELS }) {
      Object.assign(this, { claims, view, store, toggle, isBlind, kind });
      this.words = Object.fromEntries(kind.choices.map(([label, words]) => [label, words.toLowerCase()]));
      this.isOn = false;
      this.given = new Map(); // number to { label, comment, blind, given_at }
      this.drafts = new Map(); // comments of claims without a label
      this.past = []; // [number, what was given before], the last to be undone first
      this.revealed = new Set(); // claims whose verdict was seen after a label
      this.titles = new Map(); // what the response says of verdicts in titles, taken away while they are hidden
      this.current = null;
      this.build();
      toggle.addEventListener("click", () => this.turn(!this.isOn));
      document.addEventListener("keydown", (event) => this.pressed(event), { capture: true, signal: view.signal });
      addEventListener("beforeunload", (event) => { if (this.isOn && store.wouldLose()) event.preventDefault(); }, { signal: view.signal });
    }

    build() {
      this.bar = make("progress", { value: 0, "aria-label": `Claims that are ${this.kind.done}` });
      this.count = make("p", { class: "label-count" });
      this.spoken = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
      this.trouble = make("p", { class: "label-trouble", role: "alert", hidden: "" });
      this.which = make("p", { class: "label-claim", dir: "auto" });
      this.agree = button("Agree", "a", () => this.agreed());
      this.choices = new Map(this.kind.choices.map(([label, words], place) => [label, button(words, String(place + 1), () => this.give(label), { "aria-pressed": "false" })]));
      this.comment = make("input", { type: "text", maxlength: LONGEST_COMMENT, placeholder: "Comment (c)", "aria-label": "Comment on this claim", "aria-keyshortcuts": "c", autocomplete: "off", onchange: () => this.commented() });
      this.undoing = button("Undo", "u", () => this.undo());
      this.hiding = make("input", { type: "checkbox", "aria-keyshortcuts": "b", onchange: () => this.hide(this.hiding.checked) });
      this.letters = make("input", { type: "checkbox", checked: "" });
      this.saving = make("button", { type: "button", class: "quiet is-strong", onclick: () => this.save() }, `Save ${this.kind.noun}`);
      this.file = make("input", { type: "file", accept: ".json,application/json", class: "unseen", tabindex: "-1", "aria-label": `File of ${this.kind.noun}`, onchange: () => this.load() });
      const loading = make("button", { type: "button", class: "quiet", onclick: () => this.file.click() }, "Load…");
      this.dock = make("section", { class: "label-dock", "aria-label": this.kind.title, hidden: "" },
        make("div", { class: "label-head" }, this.bar, this.count, this.which),
        make("div", { class: "label-choices", role: "group", "aria-label": this.kind.yours }, ...(this.kind.hasVerdicts ? [this.agree] : []), ...this.choices.values()),
        make("div", { class: "label-more" }, this.comment, this.undoing,
          button("‹", "p", () => this.step(-1), { "aria-label": "Previous claim" }), button("›", "n", () => this.step(1), { "aria-label": "Next claim" })),
        make("div", { class: "label-more" },
          ...(this.kind.hasVerdicts ? [make("label", { title: "A verdict in sight draws the label towards it" }, this.hiding, " Hide verdicts ", make("span", { class: "is-long" }, "until labelled "), make("kbd", { "aria-hidden": "true" }, "b"))] : []),
          ...(this.view.hasLetters ? [] : [make("label", {}, this.letters, " Single-key shortcuts")]), this.saving, ...(this.store.read ? [loading, this.file] : [])),
        this.trouble, this.spoken);
      new ResizeObserver(() => { document.documentElement.style.scrollPaddingBottom = this.isOn ? `${this.dock.offsetHeight + 8}px` : ""; }).observe(this.dock);
    }

    async turn(on) {
      if (on) {
        this.loading ??= this.fetch(); // once, however often it is asked for meanwhile
        try { await this.loading; } catch (error) {
          this.loading = null;
          this.view.failed(error.message);
          return;
        }
      }
      this.isOn = on;
      this.dock.hidden = !on;
      this.toggle.setAttribute("aria-pressed", String(on));
      this.toggle.firstChild.data = `${on ? this.kind.stop : this.kind.start} `;
      document.documentElement.classList.toggle("is-labelling", on);
      this.view.line(on);
      this.blindfold(on && this.isBlind);
      this.hiding.checked = this.isBlind;
      if (!on) {
        if (!this.dock.contains(document.activeElement)) return;
        this.toggle.focus();
        return;
      }
      this.draw();
      this.select(this.nextOpen(null) ?? this.view.shown()[0] ?? null);
      this.say(`${this.progress()}. ${this.told()}`);
    }

    async fetch() {
      for (const [number, one] of await this.store.load(this.claims)) this.put(number, one);
    }

    // The claim to be labelled: opened, and with the focus unless a button of ours has it.
    select(number) {
      if (number === null) return;
      const fromButton = this.dock.contains(document.activeElement) && document.activeElement !== this.comment;
      this.current = number;
      this.view.reveal(number, !fromButton);
      this.draw();
    }

    // A claim that was opened or got the focus by other means.
    noticed(number) {
      if (!this.isOn || number === this.current || !this.claims.has(number)) return;
      this.current = number;
      this.draw();
    }

    step(by) {
      const shown = this.view.shown();
      const at = shown.indexOf(this.current);
      this.select(shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)] ?? null);
      this.say(this.told());
    }

    // The next claim without a label after this one, of those shown, from the first again after the last; or null.
    nextOpen(number) {
      const shown = this.view.shown();
      const at = shown.indexOf(number);
      return [...shown.slice(at + 1), ...shown.slice(0, at + 1)].find((one) => !this.given.has(one)) ?? null;
    }

    isHidden(number) { return this.isBlind && !this.given.has(number); }

    agreed() {
      const verdict = this.current === null ? null : this.claims.get(this.current).verdict;
      if (this.current !== null && this.isHidden(this.current)) this.say("The verdict is hidden: say what you find.");
      else if (verdict === null) this.say("There is no verdict to agree with.");
      else this.give(verdict);
    }

    give(label) {
      const number = this.current;
      if (number === null) return;
      const blind = this.isHidden(number) && !this.revealed.has(number);
      const isSame = this.given.get(number)?.label === label;
      const one = { ...(isSame ? this.given.get(number) : { label, blind, given_at: new Date().toISOString() }), comment: this.comment.value.trim() };
      this.change(number, one);
      const next = this.nextOpen(number);
      const said = `Claim ${number}: ${this.words[label]}. ${this.progress()}.`;
      if (next !== null) this.select(next);
      this.say(next === null ? `${said} ${this.given.size === this.claims.size ? `All are ${this.kind.done}: save the ${this.kind.noun}.` : `All that are shown are ${this.kind.done}.`}` : `${said} ${this.told()}`);
    }

    commented() {
      const number = this.current;
      const comment = this.comment.value.trim();
      const one = this.given.get(number);
      if (!one) this.drafts.set(number, comment);
      else if (one.comment !== comment) this.change(number, { ...one, comment });
    }

    undo() {
      const last = this.past.pop();
      if (!last) {
        this.say("There is nothing to undo.");
        return;
      }
      const [number, before] = last;
      if (!before) this.drafts.set(number, this.given.get(number)?.comment ?? "");
      this.put(number, before);
      this.keep(number, before);
      this.select(number);
      this.say(`Undone. ${this.progress()}. ${this.told()}`);
    }

    change(number, one) {
      this.past.push([number, this.given.get(number) ?? null]);
      this.put(number, one);
      this.keep(number, one);
      this.draw();
    }

    put(number, one) {
      if (one) {
        this.given.set(number, one);
        this.revealed.add(number);
        this.drafts.delete(number);
      } else this.given.delete(number);
      const { verdict } = this.claims.get(number);
      this.view.tag(number, one && `${this.kind.hasVerdicts ? "Labelled" : "Answered:"} ${this.words[one.label]}${verdict && verdict !== one.label ? ", unlike the verdict" : ""}`);
    }

    async keep(number, one) {
      try {
        await this.store.keep(number, one, this.given);
        this.complain("");
      } catch (error) {
        this.complain(error.message);
      }
    }

    hide(on) {
      this.isBlind = this.hiding.checked = on;
      if (on) this.view.line(true); // what was filtered by verdict, or by words of hidden reasons, would tell them
      this.blindfold(on);
      if (this.current !== null) this.view.reveal(this.current, false);
      this.draw();
      this.say(on ? "Verdicts are hidden until you have labelled." : "Verdicts are shown.");
    }

    // Verdicts go out of sight by their styles; titles, names and roles are no matter of style.
    blindfold(on) {
      if (!document.documentElement.classList.toggle("is-blind", on)) {
        this.titles.forEach((title, element) => { element.title = title; });
        this.titles.clear();
      } else {
        for (const element of document.querySelectorAll(".prose [title]")) {
          this.titles.set(element, element.title);
          element.removeAttribute("title");
        }
      }
      for (const fault of document.querySelectorAll(".prose .fault")) {
        if (on) fault.setAttribute("role", "none");
        else fault.removeAttribute("role");
      }
      this.view.blinded(on);
    }

    async save() {
      try {
        await this.store.save(this.given);
        this.complain("");
      } catch (error) {
        this.complain(error.message);
      }
    }

    async load() {
      const [file] = this.file.files;
      this.file.value = "";
      if (!file) return;
      try {
        const found = await this.store.read(file);
        for (const [number, one] of found) this.change(number, one);
        this.complain("");
        this.say(`${found.size} ${this.kind.noun} loaded. ${this.progress()}.`);
      } catch (error) {
        this.complain(error.message);
      }
    }

    draw() {
      const { size } = this.given;
      this.bar.max = this.claims.size;
      this.bar.value = size;
      this.count.textContent = this.progress();
      this.saving.disabled = size === 0;
      this.undoing.disabled = this.past.length === 0;
      if (this.current === null) return;
      const one = this.given.get(this.current);
      const { verdict } = this.claims.get(this.current);
      this.which.textContent = this.told();
      this.agree.disabled = verdict === null || this.isHidden(this.current);
      for (const [label, choice] of this.choices) choice.setAttribute("aria-pressed", String(one?.label === label));
      this.comment.value = one?.comment ?? this.drafts.get(this.current) ?? "";
    }

    progress() { return `${this.given.size.toLocaleString("en")} of ${this.claims.size.toLocaleString("en")} ${this.kind.done}`; }

    told() { return this.current === null ? "No claim is shown." : `Claim ${this.current}: ${this.view.statement(this.current)}`; }

    say(words) { this.spoken.textContent = words; }

    complain(words) {
      this.trouble.textContent = words;
      this.trouble.hidden = !words;
    }

    pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target === this.comment && (event.key === "Enter" || event.key === "Escape")) {
        this.commented();
        this.view.reveal(this.current, true);
      } else if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog") || !(this.view.hasLetters?.() ?? (this.isOn && this.letters.checked))) return;
      else if (event.key.toLowerCase() === "l") this.turn(!this.isOn);
      else if (!this.isOn) return;
      else {
        const digit = /^(?:Digit|Numpad)([1-4])$/.exec(event.code)?.[1]; // where digits want Shift, too
        const onClaim = event.target.closest("summary");
        const by = { n: 1, j: 1, p: -1, k: -1, ...(onClaim && { ArrowDown: 1, ArrowUp: -1 }) }[event.key];
        const act = { c: () => this.comment.focus(), u: () => this.undo(), ...(this.kind.hasVerdicts && { a: () => this.agreed(), b: () => this.hide(!this.isBlind) }) }[event.key];
        const choice = this.kind.choices[digit - 1];
        if (choice) this.give(choice[0]);
        else if (by) this.step(by);
        else if (act) act();
        else return;
      }
      event.preventDefault();
      event.stopPropagation();
    }
  };
})();
