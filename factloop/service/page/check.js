// One check: watched while it runs, read when it is done. Its address brings it back after a reload.
import { Refused, follow, get, save } from "./api.js";
import { ClaimList } from "./claims.js";
import { button, eachFrame, h, replace } from "./dom.js";
import { again } from "./form.js";
import { deleteButton, stopButton } from "./keeping.js";
import { offerLabels } from "./labels.js";
import { Overview } from "./overview.js";
import { Prose } from "./prose.js";
import { Unfolding } from "./unfolding.js";
import { BEGUN_ANEW, isOver, jobState, many, plural, spentInWords } from "./words.js";

const SPEAK_MS = 2500; // a reader of the screen hears how far it is, no more often than that

export const showCheck = async (view, id, { signal, announce }) => {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const [job, request, layout] = await Promise.all([get(path, signal), get(`${path}/request`, signal), get(`${path}/layout`, signal)]);
  const check = new CheckView(view, path, { job, request, layout }, announce);
  check.list.keepClear(signal);
  check.list.hearKeys(signal);
  if (job.status === "done") await check.finish(job, signal);
  else await check.watch(id, signal);
};

class CheckView {
  constructor(view, path, { job, request, layout }, announce) {
    Object.assign(this, { path, job, request, layout, announce, connection: "", isWhole: false });
    this.unfolding = new Unfolding(request.response);
    this.prose = new Prose(this.unfolding, (claim) => this.list.reveal(claim), layout);
    this.list = new ClaimList(this.unfolding, {
      hasSentence: (claim) => this.prose.spanOf.has(claim.id),
      located: (claim) => this.goToSentence(claim),
      beside: (claim) => this.prose.link(claim)?.scrollIntoView({ block: "nearest" }),
    });
    this.overview = new Overview(request.prompt);
    this.trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    this.draw = eachFrame(() => this.drawNow());
    this.panes = h("div", { class: "panes" }, h("section", { class: "response", "aria-labelledby": "response-title" }, h("h2", { id: "response-title" }, "Response"), this.prose.element, this.prose.raw), this.list.element);
    replace(view, this.overview.element, this.trouble, this.panes);
    this.drawNow();
  }

  async watch(id, signal) {
    this.spoken = setInterval(() => this.speak(), SPEAK_MS);
    signal.addEventListener("abort", () => clearInterval(this.spoken));
    let over = null;
    await follow(id, {
      signal,
      told: (state, seconds) => this.connected(state, seconds),
      heard: (event) => {
        if (event.type === "job_finished") over = event.data;
        if (this.job.status === "queued" && !over) this.job = { ...this.job, status: "running" };
        const claim = this.unfolding.take(event);
        if (claim) this.take(claim);
        this.draw();
      },
    });
    clearInterval(this.spoken);
    if (over && !signal.aborted) await this.finish(over, signal);
  }

  // It is over, and what came of it is not here yet: nothing can be said of it.
  get isLoading() { return isOver(this.job) && !this.isWhole; }

  take(claim) {
    this.prose.take(claim);
    this.list.take(claim);
  }

  async finish(job, signal) {
    if (job.status === "done") {
      const isKnown = this.layout.faults !== null;
      const [report, layout] = await Promise.all([get(`${this.path}/result`, signal), isKnown ? this.layout : get(`${this.path}/layout`, signal)]);
      this.report = report;
      for (const claim of this.unfolding.settle(this.report, layout.marks)) this.take(claim);
      this.prose.settle(this.unfolding.silent, layout.faults);
      this.list.moved = true; // the order of the report holds
    } else {
      for (const claim of this.unfolding.stop()) this.take(claim);
    }
    this.job = job;
    this.isWhole = true;
    this.drawNow();
    if (this.report) {
      this.list.settle();
      const name = this.job.id.replace(/[^\w-]/g, "");
      offerLabels({ path: this.path, name, unfolding: this.unfolding, list: this.list, prose: this.prose, failed: (text) => { this.refused = text; this.draw(); }, signal });
    }
    this.announce(this.report ? `Check finished. ${plural(this.unfolding.claims.length, "claim")}.` : this.told());
  }

