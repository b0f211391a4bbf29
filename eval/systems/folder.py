"""A run's folder: settings, one line a case, transcripts, journals; safe to kill anywhere.

    config.json         what was asked for; a start with other settings is refused
    cases.jsonl         one line for each case as it ends
    transcripts.gz      the steps of each case, one gzip member a case
    journal/<n>.jsonl   the model calls of a case that has not ended
    metrics.json        the scores of the last ``tam score``

A case's transcript is written before its line, and the line names where it stands, so that what
a kill leaves without a line is cut off at the next start.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.systems.calls import Journal, append_line, whole_lines
from eval.systems.spending import Usage
from tam.errors import RunError
from tam.files import sha256_text, write_json

#: settings that may differ between two starts of one run
FREE = frozenset(
    {"concurrency", "max_cost", "max_tokens", "requests_per_minute", "cache", "retries"}
)


class RunFolder:
    """One run on disk. ``private`` makes its files readable by their owner only."""

    def __init__(self, path: Path, private: bool = False) -> None:
        self.path = path
        self.private = private
        self._mode = 0o600 if private else 0o644

    @property
    def cases_path(self) -> Path:
        return self.path / "cases.jsonl"

    @property
    def transcripts_path(self) -> Path:
        return self.path / "transcripts.gz"

    def prepare(self, config: Mapping[str, Any]) -> None:
        """Make the folder, or check that an old one was started with the same settings.

        Raises ``RunError`` that names the setting that differs.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700 if self.private else 0o777)
            (self.path / "journal").mkdir(exist_ok=True, mode=0o700 if self.private else 0o777)
            if self.private:
                self.path.chmod(0o700)
        except OSError as error:
            raise RunError(
                f"{self.path}: cannot make the run's folder ({error.strerror})"
            ) from error
        file = self.path / "config.json"
        if file.is_file():
            old = self.config()
            for name in sorted({*old, *config} - FREE):
                if old.get(name) != config.get(name):
                    raise RunError(
                        f"{self.path}: this run was started with {name} = {_short(old.get(name))}, "
                        f"not {_short(config.get(name))}; give another --out, or the same settings"
                    )
            return
        if self.cases_path.is_file():
            raise RunError(f"{self.path}: holds cases but no config.json; give another --out")
        write_json(file, dict(config))
        file.chmod(self._mode)

    def config(self) -> dict[str, Any]:
        """The settings of the run. Raises ``RunError`` when this is no run's folder."""
        file = self.path / "config.json"
        try:
            value = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise RunError(
                f"{self.path}: no run here (no config.json); give a run's folder"
            ) from error
        except ValueError as error:
            raise RunError(f"{file}: damaged ({error}); give another --out") from error
        if not isinstance(value, dict):
            raise RunError(f"{file}: damaged; give another --out")
        return value

    def records(self) -> dict[str, dict[str, Any]]:
        """The ended cases by id, the last line of each. A partial last line is cut off."""
        found: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(whole_lines(self.cases_path), start=1):
            try:
                record = json.loads(line)
                found[str(record["case_id"])] = record
            except (ValueError, KeyError, TypeError) as error:
                raise RunError(
                    f"{self.cases_path}:{number}: not a case's record; remove the line to have the "
                    f"case run again"
                ) from error
        return found

    def spent(self) -> Usage:
        """All that the run's ended cases have used, repeated ones included."""
        total = Usage()
        for line in whole_lines(self.cases_path):
            record = json.loads(line)
            paid = record.get("paid") or {}
            total = total + Usage(
                int(paid.get("input", 0)),
                int(paid.get("output", 0)),
                int(paid.get("cached_input", 0)),
                int(paid.get("calls", 0)),
            )
        return total

    def trim_transcripts(self) -> None:
        """Cut off what a kill left behind the last case that has a line."""
        if not self.transcripts_path.is_file():
            return
        end = 0
        for line in whole_lines(self.cases_path):
            place = json.loads(line).get("transcript")
            if place:
                end = max(end, int(place[0]) + int(place[1]))
        if self.transcripts_path.stat().st_size > end:
            with self.transcripts_path.open("r+b") as stream:
                stream.truncate(end)

    def add(self, record: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        """Write a case's transcript, then its line. One writer at a time."""
        text = json.dumps({"case_id": record["case_id"], "steps": steps}, ensure_ascii=False)
        member = gzip.compress((text + "\n").encode("utf-8", "surrogatepass"), mtime=0)
        handle = os.open(self.transcripts_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, self._mode)
        try:
            start = os.fstat(handle).st_size
            view = memoryview(member)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        record = {**record, "transcript": [start, len(member)]}
        append_line(
            self.cases_path, json.dumps(record, ensure_ascii=False, sort_keys=True), self._mode
        )

    def transcript(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The steps of a case. Raises ``RunError`` when the side file is damaged."""
        place = record.get("transcript")
        if not place:
            return []
        try:
            with self.transcripts_path.open("rb") as stream:
                stream.seek(int(place[0]))
                data = gzip.decompress(stream.read(int(place[1])))
            steps: list[dict[str, Any]] = json.loads(data)["steps"]
        except (OSError, ValueError, KeyError, EOFError, gzip.BadGzipFile) as error:
            raise RunError(
                f"{self.transcripts_path}: the transcript of case {record.get('case_id')} is "
                f"damaged ({type(error).__name__}); scores do not need it"
            ) from error
        return steps

    def transcripts(self) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Record and steps of each ended case."""
        for record in self.records().values():
            yield record, self.transcript(record)

    def journal(self, case_id: str) -> Journal:
        """The journal of a case. Its name holds no part of the id: ids can be anything."""
        return Journal(self.path / "journal" / f"{sha256_text(case_id)[:24]}.jsonl", self._mode)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
