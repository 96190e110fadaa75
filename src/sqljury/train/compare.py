"""Whether an exported adapter says in llama.cpp what it says where it was trained.

Both write an answer to the same prompts, greedily. Then the log-probabilities that llama.cpp gave its own tokens are
held against those that the trained model gives the same tokens. llama.cpp rounds what it multiplies quantised weights
with, and the trained model does not, so they differ a little without any adapter too; ``TOLERANCE`` is above that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqljury.llm.base import Completion, Sampling
from sqljury.llm.local import LocalModel
from sqljury.train import gguf_base, lora
from sqljury.train.encode import prompt_text, tokens
from sqljury.train.examples import Example

TOLERANCE: Final = 0.1
"""The mean difference of a token's log-probability, in nats, up to which the runtimes agree."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``prompts``: how many answers were ``equal``, and how many are the set's own (``learnt``, in llama.cpp).

    ``differences`` are absolute ones of ``tokens`` log-probabilities in nats: their mean, 95th percentile, greatest.
    ``unread`` answers were cut into other tokens by the two runtimes and are not among them.
    """

    prompts: int
    equal: int
    learnt: int
    tokens: int
    mean: float
    high: float
    most: float
    unread: int

    @property
    def ok(self) -> bool:
        """Whether the adapter may be used: its log-probabilities are those of the training, up to ``TOLERANCE``.

        Answers may differ all the same where two tokens are nearly as likely, as in long ones of a short training.
        """
        return self.tokens > 0 and self.mean <= TOLERANCE


def compare(
    run: Path, adapter: Path | None, examples: Sequence[Example], *, served: str = "", longest: int = 200
) -> Agreement:
    """Hold the training in ``run`` against its exported ``adapter``; None compares the base with itself.

    ``served`` is the GGUF model that the adapter will run on, the base itself if it is one; answers end after
    ``longest`` tokens. Raises ``WeightsError`` as ``gguf_base.load``.
    """
    settings = lora.asked(run)
    theirs = _served(served or settings["base"], adapter, examples, longest)
    base = gguf_base.load(settings["base"])
    model = _adapted(base.model, run / lora.ADAPTER) if adapter else base.model
    model.eval()
    differences: list[float] = []
    equal = learnt = unread = 0
    for example, reply in zip(examples, theirs, strict=True):
        prompt = tokens(base.tokenizer, prompt_text(base.tokenizer, example.messages))
        ours = _written(model, base.tokenizer, prompt, longest)
        equal += ours.strip() == reply.text.strip()
        learnt += reply.text.strip() == example.answer.strip()
        found = _differences(model, base.tokenizer, prompt, reply)
        unread += found is None
        differences += found or []
    return _agreement(len(examples), equal, learnt, unread, sorted(differences))


def _served(name: str, adapter: Path | None, examples: Sequence[Example], longest: int) -> list[Completion]:
    """The greedy answers of llama.cpp; its weights are freed before the others are loaded."""
    llama = LocalModel(name, slots=1, context=8192, adapter=str(adapter or ""))
    sampling = Sampling(max_tokens=longest, top_logprobs=1)
    try:
        return [llama.complete(example.messages, sampling).completions[0] for example in examples]
    finally:
        llama.close()


def _agreement(prompts: int, equal: int, learnt: int, unread: int, differences: Sequence[float]) -> Agreement:
    count = len(differences)
    return Agreement(
        prompts,
        equal,
        learnt,
        count,
        mean=sum(differences) / count if count else 0.0,
        high=differences[int(0.95 * (count - 1))] if count else 0.0,
        most=differences[-1] if count else 0.0,
        unread=unread,
    )


def _adapted(model: Any, adapter: Path) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(adapter), local_files_only=True)


def _written(model: Any, tokenizer: Any, prompt: Sequence[int], longest: int) -> str:
    """The greedy answer of the trained model."""
    import torch

    given = torch.tensor([list(prompt)])
    with torch.inference_mode():
        whole = model.generate(
            input_ids=given, attention_mask=torch.ones_like(given), max_new_tokens=longest, do_sample=False
        )
    return str(tokenizer.decode(whole[0, len(prompt) :], skip_special_tokens=True))


def _differences(model: Any, tokenizer: Any, prompt: Sequence[int], reply: Completion) -> list[float] | None:
    """How far the trained model's log-probabilities of the reply's tokens are off; None for other tokens."""
    import torch

    said = [token for token in reply.tokens if token.text]
    answer = tokens(tokenizer, reply.text)
    if len(said) < len(answer):
        return None
    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1].float()
    ours = logits.log_softmax(-1)[range(len(answer)), answer].tolist()
    if [tokenizer.decode([one]) for one in answer] != [token.text for token in said[: len(answer)]]:
        return None
    return [abs(one - token.logprob) for one, token in zip(ours, said, strict=False)]