  drawNow() {
    if (this.list.draw()) this.prose.renumber(this.list.numbers);
    this.prose.draw();
    if (this.isLoading) this.overview.loading();
    else if (this.report) this.overview.report(this.report, this.unfolding);
    else this.overview.progress(this.unfolding, this.told(), isOver(this.job) ? this.job.progress.usage : null);
    replace(this.list.empty, this.waiting());
    this.showTrouble();
    if (this.actionsFor !== this.job.status) this.showActions();
  }

  told() {
    const { status } = this.job;
    const { nJudged, claims, waiting } = this.unfolding;
    if (status === "running" && waiting) return `${waiting.server} accepts no request (${waiting.cause}): waiting ${Math.round(waiting.waited_s)} of ${many(waiting.patience_s)} s.`;
    if (status === "queued") return "Waiting for its turn.";
    if (status === "running") return nJudged === claims.length && claims.length > 0 ? "Checking: all claims found so far are judged." : "Checking: claims are judged as they are found.";
    const rest = claims.length - nJudged;
    const left = rest ? `, ${plural(rest, "claim")} without` : "";
    return `This check was ${status === "failed" ? "not finished" : jobState(status).words}: ${plural(nJudged, "claim")} with a judgement${left}.${spentInWords(this.job)}${this.job.begun_anew ? ` ${BEGUN_ANEW}` : ""}`;
  }

  waiting() {
    if (this.unfolding.claims.length || this.isLoading) return null;
    if (this.report) return "The response makes no claim that can be checked.";
    return isOver(this.job) ? "No claim had been found." : "Claims appear here as they are found.";
  }

  connected(state, seconds) {
    this.connection = state === "lost" ? `The service does not answer. Trying again in ${plural(Math.max(1, seconds), "second")}; what was judged stays here, and the check goes on where it was.` : "";
    this.draw();
  }

  showTrouble() {
    const failed = this.job.status === "failed" && `The check failed: ${this.job.error?.message ?? this.job.error ?? "the service gives no reason"}`;
    const text = failed || this.connection || this.refused || "";
    if (this.trouble.textContent !== text) replace(this.trouble, text);
    this.trouble.hidden = !text;
  }

  showActions() {
    const { status } = this.job;
    this.actionsFor = status;
    this.panes.classList.toggle("is-running", !isOver(this.job));
    const refused = (text) => { this.refused = text; this.draw(); };
    const act = (work) => async () => {
      refused("");
      try { await work(); } catch (error) { refused(error.message); }
    };
    const focused = this.overview.actions.contains(document.activeElement);
    const name = `check-${this.job.id}`.replace(/[^\w-]/g, "");
    replace(this.overview.actions,
      !isOver(this.job) && stopButton("Stop this check", this.path, refused),
      status === "done" && [
        button("Download JSON", act(() => save(`${this.path}/result`, `${name}.json`))),
        button("Download CSV", act(() => save(`${this.path}/claims.csv`, `${name}.csv`))),
        button("Download HTML", act(() => save(`${this.path}/report.html`, `${name}.html`))),
        h("a", { class: "quiet", href: `#/history?first=${encodeURIComponent(this.job.id)}` }, "Compare with another check"),
      ],
      isOver(this.job) && [
        button("Edit and check again", () => again(this.request)),
        deleteButton(this.path, refused),
      ]);
    if (focused) this.overview.actions.querySelector("button")?.focus();
  }

  goToSentence(claim) {
    const sentence = this.prose.link(claim);
    sentence?.focus({ preventScroll: true });
    sentence?.scrollIntoView({ block: "nearest" });
  }

  speak() {
    const { nJudged, claims } = this.unfolding;
    this.announce(this.connection || `${many(nJudged)} of ${plural(claims.length, "claim")} judged`);
  }
}

export const isMissing = (error) => error instanceof Refused && error.status === 404;
