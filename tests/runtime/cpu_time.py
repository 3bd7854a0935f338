#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cpu_time.py FOLDER COMMAND...: runs a compiler's command and notes its processor time in FOLDER, in a file with the
name of the object that it makes."""
import os
import resource
import subprocess
import sys

folder, command = sys.argv[1], sys.argv[2:]
code = subprocess.run(command).returncode
if code == 0 and "-o" in command:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.makedirs(folder, exist_ok=True)
    name = os.path.basename(command[command.index("-o") + 1])
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.2f}\n")
sys.exit(code)
