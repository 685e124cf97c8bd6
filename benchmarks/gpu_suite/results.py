"""What a section has done so far, in a file: a process that takes its place goes on behind the case it died of."""

import json
import pathlib

WRONG_ROWS = 4  # the exit status of a process that came to its end with rows that are not right
PATIENCE = 6  # how much longer everything may take in a dry run, on machines that are slower


class Results:
    """The file of a section: cases tried, rows made."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.content = json.loads(path.read_text()) if path.exists() else {"tried": [], "rows": [], "notes": []}

    def save(self) -> None:
        self.path.write_text(json.dumps(self.content, indent=1))

    def begin(self, name: str) -> None:
        self.content["tried"].append(name)
        self.save()

    def end(self, row: dict) -> None:
        self.content["rows"].append(row)
        self.save()

    def tried(self, name: str) -> bool:
        """Has it been tried? One that was and left no row cost its process the life."""
        if name not in self.content["tried"]:
            return False
        if all(row["case"] != name for row in self.content["rows"]):
            self.end({"case": name, "status": "died: the process ended or took too long, see the log"})
        return True
