"""`Corrector`: a response in; out the same one, mended where evidence says otherwise, and marked where none does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack, get_args

from factloop.agents.reasons import reason_of
from factloop.agents.safe.conversation import Question, question_of
from factloop.checking.check import Checking
from factloop.checking.checker import Check, DocumentOptions, FactChecker, given_checker
from factloop.core.errors import ConfigError, DataError, FactloopError
from factloop.core.old_names import takes_old_names
from factloop.core.records import FactualityReport
from factloop.core.sync import run_blocking
from factloop.correction.acceptance import Ruling, rule
from factloop.correction.drafts import Draft, Wording, left_alone
from factloop.correction.edits import holds_up
from factloop.correction.faults import Fault, fault_of
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.recheck import Rechecks
from factloop.correction.records import (
    Contradicted,
    Correction,
    LeftReason,
    LeftSentence,
    Rejection,
    Unscored,
    Unsupported,
)
from factloop.correction.rewriters import ModelRewriter, OfflineRewriter, Rewriter
from factloop.correction.sentences import ResponseSentence, sentences_of
from factloop.setup.limits import Limits
from factloop.tools.calls.meter import UsageMeter

MAX_ROUNDS = 2
NOTHING_WRONG = "no claim is found to be not supported"
NOTHING_CONTRADICTED = "no claim is contradicted by the evidence"
SAME = "the new wording is the old one"
NOT_READ_AGAIN = "the text after it could not be read again"


class Corrector:
    """Mends what evidence contradicts, and marks what nothing proves.

        async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
            correction = await Corrector(checker).acorrect(response, question="Who was ...?")
        print(correction.text)

    Only sentences with a contradicted claim are reworded: with a model by one call each, in the order of the text,
    offline by rules (`offline`). What was changed is checked again, and the rewritten text is taken only if it is
    better by the rule of `acceptance`. Each change is judged by itself: one that fails that check, or that a
    later sentence needs undone, is undone; the others stay. All other sentences stay byte for byte.

    `contradicted`, for contradicted claims for which the evidence has no words: `mark` (the default) leaves their
    sentence as it is, with "[contradicted]" after it; `remove` takes them out, sentences that state nothing else whole,
    also where a new wording failed its check.
    `unsupported`, for claims without evidence for or against them: `mark` (the default) puts "[unverified]" after their
    sentence, `keep` leaves it as it is, and `remove` takes such claims out, sentences that state nothing else whole.
    `unscored`, for unread passages and unscored claims: `mark` puts "[unchecked]" after them, `keep` does not. What is
    contradicted and could not be mended is marked "[contradicted]". Marks are put in by code: no word is changed. All
    that was removed, and all that stands in doubt, is in the correction, marked or not.

    All calls share limits, cache and budget of the checker. What the checker's settings allow each check (deadline,
    calls, money) they allow a whole correction: the check, the rewriting, and the second check.
    """

    def __init__(
        self,
        checker: FactChecker | None = None,
        *,
        max_rounds: int = MAX_ROUNDS,
        contradicted: Contradicted = "mark",
        unsupported: Unsupported = "mark",
        unscored: Unscored = "mark",
    ) -> None:
        """If no checker is given, the offline engine judges. Raises ConfigError."""
        if max_rounds < 1:
            raise ConfigError(f"max_rounds = {max_rounds}: at least one round is needed")
        for name, value, known in (
            ("contradicted", contradicted, Contradicted),
            ("unsupported", unsupported, Unsupported),
            ("unscored", unscored, Unscored),
        ):
            if value not in get_args(known):
                raise ConfigError(f"{name} = {value!r}: must be one of {', '.join(get_args(known))}")
        self.checker = given_checker(checker)
        self.max_rounds = max_rounds
        self.policy = MarkPolicy(unsupported, unscored, contradicted)

    @takes_old_names
    async def acorrect(
        self,
        response: str | FactualityReport,
        question: Question | None = None,
        *,
        limits: Limits | None = None,
        run_dir: str | Path | None = None,
        **given: Unpack[DocumentOptions],
    ) -> Correction:
        """The correction of a response, or of what a report says of one (which is then not checked a first time).

        `question`, `documents`, `sources` and `run_dir` as for `FactChecker.acheck`; `limits` are those of the whole
        correction. With a model it costs a call for each sentence to be reworded, and in each round a check of what was
        changed. A call that fails is in the correction by name. Raises ConfigError, DataError.
        """
        asked = question_of(question)
        if isinstance(response, FactualityReport):
            if asked is not None and asked != response.prompt:
                raise DataError("the report was made for another question")
            text, asked = response.response, response.prompt
        else:
            text = response
        sources = await self.checker.sources_in(given)
        async with self.checker.engaged(text, asked, limits=limits, run_dir=run_dir, sources=sources) as engaged:
            before = response if isinstance(response, FactualityReport) else await engaged(text, asked)
            meter = engaged.account()
            course = _Course(before, engaged, self._rewriter(engaged.checking, meter), meter, self.policy)
            return await course.run(self.max_rounds)

    @takes_old_names
    def correct(
        self,
        response: str | FactualityReport,
        question: Question | None = None,
        *,
        limits: Limits | None = None,
        run_dir: str | Path | None = None,
        **given: Unpack[DocumentOptions],
    ) -> Correction:
        """`acorrect` for code that is not asynchronous; works inside a running event loop, too (a notebook)."""
        return run_blocking(self.acorrect(response, question, limits=limits, run_dir=run_dir, **given))

    def _rewriter(self, checking: Checking, meter: UsageMeter) -> Rewriter:
        if checking.gateway is not None:
            return ModelRewriter(checking.gateway, checking.session.prompts, meter)
        return OfflineRewriter()


@dataclass(frozen=True)
class _Attempt:
    """A draft with its check and the ruling on it."""

    draft: Draft
    after: FactualityReport
    ruling: Ruling


class _Course:
    """The correction of one response, from its first report to the last round."""

    def __init__(
        self, before: FactualityReport, check: Check, rewriter: Rewriter, meter: UsageMeter, policy: MarkPolicy
    ) -> None:
        self._before, self._rewriter, self._meter, self._policy = before, rewriter, meter, policy
        self._rechecks = Rechecks(before, check)

    async def run(self, max_rounds: int) -> Correction:
        started, rounds = time.perf_counter(), 0
        sentences, placeless = sentences_of(self._before, self._policy.unsupported)
        draft = await self._first_draft(sentences)
        tried: _Attempt | None = None
        n_to_read = max_rounds
        while draft.wordings:
            tried = await self._try(draft)
            rounds += n_to_read > 0
            n_to_read = 0 if tried.ruling.broke_down else max(n_to_read - 1, 0)
            better = self._better(tried, may_read=n_to_read > 0)
            if better is None:
                break
            draft = better
        done = draft if tried is None else tried.draft
        homeless = [_nowhere(one) for one in placeless if one.wrong]
        rejected, why = self._decision(tried, n_faulty=len(done.left) + len(homeless))
        standing = self._before if tried is None or rejected is not None else tried.after
        text, doubts = marked(standing, self._policy)
        return Correction(
            text=text,
            contradicted=self._policy.contradicted,
            unsupported=self._policy.unsupported,
            unscored=self._policy.unscored,
            accepted=rejected is None,
            rejected=rejected,
            why=why,
            before=self._before,
            rewritten=done.text if tried is not None else None,
            changes=done.changes if tried is not None else (),
            left=_in_order([*done.left.values(), *homeless]),
            doubts=doubts,
            after=tried.after if tried is not None else None,
            rounds=rounds,
            rewriter=self._rewriter.name,
            prompts=self._rewriter.hashes,
            usage=self._meter.snapshot(time.perf_counter() - started),
        )

    def _better(self, tried: _Attempt, *, may_read: bool) -> Draft | None:
        """The draft to try next, without what failed; None where nothing is to be undone, or nothing would be left.

        Where nothing more may be read, all is undone of which the check is not known yet.
        """
        ruling = tried.ruling
        better = tried.draft.without(ruling.failed, removing=may_read and self._policy.contradicted == "remove")
        while not may_read and better.wordings and (unread := self._rechecks.unread(better)):
            known = better.without(dict.fromkeys(sorted(unread), NOT_READ_AGAIN), removing=False)
            if known == better:
                return None
            better = known
        return better if ruling.rejected is not None and better != tried.draft and better.wordings else None

    def _decision(self, tried: _Attempt | None, n_faulty: int) -> tuple[Rejection | None, str]:
        if tried is not None:
            return tried.ruling.rejected, tried.ruling.why
        if not n_faulty:
            is_clean = not self._before.counts.not_supported
            return Rejection.NOTHING_TO_CORRECT, NOTHING_WRONG if is_clean else NOTHING_CONTRADICTED
        noun = "the faulty sentence" if n_faulty == 1 else f"none of {n_faulty} faulty sentences"
        return Rejection.NOTHING_CHANGED, f"{noun} could {'not ' if n_faulty == 1 else ''}be changed"

    async def _try(self, draft: Draft) -> _Attempt:
        after = await self._rechecks.report(draft)
        self._meter.add(after.usage)
        return _Attempt(draft, after, rule(self._before, after, draft.fates))

    async def _first_draft(self, sentences: Sequence[ResponseSentence]) -> Draft:
        """A wording for each faulty sentence, each in the light of those before; what got none is left, with the
        reason.
        """
        by_id = {claim.id: claim for claim in self._before.claims}
        draft = Draft(self._before.response, sentences, {})
        for number, sentence in enumerate(sentences):
            if not sentence.wrong:
                continue
            outcome = await self._outcome(sentence, partial(fault_of, self._before, sentence, by_id, draft))
            if isinstance(outcome, Wording):
                draft = replace(draft, wordings={**draft.wordings, number: outcome})
            else:
                draft = replace(draft, left={**draft.left, number: outcome})
        return draft

    async def _outcome(self, sentence: ResponseSentence, fault: Callable[[], Fault]) -> Wording | LeftSentence:
        if holds_up(self._before.response, (sentence.start, sentence.end)):
            return left_alone(sentence, LeftReason.LAYOUT)
        if not sentence.kept and not sentence.contradicted:
            return Wording("")
        shown = fault()
        try:
            wording = await self._rewriter.reword(shown)
        except ConfigError:
            raise
        except FactloopError as error:
            return left_alone(sentence, LeftReason.REWRITE_FAILED, f"{reason_of(error)}: {error}")
        if wording.text == shown.text:
            return left_alone(sentence, LeftReason.REWRITE_FAILED, SAME)
        if sentence.contradicted and wording.takes_out and self._policy.contradicted == "mark":
            return left_alone(sentence, LeftReason.UNMENDABLE)
        return wording


def _nowhere(sentence: ResponseSentence) -> LeftSentence:
    return left_alone(sentence, LeftReason.NO_PLACE)


def _in_order(left: Sequence[LeftSentence]) -> tuple[LeftSentence, ...]:
    return tuple(sorted(left, key=lambda one: one.span))
