// Labels that a person gives the claims of a check that is done; the service keeps them with it.
import { get, put, remove, save } from "./api.js";

// `Labelling` is a script of the reports, loaded before the modules.
export const offerLabels = ({ path, name, unfolding, list, prose, failed, signal }) => {
  const claims = new Map(unfolding.claims.map((claim, index) => [index + 1, { verdict: claim.record.judgement.verdict }]));
  const claimOf = (number) => unfolding.claims[number - 1];
  const numberOf = (claim) => list.numbers.get(claim.id);
  const unsent = new Map(); // what the service does not have yet: number to a label, or to null
  let sending = Promise.resolve();

  const send = async () => {
    for (const [number, one] of [...unsent]) {
      const place = `${path}/labels/${encodeURIComponent(claimOf(number).id)}`;
      if (one) await put(place, { label: one.label, comment: one.comment, blind: one.blind });
      else await remove(place);
      if (unsent.get(number) === one) unsent.delete(number);
    }
  };
  const store = {
    // Claims that are not to be labelled, such as repeats that count once, are taken out.
    load: async (shown) => {
      const file = await get(`${path}/labels`, signal);
      const known = new Map(unfolding.claims.map((claim) => [claim.id, numberOf(claim)]));
      const wanted = new Set(file.claims.map((one) => known.get(one.claim_id)));
      for (const number of [...shown.keys()]) if (!wanted.has(number)) shown.delete(number);
      return file.labels.map(({ claim_id: id, label, comment, blind, given_at }) => [known.get(id), { label, comment, blind, given_at }]);
    },
    keep: (number, one) => {
      unsent.set(number, one);
      sending = sending.catch(() => {}).then(send);
      return sending.catch((error) => { throw new Error(`Not kept: ${error.message} It is sent again with the next label.`); });
    },
    save: () => save(`${path}/labels`, `labels-${name}.json`),
    wouldLose: () => unsent.size > 0,
  };
  const view = {
    signal,
    failed,
    shown: () => list.seen.map(numberOf).filter((number) => claims.has(number)),
    statement: (number) => claimOf(number).statement,
    reveal: (number, focuses) => {
      prose.link(claimOf(number))?.scrollIntoView({ block: "nearest" });
      list.turnTo(claimOf(number), focuses);
    },
    tag: (number, words) => list.tag(claimOf(number), words),
    line: (on) => list.line(on),
    blinded: (on) => {
      prose.blind(on);
      list.blind();
    },
    hasLetters: () => list.letters.checked,
  };
  const labelling = new globalThis.Labelling({ claims, view, store, toggle: list.toLabel });
  list.noticed = (claim) => labelling.noticed(numberOf(claim));
  list.element.append(labelling.dock);
  list.toLabel.hidden = unfolding.claims.length === 0;
  signal.addEventListener("abort", () => { if (labelling.isOn) labelling.turn(false); });
};
