"""A frozen model and its adapter, which learn from prefix trees."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from sqljury.train import activations, attention
from sqljury.train.adapter import Adapter
from sqljury.train.loss import HeadLoss, Targets, head_loss
from sqljury.train.tree import TreeSequence


class TreeModel:
    """A model of ``transformers`` that attends by trees and keeps few activations."""

    def __init__(self, model: Any, adapter: Adapter, checkpointed: int = 0, temperature: float = 1.0) -> None:
        """Change ``model``, whose activations of the first ``checkpointed`` layers are computed again.

        Its probabilities are those at ``temperature``, at which the answers that it learns from were drawn.
        """
        self.model = model
        self.adapter = adapter
        self._temperature = temperature
        attention.use(model)
        activations.economise(model)
        for layer in model.get_decoder().layers[:checkpointed]:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
        model.train()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self._head.weight.device
        return device

    def learn(self, tree: TreeSequence, scale: float, pull: float = 0.0) -> HeadLoss:
        """Add the gradients of ``scale`` times the tree's loss to those of the adapter, and return that loss.

        ``pull`` times the divergence KL(base || adapted) belongs to the loss; it takes a forward pass more.
        """
        base = None
        if pull:
            with torch.no_grad(), self.adapter.disabled():
                base = self._hidden(tree)
        hidden = self._hidden(tree)
        loss = head_loss(self._head, hidden.detach(), self._targets(tree, scale), base, pull)
        hidden.backward(loss.gradient)
        return loss

    def measure(self, tree: TreeSequence) -> HeadLoss:
        """The loss of a tree, without dropout and gradients."""
        self.model.eval()
        with torch.no_grad():
            loss = head_loss(self._head, self._hidden(tree), self._targets(tree, 1.0))
        self.model.train()
        return loss

    @property
    def _head(self) -> Any:
        return self.model.get_output_embeddings()

    def _hidden(self, tree: TreeSequence) -> torch.Tensor:
        """(predictions, width): hidden states of the rows that predict, divided by the temperature as logits are."""
        ids, positions = (torch.tensor([row], device=self.device) for row in (tree.ids, tree.positions))
        visible = None if self.device.type == "cpu" else attention.mask(tree, self.device)
        decoder = self.model.get_decoder()
        output = decoder(input_ids=ids, position_ids=positions, use_cache=False, tree=tree, visible=visible)
        selected: torch.Tensor = output.last_hidden_state[
            0, torch.tensor(tree.rows, dtype=torch.long, device=self.device)
        ]
        return selected / self._temperature

    def _targets(self, tree: TreeSequence, scale: float) -> Targets:
        weights = torch.tensor(tree.weights, device=self.device) * scale
        return Targets(torch.tensor(tree.labels, device=self.device), weights)
