"""Counters in Prometheus' text format; no label holds a name of a database, a client or a question."""

from __future__ import annotations

from collections import Counter
from typing import Final

from sqljury.types import Cost

BUCKETS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """What the server has done since it was started."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._buckets: Counter[float] = Counter()
        self._count, self._sum = 0, 0.0
        self._cost = Cost()

    def request(self, method: str, route: str, status: int) -> None:
        """Count a finished request; ``route`` is its pattern, not its path."""
        self._requests[method, route, status] += 1

    def asked(self, outcome: str, seconds: float, cost: Cost | None = None) -> None:
        """Count a question: ``answered`` or the code of its problem."""
        self._outcomes[outcome] += 1
        self._count += 1
        self._sum += seconds
        for bound in BUCKETS:
            self._buckets[bound] += seconds <= bound
        self._cost += cost or Cost()

    def text(self, *, running: int, waiting: int) -> str:
        """All of them, with the questions that are worked on and that wait now."""
        lines = ["# TYPE sqljury_http_requests_total counter"]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"sqljury_http_requests_total{{{labels}}} {count}")
        lines.append("# TYPE sqljury_questions_total counter")
        lines += [f'sqljury_questions_total{{outcome="{name}"}} {n}' for name, n in sorted(self._outcomes.items())]
        lines.append("# TYPE sqljury_question_seconds histogram")
        lines += [f'sqljury_question_seconds_bucket{{le="{bound}"}} {self._buckets[bound]}' for bound in BUCKETS]
        lines += [
            f'sqljury_question_seconds_bucket{{le="+Inf"}} {self._count}',
            f"sqljury_question_seconds_sum {self._sum:.6f}",
            f"sqljury_question_seconds_count {self._count}",
            "# TYPE sqljury_model_calls_total counter",
            f"sqljury_model_calls_total {self._cost.calls}",
            "# TYPE sqljury_model_tokens_total counter",
            f'sqljury_model_tokens_total{{kind="prompt"}} {self._cost.prompt_tokens}',
            f'sqljury_model_tokens_total{{kind="completion"}} {self._cost.completion_tokens}',
            "# TYPE sqljury_questions_running gauge",
            f"sqljury_questions_running {running}",
            "# TYPE sqljury_questions_waiting gauge",
            f"sqljury_questions_waiting {waiting}",
        ]
        return "\n".join(lines) + "\n"
