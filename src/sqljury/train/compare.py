"""Whether an exported adapter says in llama.cpp what it says where it was trained.

Both write an answer to the same prompts, greedily. Then the log-probabilities that llama.cpp gave its own tokens are
held against those that the trained model gives the same tokens. llama.cpp rounds what it multiplies quantised weights
with, and the trained model does not, so they differ a little without any adapter too; ``TOLERANCE`` is above that.
By the same rounding two answers part where two tokens are nearly as likely, the sooner the longer they are: that says
nothing of the adapter. What does is an answer that parts where the trained model was ``SURE``.

Where the adapter was trained on other weights than it is served with (a folder in bfloat16 or in 4 bits, and a GGUF
file in 4 bits of another kind), the weights themselves differ, and answers part where neither is wrong. Then the mean
alone decides, up to ``LOOSE``: that is to find an adapter of another model or one that came out wrong, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.llm.base import Completion, Sampling
from sqljury.llm.local import LocalModel
from sqljury.train import gguf_base, lora
from sqljury.train.examples import Example, encode, end, prompt_text, tokens

TOLERANCE: Final = 0.1
"""The mean difference of a token's log-probability, in nats, up to which the runtimes agree."""
LOOSE: Final = 0.5
"""The same where the weights are others than those that were trained on; chosen, not measured."""
SURE: Final = 0.5
"""By how many nats the trained model prefers its own token to another one that it would not take by rounding."""
CONTEXT: Final = 8192
"""Tokens of llama.cpp's context, more where the training took longer examples."""
SHARE: Final = 0.95
"""The share of answers that must not part from the trained model's where that is sure."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``prompts``: how many answers were ``equal``, and how many are the set's own (``learnt``, in llama.cpp).

    ``apart`` are those of the others that part from the trained model's answer where it was sure. Absolute differences
    of ``tokens`` log-probabilities in nats are summed up by ``mean``, 95th percentile (``high``) and ``most``.
    ``unread`` answers were cut into other tokens by the two runtimes: they are in neither. ``same`` says that llama.cpp
    ran the very weights that were trained on.
    """

    prompts: int
    equal: int
    learnt: int
    apart: int
    tokens: int
    mean: float
    high: float
    most: float
    unread: int
    same: bool

    @property
    def bound(self) -> float:
        """What the ``mean`` may be."""
        return TOLERANCE if self.same else LOOSE

    @property
    def ok(self) -> bool:
        """Whether the adapter may be used: log-probabilities agree up to ``bound``, and answers but for near ties.

        The share of ``equal`` answers is no part of it: of long ones, after a short training, good adapters have few.
        Where the weights are not the ``same``, answers are no part of it either.
        """
        alike = not self.same or self.apart <= (1 - SHARE) * self.prompts
        return self.tokens > 0 and self.mean <= self.bound and alike


def chosen(run: Path, examples: Sequence[Example], count: int) -> list[Example]:
    """So many of the examples that the training in ``run`` took, spread over the set; those too long for it are none.

    Raises ``WeightsError`` as ``gguf_base.load``.
    """
    settings = lora.asked(run)
    tokenizer = gguf_base.tokenizer(settings["base"])
    return spread(examples, count, lambda one: len(encode(tokenizer, one).ids) <= settings["longest"])


