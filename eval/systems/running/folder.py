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

import contextlib
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from eval.domains.model import DOMAINS
from eval.systems.model.budget import Usage
from eval.systems.model.calls import Journal
from tam.errors import RunError
from tam.files import sha256_text, write_json
from tam.records import append, append_record, cut_partial_line, from_json, json_bytes, whole_lines


class RunFolder:
    """One run on disk. ``private`` makes its files readable by their owner only."""

    def __init__(self, path: Path, private: bool = False) -> None:
        self.path = path
        self.private = private
        self._mode = 0o600 if private else 0o644
        #: how often each case has ended; a case that failed can be run again
        self._ended: Counter[str] = Counter()

    @property
    def cases_path(self) -> Path:
        return self.path / "cases.jsonl"

    @property
    def transcripts_path(self) -> Path:
        return self.path / "transcripts.gz"

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The folder, made where it is not there, for this process alone; what a kill left of a
        case that it cut short is put right.

        Raises ``RunError`` when another process is at the run.
        """
        for folder in (self.path, self.path / "journal"):
            folder.mkdir(parents=True, exist_ok=True)
            if self.private:
                folder.chmod(0o700)
        try:
            with FileLock(self.path / ".lock", timeout=0, mode=self._mode):
                self._mend()
                yield
        except Timeout as error:
            raise RunError(
                f"{self.path}: another process is at this run; wait for it, or give another --out"
            ) from error

    def _mend(self) -> None:
        cut_partial_line(self.cases_path)
        end = 0
        self._ended.clear()
        for record in self._lines():
            self._ended[str(record["case_id"])] += 1
            start, size = record["transcript"]
            end = max(end, int(start) + int(size))
        if self.transcripts_path.is_file() and self.transcripts_path.stat().st_size > end:
            os.truncate(self.transcripts_path, end)
        for case_id, times in self._ended.items():
            for number in range(times):
                self._journal_path(case_id, number).unlink(missing_ok=True)

    def prepare(self, config: Mapping[str, Any]) -> None:
        """Write the settings, or check that the run was started with the same ones.

        Settings under which nothing was asked yet are replaced: the first try may have been a slip
        of the pen. Raises ``RunError`` that names the setting that differs.
        """
        file = self.path / "config.json"
        begun = self.cases_path.is_file() or any((self.path / "journal").iterdir())
        if begun and not file.is_file():
            raise RunError(f"{self.path}: holds cases but no config.json; give another --out")
        if begun:
            self._check_same(config)
            return
        write_json(file, dict(config))
        file.chmod(self._mode)

    def _check_same(self, config: Mapping[str, Any]) -> None:
        old = self.config()
        for name in sorted({*old, *config}):
            if old.get(name) != config.get(name):
                raise RunError(
                    f"{self.path}: this run was started with {name} = {_short(old.get(name))}, "
                    f"not {_short(config.get(name))}; give another --out, or the same settings"
                )

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
        if not isinstance(value, dict) or not isinstance(value.get("domain"), str):
            raise RunError(f"{file}: damaged, it names no domain; give another --out")
        if value["domain"] not in DOMAINS:
            raise RunError(
                f"{file}: a run over {value['domain']} cases, a domain that is not known here; "
                f"install its package (known: {', '.join(DOMAINS)})"
            )
        return value

    def _lines(self) -> Iterator[dict[str, Any]]:
        """Every line of the cases' file, repeated cases included. Raises ``RunError``."""
        for number, line in enumerate(whole_lines(self.cases_path), start=1):
            try:
                record = json.loads(line)
                record["case_id"], record["status"], record["transcript"]
            except (ValueError, KeyError, TypeError) as error:
                raise RunError(
                    f"{self.cases_path}:{number}: not a case's record; remove the line to have the "
                    f"case run again"
                ) from error
            yield record

    def records(self) -> dict[str, dict[str, Any]]:
        """The ended cases by id, the last line of each."""
        return {str(record["case_id"]): record for record in self._lines()}

    def spent(self) -> Usage:
        """All that was paid for: cases that were run again and cases that a kill cut short too."""
        total = Usage()
        for record in self._lines():
            total = total + from_json(Usage, record.get("paid") or {})
        for file in sorted((self.path / "journal").glob("*.jsonl")):
            total = total + Journal(file, self._mode).usage
        return total

    def add(self, record: dict[str, Any], steps: list[dict[str, Any]]) -> None:
        """Write a case's transcript, then its line; its journal has served. One writer at a time."""
        member = gzip.compress(json_bytes({"case_id": record["case_id"], "steps": steps}), mtime=0)
        start = append(self.transcripts_path, member, self._mode)
        line = {**record, "transcript": [start, len(member)]}
        append_record(self.cases_path, line, self._mode)
        case_id = str(record["case_id"])
        self._ended[case_id] += 1
        self._journal_path(case_id, self._ended[case_id] - 1).unlink(missing_ok=True)

    def transcript(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The steps of a case. Raises ``RunError`` when the side file is damaged."""
        start, size = record["transcript"]
        try:
            with self.transcripts_path.open("rb") as stream:
                stream.seek(int(start))
                data = gzip.decompress(stream.read(int(size)))
            steps: list[dict[str, Any]] = json.loads(data)["steps"]
        except (OSError, ValueError, KeyError, EOFError, zlib.error) as error:
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
        """The journal of a case's next end."""
        return Journal(self._journal_path(case_id, self._ended[case_id]), self._mode)

    def _journal_path(self, case_id: str, number: int) -> Path:
        """Its name holds no part of the id: ids can be anything."""
        return self.path / "journal" / f"{sha256_text(case_id)[:24]}-{number}.jsonl"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
