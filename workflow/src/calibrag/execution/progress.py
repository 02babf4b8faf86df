"""What the passes that are finished have cost so far, in words."""

from __future__ import annotations

from calibrag.trace import Trace


class Tally:
    """Counts over traces; ``str`` says them."""

    def __init__(self):
        self.errors = self.calls = self.cached = self.tokens = 0
        self.cost: float | None = None

    def add(self, trace: Trace) -> None:
        """Count a trace."""
        usage = trace.usage
        self.errors += trace.status == "error"
        self.calls += usage.model_calls
        self.cached += usage.cached_calls
        self.tokens += usage.tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost

    def __str__(self) -> str:
        cached = f" ({self.cached:,} from the cache)" if self.cached else ""
        cost = f", cost {self.cost:.4f}" if self.cost is not None else ""
        return f"{self.errors} failed, {self.calls:,} model calls{cached}, {self.tokens:,} tokens{cost}"