def spread(examples: Sequence[Example], count: int, fits: Callable[[Example], bool]) -> list[Example]:
    """The first that ``fits`` of each of ``count`` equal parts of the examples; a part may have none."""
    size = max(1, len(examples) // count)
    parts = [examples[at : at + size] for at in range(0, len(examples), size)][:count]
    return [found for part in parts if (found := next(filter(fits, part), None)) is not None]


def compare(
    run: Path, adapter: Path | None, examples: Sequence[Example], *, served: str = "", longest: int = 200
) -> Agreement:
    """Hold the training in ``run`` against its exported ``adapter``; None compares the base with itself.

    ``served`` is the GGUF model that the adapter will run on, the base itself if it is one; answers end after
    ``longest`` tokens. Raises ``WeightsError`` as ``gguf_base.load``.
    """
    settings = lora.asked(run)
    same = not served or gguf_base.digest(served) == settings["base_sha256"]
    context = max(CONTEXT, settings["longest"] + longest)
    theirs = _served(served or settings["base"], adapter, examples, longest, context)
    base = gguf_base.load(settings["base"])
    model = _adapted(base.model, run / lora.ADAPTER) if adapter else base.model
    model.eval()
    found = [_held(model, base.tokenizer, *pair, longest) for pair in zip(examples, theirs, strict=True)]
    return _agreement(found, same=same)


def _served(
    name: str, adapter: Path | None, examples: Sequence[Example], longest: int, context: int
) -> list[Completion]:
    """The greedy answers of llama.cpp; its weights are freed before the others are loaded."""
    llama = LocalModel(name, slots=1, context=context, adapter=str(adapter or ""))
    sampling = Sampling(max_tokens=longest, top_logprobs=1)
    try:
        return [llama.complete(example.messages, sampling).completions[0] for example in examples]
    finally:
        llama.close()


class Held(NamedTuple):
    """One answer: whether it is the trained model's (``equal``) and the set's (``learnt``).

    ``differences`` of its tokens are None where the runtimes cut it into other tokens. ``gap`` is by how many nats the
    trained model preferred another token where the answers part, 0 where they do not.
    """

    equal: bool
    learnt: bool
    differences: list[float] | None
    gap: float


def _agreement(found: Sequence[Held], *, same: bool = True) -> Agreement:
    differences = sorted(difference for one in found for difference in one.differences or ())
    count = len(differences)
    return Agreement(
        len(found),
        equal=sum(one.equal for one in found),
        learnt=sum(one.learnt for one in found),
        apart=sum(not one.equal and one.gap > SURE for one in found),
        tokens=count,
        mean=sum(differences) / count if count else 0.0,
        high=differences[int(0.95 * (count - 1))] if count else 0.0,
        most=differences[-1] if count else 0.0,
        unread=sum(one.differences is None for one in found),
        same=same,
    )


def _adapted(model: Any, adapter: Path) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(adapter), local_files_only=True)


def _written(model: Any, tokenizer: Any, prompt: Sequence[int], longest: int) -> str:
    """The greedy answer of the trained model, whatever its folder's ``generation_config.json`` would rather have."""
    import torch

    given = torch.tensor([list(prompt)])
    with torch.inference_mode():
        whole = model.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=longest,
            do_sample=False,
            repetition_penalty=1.0,
        )
    return str(tokenizer.decode(whole[0, len(prompt) :], skip_special_tokens=True))


def _held(model: Any, tokenizer: Any, example: Example, reply: Completion, longest: int) -> Held:
    """llama.cpp's answer to ``example`` against the trained model."""
    prompt = tokens(tokenizer, prompt_text(tokenizer, example.messages))
    said = reply.text.strip()
    equal = _written(model, tokenizer, prompt, longest).strip() == said
    known = [token for token in reply.tokens if token.text]
    answer = tokens(tokenizer, reply.text)
    if [tokenizer.decode([one]) for one in answer] != [token.text for token in known[: len(answer)]]:
        return Held(equal, said == example.answer.strip(), None, 0.0)
    ended = [end(tokenizer, example)] if reply.finish_reason == "stop" else []
    logprobs, gap = _read(model, prompt, [*answer, *ended])
    differences = [abs(one - token.logprob) for one, token in zip(logprobs[: len(answer)], known, strict=False)]
    return Held(equal, said == example.answer.strip(), differences, gap)


def _read(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> tuple[list[float], float]:
    """The trained model's log-probabilities of an answer, and by how much it preferred its own where the two part."""
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1].float()
    likely = logits.log_softmax(-1)
    ours = likely[range(len(answer)), list(answer)]
    gaps = (likely.max(-1).values - ours).tolist()
    return ours.tolist(), next((gap for gap in gaps if gap > 0), 0.0)
