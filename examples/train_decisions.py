"""When to call, ask, decline or answer: TRL's three trainers on our own rows, a step each.

    python examples/train_decisions.py

Writes each kind of row as a ``datasets`` folder, loads it as anybody would, and hands it to SFTTrainer, DPOTrainer and
RewardTrainer as it is. The model is made on the spot and learns nothing in one step: what this shows is that the rows
fit. For a model of your own, replace ``make_tiny`` by ``from_pretrained`` and raise ``max_steps``.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads make shared cores several times slower

from datasets import load_from_disk
from transformers import LlamaForSequenceClassification
from trl import DPOConfig, DPOTrainer, RewardConfig, RewardTrainer, SFTConfig, SFTTrainer

from callgym.envs.when2call.starter import starter_tasks
from callgym.trainers.decision_data import decision_rows, export_decisions
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy

TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool.function | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>
{{ call.function | tojson }}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""A small chat template, as models that call tools bring along."""


def main(out: Path, rows: int) -> dict[str, float]:
    """Write the rows, train a step with each trainer, print and return the losses."""
    started = time.monotonic()
    for kind in ("sft", "preference"):
        print(export_decisions(kind=kind, out=out / kind, count=rows, format="dataset"))
    imitation, pairs = load_from_disk(str(out / "sft")), load_from_disk(str(out / "preference"))
    settings = {
        "output_dir": str(out / "checkpoints"),
        "max_steps": 1,
        "per_device_train_batch_size": 4,
        "max_length": 2_048,
        "use_cpu": True,
        "bf16": False,
        "activation_checkpointing": False,
        "logging_steps": 1,
        "disable_tqdm": True,
        "save_strategy": "no",
        "report_to": "none",
    }
    policy, tokenizer = make_tiny()
    # DPO comes second: its reference is the policy as it was taught to imitate.
    trainers: dict[str, Callable[[], Any]] = {
        "SFTTrainer": lambda: SFTTrainer(
            model=policy, args=SFTConfig(**settings), train_dataset=imitation, processing_class=tokenizer
        ),
        "DPOTrainer": lambda: DPOTrainer(
            model=policy,
            ref_model=copy.deepcopy(policy),  # by default TRL would load it from where the policy came from
            args=DPOConfig(**settings),
            train_dataset=pairs,
            processing_class=tokenizer,
        ),
        "RewardTrainer": lambda: RewardTrainer(
            model=with_head(policy),
            args=RewardConfig(**settings),
            train_dataset=pairs,
            processing_class=tokenizer,
        ),
    }
    losses = {name: float(make().train().training_loss) for name, make in trainers.items()}
    for name, loss in losses.items():
        print(f"{name}: loss {loss:.4f}")
    print(f"{time.monotonic() - started:.0f} s")
    return losses


def make_tiny() -> tuple[Any, Any]:
    """A small transformer and a tokenizer with a chat template."""
    rows = decision_rows(starter_tasks("test")[:100], "sft", form="text")
    texts = (row["prompt"] + row["completion"] for row in rows)
    policy, tokenizer = build_tiny_policy(texts, TinyPolicyConfig(hidden=64))
    tokenizer.chat_template = TEMPLATE
    return policy, tokenizer


def with_head(policy: Any) -> Any:
    """The policy's layers with a head of one number."""
    policy.config.num_labels = 1
    model = LlamaForSequenceClassification(policy.config)
    model.model.load_state_dict(policy.model.state_dict())
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A step of SFT, DPO and reward modelling.")
    parser.add_argument("--out", type=Path, default=Path("runs/decisions"), help="folder for the rows")
    parser.add_argument("--rows", type=int, default=64, help="rows of each kind")
    arguments = parser.parse_args()
    main(arguments.out, arguments.rows)
