"""The training loop here against a plain ``trl`` trainer: same weights, same examples, same batches and steps.

    python benchmarks/train_throughput.py generator.jsonl --base-model smollm2-135m --max-steps 20

Plain means ``trl``'s own ``SFTTrainer`` on conversations (prompt and completion), which it tokenises itself. Rank,
modules, precision and gradient checkpointing are the same on both sides. They take turns, ours, plain, plain, ours,
each with weights loaded anew, after a step of warm-up that is not timed. A line of JSON a turn goes to --out: tokens
(padding not counted), seconds of the steps, tokens per second, seconds of making the trainer ready, and the last loss.
At the end the best of each and their ratio are printed. ``--load-in-4bit`` measures QLoRA so, on CUDA with a folder.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury.train import examples, gguf_base, lora
from sqljury.train.examples import Encoded, TrainingExample, encode

Maker = Callable[[gguf_base.Base, Sequence[TrainingExample], Sequence[Encoded], Path, lora.Settings], Any]


def ours(
    base: gguf_base.Base, _: Sequence[TrainingExample], encoded: Sequence[Encoded], out: Path, settings: lora.Settings
) -> Any:
    """The trainer of ``sqljury train``."""
    return lora._trainer(base, encoded, [], out, settings, lambda _: None)


def plain(
    base: gguf_base.Base, known: Sequence[TrainingExample], _: Sequence[Encoded], out: Path, settings: lora.Settings
) -> Any:
    """``trl``'s trainer as its documentation has it, with the same parameters."""
    import torch
    from peft import LoraConfig
    from transformers import PrinterCallback, set_seed
    from trl import SFTConfig, SFTTrainer

    from datasets import Dataset

    cuda = torch.cuda.is_available()
    set_seed(settings.seed)
    trainer = SFTTrainer(
        model=base.model,
        processing_class=base.tokenizer,
        args=SFTConfig(
            output_dir=str(out),
            per_device_train_batch_size=settings.batch_size,
            gradient_accumulation_steps=settings.gradient_accumulation_steps,
            max_steps=settings.max_steps,
            learning_rate=settings.learning_rate,
            max_length=settings.max_length,
            packing=settings.packing,
            bf16=cuda,
            use_cpu=not cuda,
            gradient_checkpointing=settings.gradient_checkpointing,
            seed=settings.seed,
            logging_steps=1,
            save_steps=settings.max_steps,  # one checkpoint, at the end, on both sides
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([conversation(example) for example in known]),
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=settings.lora_r,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules=list(lora.MODULES["all-linear"]),
        ),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def conversation(example: TrainingExample) -> dict[str, Any]:
    """An example in the form that ``trl`` tokenises itself, with the loss on the completion."""
    prompt = [{"role": role, "content": content} for role, content in example.messages]
    return {"prompt": prompt, "completion": [{"role": "assistant", "content": example.answer}]}


def turn(make: Maker, known: Sequence[TrainingExample], settings: lora.Settings) -> dict[str, Any]:
    """One training from fresh weights; ``known`` are examples that fit."""
    import torch

    base = gguf_base.load(settings.base_model, half=torch.cuda.is_available(), load_in_4bit=settings.load_in_4bit)
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        encoded = [encode(base.tokenizer, example) for example in known]
        trainer = make(base, known, encoded, Path(place), settings)
        ready = time.perf_counter()
        trainer.train()
        ended = time.perf_counter()
    logged, steps = trainer.state.log_history, trainer.state.global_step
    tokens = int(max(entry.get("num_tokens", 0) for entry in logged))
    del base, trainer  # one turn's weights on the device at a time
    gc.collect()
    torch.cuda.empty_cache()
    return {
        "trainer": make.__name__,
        "steps": steps,
        "tokens": tokens,
        "seconds": round(ended - ready, 2),
        "tokens_per_second": round(tokens / (ended - ready), 1),
        "seconds_before": round(ready - started, 2),
        "loss": next((entry["loss"] for entry in reversed(logged) if "loss" in entry), None),
    }


def fitting(file: Path, settings: lora.Settings) -> list[TrainingExample]:
    """The examples of a set that are not too long, so that neither side cuts or leaves out any."""
    tokenizer = gguf_base.load(settings.base_model).tokenizer
    return [one for one in examples.read(file) if len(encode(tokenizer, one).ids) <= settings.max_length]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="a set of `sqljury train data`")
    parser.add_argument("--base-model", default="smollm2-135m")
    parser.add_argument("--max-steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=2)
    parser.add_argument("--max-length", type=int, default=1024)
    parser.add_argument("--packing", action="store_true")
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument("--load-in-4bit", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/train_throughput.jsonl"))
    given = vars(parser.parse_args())
    file, out = given.pop("set"), given.pop("out")
    settings = lora.Settings("generator", held_out=0.0, eval_steps=given["max_steps"], **given)
    known = fitting(file, settings)
    out.parent.mkdir(parents=True, exist_ok=True)
    turn(ours, known, replace(settings, max_steps=1))
    best: dict[str, float] = {}
    for make in (ours, plain, plain, ours):
        line = {**turn(make, known, settings), "examples": len(known), **given}
        print(json.dumps(line), flush=True)
        with out.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        best[line["trainer"]] = max(best.get(line["trainer"], 0.0), line["tokens_per_second"])
    print(f"ours {best['ours']:.1f}, plain {best['plain']:.1f} tokens a second: {best['ours'] / best['plain']:.2f} x")


if __name__ == "__main__":
    main()
