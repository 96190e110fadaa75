"""Check that llama.cpp with an exported adapter reproduces the trained model's outputs.

llama.cpp answers prompts greedily, and the trained model reads each prompt with that answer: whether every token is the
one that it would have written, and how likely the token is for either. llama.cpp rounds what it multiplies quantised
weights with, and the trained model does not, so the log-probabilities differ a little without any adapter too;
``TOLERANCE`` is above that. By the same rounding two answers diverge where two tokens are nearly as likely, which says
nothing about the adapter. An answer that diverges where the trained model preferred its own token by more than
``CLEAR_GAP`` does.

Where the adapter was trained on other weights than it is used with (a folder in bfloat16 or in 4 bits, and a GGUF file
in 4 bits of another kind), the weights themselves differ, and answers diverge where neither is wrong. Then only the
mean decides, up to ``LOOSE_TOLERANCE``: enough to detect an adapter of another model or a broken export, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.errors import InputError, ModelError
from sqljury.llm.base import Completion, Sampling
from sqljury.llm.local import LocalModel
from sqljury.train import gguf_base
from sqljury.train.examples import TrainingExample, encode, end_token, prompt_text, read, tokens
from sqljury.train.export import Precision, export
from sqljury.train.settings import ADAPTER, read_settings

TOLERANCE: Final = 0.1
"""The mean difference of a token's log-probability, in nats, up to which the runtimes agree."""
LOOSE_TOLERANCE: Final = 0.5
"""The same where the adapter is used with other weights than it was trained on; chosen, not measured."""
CLEAR_GAP: Final = 0.5
"""In nats: a preference of the trained model between two tokens that rounding does not reverse."""
MIN_CONTEXT: Final = 8192
"""Tokens of llama.cpp's context; more where the training used longer examples."""
MIN_SHARE: Final = 0.95
"""The share of answers that must not diverge from the trained model's at a clear gap."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The comparison of both runtimes on ``prompts``.

    ``equal`` counts answers that are the trained model's, ``learned`` those of llama.cpp that are the set's own,
    ``diverged`` those that differ from the trained model's at a clear gap. ``mean``, 95th percentile (``p95``) and
    ``largest`` summarise the absolute differences of ``tokens`` log-probabilities in nats. ``unaligned`` answers were
    cut into other tokens by the two runtimes and are not compared. ``same_weights``: llama.cpp ran the weights that
    the adapter was trained on.
    """

    prompts: int
    equal: int
    learned: int
    diverged: int
    tokens: int
    mean: float
    p95: float
    largest: float
    unaligned: int
    same_weights: bool

    @property
    def bound(self) -> float:
        """The largest ``mean`` that is accepted."""
        return TOLERANCE if self.same_weights else LOOSE_TOLERANCE

    @property
    def ok(self) -> bool:
        """Whether the adapter may be used: log-probabilities agree up to ``bound``, and answers up to near ties.

        The share of ``equal`` answers does not count: of long answers, after a short training, good adapters have few.
        With other weights than those trained on, answers do not count either.
        """
        answers_agree = not self.same_weights or self.diverged <= (1 - MIN_SHARE) * self.prompts
        return self.tokens > 0 and self.mean <= self.bound and answers_agree


def export_checked(
    run: Path,
    file: Path,
    note: Callable[[str], None],
    *,
    precision: Precision = "f16",
    prompts: int = 8,
    data: Path | None = None,
    served_model: str = "",
    rank: int = 0,
    scale: float = 1.0,
) -> Path:
    """``export`` the adapter of the training in ``run`` after a comparison on ``prompts`` examples of its set.

    ``data`` is the set if it has moved; with 0 ``prompts`` nothing is compared. Raises what ``export`` raises,
    ``InputError`` where the set gives no prompts, ``ModelError`` where the runtimes disagree; ``file`` then stays.
    """
    chosen = _prompts(run, data, prompts) if prompts else []  # before the work: the set may have moved
    return export(
        run,
        file,
        precision,
        lambda written: _check(run, written, chosen, served_model, scale, note),
        served_model,
        rank,
        scale,
        note,
    )


def _prompts(run: Path, data: Path | None, count: int) -> list[TrainingExample]:
    settings = read_settings(run)
    file = data or Path(settings["data"])
    if data is None and not file.is_file():
        raise InputError(f"the training set {file} has moved; name it with --data, or skip the check with --check 0")
    max_length = settings["max_length"]
    known = read(file)
    tokenizer = gguf_base.tokenizer(settings["base_model"])
    chosen = spread(known, count, lambda example: len(encode(tokenizer, example).ids) <= max_length)
    if not chosen:
        raise InputError(
            f"{file}: every example has more than the {max_length} tokens of the training; name its own set with "
            "--data, or skip the check with --check 0"
        )
    return chosen


