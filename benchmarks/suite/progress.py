"""Says what is running: a bar on a terminal, plain lines elsewhere."""

import sys
import time


class Progress:
    """Progress over a known number of steps."""

    def __init__(self, total: int, stream=sys.stderr):
        self._total, self._stream, self._done = total, stream, 0
        self._start = time.monotonic()
        self._terminal = stream.isatty()

    def step(self, name: str) -> None:
        """A step begins."""
        elapsed = time.monotonic() - self._start
        left = elapsed / self._done * (self._total - self._done) if self._done else 0
        if self._terminal:
            filled = 30 * self._done // max(1, self._total)
            bar = "#" * filled + "." * (30 - filled)
            self._stream.write(f"\r\033[K[{bar}] {self._done}/{self._total}  {left:4.0f} s left  {name}")
        else:
            self._stream.write(f"{self._done + 1}/{self._total} {elapsed:.0f} s {name}\n")
        self._stream.flush()
        self._done += 1

    def line(self, text: str) -> None:
        """A line that stays."""
        self._stream.write(("\r\033[K" if self._terminal else "") + text + "\n")
        self._stream.flush()

    def end(self) -> None:
        if self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()
