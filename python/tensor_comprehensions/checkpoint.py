"""Checkpoints of tunings that consist of steps: what each step found, in a file that is replaced whole."""

import json
import os
from typing import List

from . import _core


class StageLog:
    """The findings of the steps so far. With a `file`, they are kept in it, and found again by the log of an equal `identity`; "" for
    none. Raises ResourceError for a file that is neither empty nor one of this `kind`, or that cannot be written."""

    def __init__(self, file: str, kind: str, identity: dict):
        self._file, self._kind = file, kind
        self._identity = json.loads(json.dumps(identity))
        self.entries: List[dict] = self._load()
        self._save()

    def add(self, entry: dict) -> None:
        self.entries.append(entry)
        self._save()

    def _load(self) -> List[dict]:
        if not self._file or not os.path.exists(self._file) or os.path.getsize(self._file) == 0:
            return []
        try:
            with open(self._file, encoding="utf-8") as file:
                found = json.load(file)
            entries = found["entries"] if found["kind"] == self._kind else None
        except (OSError, ValueError, KeyError, TypeError):
            entries = None
        if entries is None:
            raise _core.ResourceError(f"the checkpoint '{self._file}' is something else\nhelp: name a file that is empty or not there")
        return entries if found["identity"] == self._identity else []

    def _save(self) -> None:
        if not self._file:
            return
        text = json.dumps({"kind": self._kind, "identity": self._identity, "entries": self.entries})
        try:
            with open(f"{self._file}.new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{self._file}.new", self._file)
        except OSError as error:
            raise _core.ResourceError(f"the checkpoint '{self._file}' cannot be written: {error.strerror}") from error
