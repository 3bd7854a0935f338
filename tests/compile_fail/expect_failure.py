#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""expect_failure.py BUILD_DIR SOURCE: passes where SOURCE, by its command in BUILD_DIR/compile_commands.json, does not
compile and the compiler's words match SOURCE's line `// expect: REGEX`."""
import json
import os
import re
import shlex
import subprocess
import sys

build, source = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    expected = re.findall(r"^// expect: (.*)$", file.read(), re.MULTILINE)
if len(expected) != 1:
    sys.exit(f"{source} needs exactly one line that begins with `// expect: `")

with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
    entries = [entry for entry in json.load(file)
               if os.path.normpath(entry["file"]) == os.path.normpath(source)]
if len(entries) != 1:
    sys.exit(f"{source} has {len(entries)} commands in {build}/compile_commands.json")
command = shlex.split(entries[0]["command"])
command[command.index("-o") + 1] = os.devnull
result = subprocess.run(command, cwd=entries[0]["directory"], stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, text=True)
if result.returncode == 0:
    sys.exit(f"{source} compiles, and should not")
if not re.search(expected[0], result.stdout):
    print(result.stdout)
    sys.exit(f"The words above do not match `{expected[0]}`")
