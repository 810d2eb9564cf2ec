"use strict";
// Labels or answers on a page that stands alone: kept by the browser under the hash of its claims, saved as a file.
(() => {
  const list = document.querySelector("#list[data-labelling]");
  if (!list) return;
  const { claims_hash: hash, common, begins, kind: name } = JSON.parse(list.dataset.labelling);
  const items = [...list.querySelectorAll(".claim[data-claim]")];
  const numberOf = (item) => Number(item.firstElementChild.id.slice("claim-".length));
  const itemOf = new Map(items.map((item) => [numberOf(item), item]));
  const claims = new Map([...itemOf].sort(([one], [other]) => one - other).map(([number, item]) => [number, { ...common, ...JSON.parse(item.dataset.claim) }]));
  const named = new Map([...claims].map(([number, { response_id: response, claim_id: claim }]) => [JSON.stringify([response, claim]), number]));
  const kind = Labelling.kinds[name];
  const place = `factloop-${name}-${hash}`;
  const LARGEST = 64 * 2 ** 20;
  const KNOWN = new Set(kind.choices.map(([label]) => label));

  const labelsOf = (given) => [...given].sort(([one], [other]) => one - other).map(([number, one]) => {
    const { response_id, claim_id } = claims.get(number);
    const { label, blind, ...rest } = one;
    return { response_id, claim_id, [kind.field]: label, ...(kind.hasVerdicts && { blind }), ...rest };
  });

  // Labels by the numbers of their claims. Fails for what is no label of this page's claims.
  const taken = (labels) => {
    const found = new Map();
    for (const { response_id: response, claim_id: claim, [kind.field]: label, comment = "", blind = false, given_at = null } of labels) {
      const number = named.get(JSON.stringify([response, claim]));
      if (number === undefined) throw new Error(`This file has ${kind.one} of a claim that is not on this page: ${String(claim).slice(0, 80)}`);
      if (found.has(number)) throw new Error(`This file has two ${name} of claim ${number}.`);
      if (!KNOWN.has(label) || typeof comment !== "string") throw new Error(`This file has ${kind.one} of claim ${number} that cannot be read.`);
      found.set(number, { label, blind: blind === true, given_at, comment: comment.slice(0, 2000) });
    }
    return found;
  };

  let isKept = true;
  let isSaved = true;
  const store = {
    load: async () => {
      try { return taken(JSON.parse(localStorage.getItem(place) ?? "[]")); } catch { return new Map(); }
    },
    keep: async (_number, _one, given) => {
      isSaved = false;
      try { localStorage.setItem(place, JSON.stringify(labelsOf(given))); isKept = true; } catch {
        isKept = false;
        throw new Error(`This browser keeps nothing for this page: save the ${name} before you leave it.`);
      }
    },
    save: async (given) => {
      const file = { schema_version: "1.0", kind: name, claims_hash: hash, claims: [...claims.values()], [name]: labelsOf(given) };
      const address = URL.createObjectURL(new Blob([`${JSON.stringify(file, null, 1)}\n`], { type: "application/json" }));
      const link = document.createElement("a");
      link.href = address;
      link.download = `${name}-${hash.slice(0, 8)}.json`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      isSaved = true;
    },
    read: async (file) => {
      if (file.size > LARGEST) throw new Error(`This file is too large for a file of ${name}.`);
      let found = null;
      try { found = JSON.parse(await file.text()); } catch { /* said below */ }
      if (found?.kind !== name || !Array.isArray(found[name]) || !found[name].every((one) => one && typeof one === "object")) throw new Error(`This is not a file of ${name} that a page saved.`);
      if (found.claims_hash !== hash) throw new Error(name === "labels" ? "These labels are of another report." : "These answers are of another page.");
      return taken(found[name]);
    },
    wouldLose: () => !isKept && !isSaved,
  };

  const leads = new Map(); // where the links of sentences lead while verdicts are shown
  let revealed = null;
  const view = {
    shown: () => [...list.querySelectorAll(".claim[data-claim]:not([hidden])")].map(numberOf),
    statement: (number) => itemOf.get(number).querySelector(".statement").textContent,
    reveal: (number, focuses) => {
      const details = itemOf.get(number).firstElementChild;
      if (revealed && revealed !== details) revealed.open = false;
      revealed = details;
      details.open = true;
      document.querySelectorAll(".is-linked").forEach((element) => element.classList.remove("is-linked"));
      itemOf.get(number).classList.add("is-linked");
      const pieces = document.querySelectorAll(`.sentence[data-claims~="${number}"]`);
      pieces.forEach((piece) => piece.classList.add("is-linked"));
      pieces[0]?.scrollIntoView({ block: "nearest" });
      if (focuses) details.firstElementChild.focus({ preventScroll: true });
      details.firstElementChild.scrollIntoView({ block: "start" });
    },
    tag: (number, words) => {
      const summary = itemOf.get(number).querySelector("summary");
      summary.querySelector(".given")?.remove();
      itemOf.get(number).classList.toggle("is-labelled", Boolean(words));
      Labelling.arrange(itemOf.get(number));
      if (!words) return;
      const tag = document.createElement("span");
      tag.className = "given";
      tag.textContent = words;
      summary.append(tag);
    },
    // All claims, in the order of the response: problems first would tell the verdict, and make no sample of the report.
    line: (on) => {
      if (on) {
        list.querySelector("#search").value = "";
        list.querySelector('.chip[data-filter=""]')?.click();
      }
      items[0].parentElement.append(...(on ? [...items].sort((one, other) => numberOf(one) - numberOf(other)) : items));
    },
    // Links from sentences to their claims are named after verdicts, and lead to the worst of several.
    blinded: (on) => {
      items.forEach(Labelling.arrange);
      for (const signs of document.querySelectorAll(".prose .signs")) {
        const numbers = signs.parentElement.dataset.claims.split(" ");
        if (on) {
          leads.set(signs, leads.get(signs) ?? signs.hash);
          signs.setAttribute("aria-label", `To claim ${numbers.join(", ")}`);
          signs.setAttribute("href", `#claim-${numbers[0]}`);
        } else {
          signs.removeAttribute("aria-label");
          if (leads.has(signs)) signs.setAttribute("href", leads.get(signs));
        }
      }
    },
    failed: () => {},
    hasLetters: () => document.querySelector("#shortcuts").checked,
  };

  const toggle = document.querySelector("#label-mode");
  const labelling = new Labelling({ claims, view, store, toggle, isBlind: begins === "blind", kind });
  list.append(labelling.dock);
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest(".claim[data-claim]");
    if (item) labelling.noticed(numberOf(item));
  });
  toggle.hidden = false;
  if (begins) labelling.turn(true);
})();