def spread(
    examples: Sequence[TrainingExample], count: int, fits: Callable[[TrainingExample], bool]
) -> list[TrainingExample]:
    """The first example that ``fits`` of each of ``count`` equal parts of the set; a part may have none."""
    size = max(1, len(examples) // count)
    parts = [examples[start : start + size] for start in range(0, len(examples), size)][:count]
    return [example for part in parts if (example := next(filter(fits, part), None)) is not None]


def _check(
    run: Path,
    written: Path,
    prompts: Sequence[TrainingExample],
    served_model: str,
    scale: float,
    note: Callable[[str], None],
) -> None:
    """Report how far the runtimes agree on ``prompts``; raises ``ModelError`` where they do not."""
    if not prompts:
        return
    note(f"comparing llama.cpp with the trained model on {len(prompts)} prompts")
    agreement = compare(run, written, prompts, served_model=served_model, scale=scale)
    note(
        f"equal answers {agreement.equal} of {agreement.prompts}, {agreement.diverged} differ where the trained model "
        f"was sure; log-probabilities of {agreement.tokens} tokens differ by {agreement.mean:.4f} (mean), "
        f"{agreement.p95:.4f} (95 %), {agreement.largest:.4f} (largest) nats"
    )
    answers = f", and one answer in {round(1 / (1 - MIN_SHARE))} may differ where the trained model was sure"
    if not agreement.same_weights:
        note("the adapter was trained on other weights than the served model's: only the mean decides")
        answers = ""
    if not agreement.ok:
        raise ModelError(
            "llama.cpp does not reproduce the trained model with the exported adapter, which was not kept: "
            f"log-probabilities may differ by {agreement.bound} nats in the mean{answers}; check that --served-model "
            "is the model it was trained on"
        )


def compare(
    run: Path,
    adapter: Path | None,
    examples: Sequence[TrainingExample],
    *,
    served_model: str = "",
    scale: float = 1.0,
    max_new_tokens: int = 200,
) -> Agreement:
    """Compare the training in ``run`` with its exported ``adapter``; None compares the base model with itself.

    ``served_model`` is the GGUF model that the adapter will be used with, if it is not the base model itself; ``scale``
    is that of the export. Raises ``WeightsError`` as ``gguf_base.load``.
    """
    settings = read_settings(run)
    same = not served_model or gguf_base.digest(served_model) == settings["base_sha256"]
    context = max(MIN_CONTEXT, settings["max_length"] + max_new_tokens)
    replies = _llama_replies(served_model or settings["base_model"], adapter, examples, max_new_tokens, context)
    base = gguf_base.load(settings["base_model"])
    model = _with_adapter(base.model, run / ADAPTER, scale) if adapter else base.model
    model.eval()
    comparisons = [
        _compare_answer(model, base.tokenizer, example, reply) for example, reply in zip(examples, replies, strict=True)
    ]
    return _agreement(comparisons, same_weights=same)


def _llama_replies(
    name: str, adapter: Path | None, examples: Sequence[TrainingExample], max_new_tokens: int, context: int
) -> list[Completion]:
    """The greedy answers of llama.cpp; its weights are freed before the others are loaded."""
    llama = LocalModel(name, slots=1, context=context, adapter=str(adapter or ""))
    sampling = Sampling(max_tokens=max_new_tokens, top_logprobs=1)
    try:
        return [llama.complete(example.messages, sampling).completions[0] for example in examples]
    finally:
        llama.close()


class AnswerComparison(NamedTuple):
    """One answer of llama.cpp: whether it is the trained model's (``equal``) and the set's own (``learned``).

    ``differences`` of its tokens' log-probabilities are None where the runtimes cut it into other tokens. ``gap`` is by
    how many nats the trained model preferred another token where the answers diverge, 0 where they do not.
    """

    equal: bool
    learned: bool
    differences: list[float] | None
    gap: float


def _agreement(comparisons: Sequence[AnswerComparison], *, same_weights: bool = True) -> Agreement:
    differences = sorted(difference for answer in comparisons for difference in answer.differences or ())
    count = len(differences)
    return Agreement(
        len(comparisons),
        equal=sum(answer.equal for answer in comparisons),
        learned=sum(answer.learned for answer in comparisons),
        diverged=sum(not answer.equal and answer.gap > CLEAR_GAP for answer in comparisons),
        tokens=count,
        mean=sum(differences) / count if count else 0.0,
        p95=differences[int(0.95 * (count - 1))] if count else 0.0,
        largest=differences[-1] if count else 0.0,
        unaligned=sum(answer.differences is None for answer in comparisons),
        same_weights=same_weights,
    )


def _with_adapter(model: Any, adapter: Path, scale: float) -> Any:
    from sqljury.train.adapter import load

    for layer in load(model, adapter).layers.values():
        layer.scale *= scale
    return model


def _compare_answer(model: Any, tokenizer: Any, example: TrainingExample, reply: Completion) -> AnswerComparison:
    """The trained model reads llama.cpp's answer once: where each token is its likeliest, it would write the same."""
    prompt = tokens(tokenizer, prompt_text(tokenizer, example.messages))
    learned = reply.text.strip() == example.answer.strip()
    known = [token for token in reply.tokens if token.text]
    answer = tokens(tokenizer, reply.text)
    if [tokenizer.decode([token]) for token in answer] != [token.text for token in known[: len(answer)]]:
        return AnswerComparison(False, learned, None, 0.0)
    ended = [end_token(tokenizer, example)] if reply.finish_reason == "stop" else []
    logprobs, gap = _logprobs(model, prompt, [*answer, *ended])
    differences = [abs(logprob - token.logprob) for logprob, token in zip(logprobs[: len(answer)], known, strict=False)]
    return AnswerComparison(not gap, learned, differences, gap)


def _logprobs(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> tuple[list[float], float]:
    """The trained model's log-probabilities of an answer, and its gap where the answer diverges from its own."""
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1].float()
    logprobs = logits.log_softmax(-1)
    of_answer = logprobs[range(len(answer)), list(answer)]
    gaps = (logprobs.max(-1).values - of_answer).tolist()
    return of_answer.tolist(), next((gap for gap in gaps if gap > 0), 0.0)
