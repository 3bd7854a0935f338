# SPDX-License-Identifier: BSD-3-Clause
"""Runs of programs whose results are kept in a JSON file, so that an experiment that was interrupted
goes on where it was."""
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time


class OutOfTime(Exception):
    """The experiment's time is over; what was measured is in its file."""


class Failed(Exception):
    """A run that ended without a result, and why."""


class Runs:
    """The file of an experiment: {"experiment", "runs": {command line: result}, "results": ...}.

    `again`: lines that are in the file are run once more. `seconds`: when the whole shall end, or
    None. `limit`: seconds that a run may take. `pretend(words)`: makes a result in the place of a
    run, which is only printed. Threads may call `run` at once.
    """

    def __init__(self, path, experiment, again=False, seconds=None, limit=None, pretend=None):
        self.path, self.again, self.limit, self.pretend = path, again, limit, pretend
        self.end = time.monotonic() + seconds if seconds else None
        self.fresh = set()
        self.changing = threading.Lock()  # data and file
        self.data = {"experiment": experiment, "runs": {}}
        if not pretend and os.path.exists(path):
            self.data = load(path)
            if self.data.get("experiment") != experiment:
                sys.exit(f"{path} is not a file of the experiment {experiment}: move it away")

    def save(self):
        if self.pretend:
            return
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        part = self.path + ".part"
        with open(part, "w", encoding="utf-8") as file:
            file.write(text_of(self.data))
        os.replace(part, self.path)

    def run(self, program, words, flag, environment=None):
        """What the program writes to the file that its option `flag` names. Raises Failed."""
        line = shlex.join([os.path.basename(program), *words])
        if environment:
            line = " ".join(f"{name}={value}" for name, value in environment.items()) + " " + line
        known = self.data["runs"]
        if line not in known or (self.again and line not in self.fresh):
            print(f"  {line}", flush=True)
            result = self.pretend(words) if self.pretend else self.start([program, *words], flag, environment)
            with self.changing:
                known[line] = result
                self.fresh.add(line)
                self.save()
        result = known[line]
        if isinstance(result, dict) and "failed" in result:
            raise Failed(result["failed"])
        return result

    def start(self, command, flag, environment):
        left = self.end - time.monotonic() if self.end else float("inf")
        if left <= 0:
            raise OutOfTime
        limit = min(left, self.limit or float("inf"))
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            command = [*command, flag.format(out)] if "{}" in flag else [*command, flag, out]
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, errors="replace",
                                      env={**os.environ, **(environment or {})},
                                      timeout=None if limit == float("inf") else limit)
            except subprocess.TimeoutExpired:
                if limit == left:
                    raise OutOfTime from None
                print(f"    longer than {limit:.0f} s", flush=True)
                return {"failed": f"longer than {limit:.0f} s"}
            except OSError as error:
                sys.exit(f"{command[0]} cannot be run: {error}")
            if done.returncode == 2:  # wrong arguments: a mistake in the experiment itself
                sys.exit(f"{shlex.join(command)}\n{done.stderr.strip()}")
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
                print(f"    {reason}", flush=True)
                return {"failed": reason}
            try:
                return read(out)
            except (OSError, ValueError):
                return {"failed": "it wrote no report"}


def text_of(data):
    """A dictionary as JSON, a line for each entry of what is in it. Written after every run: indented as well it would
    take three times as long."""
    return "{" + ",\n".join(f"{json.dumps(key)}: {in_lines(value)}" for key, value in data.items()) + "}\n"


def in_lines(value):
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in value.items()) + "\n}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def report_of(command):
    """The one entry that a run of fmm_forces reports; ends with the program's words if it fails."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run([*command, "--report", report.name], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}\n{done.stderr}")
        return read(report.name)[0]


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load(path):
    """The same for a file that the user names."""
    try:
        return read(path)
    except (OSError, ValueError) as error:
        sys.exit(f"{path} cannot be read: {error}")
