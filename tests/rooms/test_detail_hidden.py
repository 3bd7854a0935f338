#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs, benchmarks, examples and tests of whole solvers use no name of include/fmm/detail.

    tests/rooms/test_detail_hidden.py SOURCE_DIR BUILD_DIR

A file with a word that is such a name, in itself or in a header beside it, is compiled, as the build would do it but
without code, with a copy of the library's headers in which every name that detail/ declares is another one. Whoever uses
such a name, by whichever namespace, does not compile.
"""
import glob
import json
import multiprocessing.pool
import os
import re
import shlex
import subprocess
import sys

USERS = ["apps", "perf/bench", "examples", "tests/integration"]
BESIDE = ["apps/common", "apps/fmm_forces", "perf/bench", "tests"]
DECLARATIONS = [r"(?:struct|class|enum class|concept)\s+(?:alignas\([^)]*\)\s*)?(\w+)", r"using\s+(\w+)\s*=",
                r"inline constexpr [\w:]+ (\w+)",
                r"(?:FMM_NOINLINE |inline |KOKKOS_\w+ |constexpr )*(?:[\w:<>,&*]+ )+[&*]?(\w+)\("]


def declared(root):
    """Names that the headers of detail/ declare in their namespace."""
    names = set()
    for header in glob.glob(os.path.join(root, "detail", "*.hpp")):
        with open(header, encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        for piece in re.split(r"\n(?=\S)", text):
            piece = re.sub(r"^(template\s*<[^{;]*?>\s*)+", "", piece)
            piece = re.sub(r"^requires [^{]*?(?=inline|using)", "", piece)
            for declaration in DECLARATIONS:
                found = re.match(declaration, piece)
                if found:
                    names.add(found.group(1))
                    break
    return names


def hide(root, names, to):
    """Copies the headers to a folder, each name with a suffix, but those of other libraries."""
    pattern = re.compile(r"(?<!std::)(?<!Kokkos::)(?<!Experimental::)\b(" + "|".join(sorted(names)) + r")\b")
    for folder, _, files in os.walk(root):
        into = os.path.join(to, os.path.relpath(folder, root))
        os.makedirs(into, exist_ok=True)
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                lines = file.readlines()
            with open(os.path.join(into, name), "w", encoding="utf-8") as file:
                file.writelines(line if line.startswith("#include") else pattern.sub(r"\1_of_detail", line)
                                for line in lines)


def has_word(path, pattern, source, seen):
    """Whether code of the file, or of a header beside it that it includes, has a word of the pattern."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    if pattern.search(re.sub(r"#include[^\n]*", "", text)):
        return True
    for name in re.findall(r'#include "(.*)"', text):
        for folder in [os.path.dirname(path)] + [os.path.join(source, room) for room in BESIDE]:
            header = os.path.join(folder, name)
            if os.path.exists(header) and header not in seen:
                seen.add(header)
                if has_word(header, pattern, source, seen):
                    return True
    return False


def commands(source, build, headers, names):
    """What compiles each user once, with the copied headers and without code."""
    pattern = re.compile(r"(?<!std::)(?<!Kokkos::)(?<![.>])\b(" + "|".join(sorted(names)) + r")\b")
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as json_file:
        entries = json.load(json_file)
    seen = set()
    if not any("/tests/integration/" in entry["file"] for entry in entries):
        sys.exit("compile_commands.json has no tests of solvers")
    for entry in entries:
        file = os.path.realpath(entry["file"])
        path = os.path.relpath(file, source)
        made = os.path.commonpath([file, build]) == build  # one of each kind stands for all
        key = re.sub(r"_\d+", "", os.path.basename(path)) if made else path
        where = os.path.relpath(file, build) if made else path
        if key in seen or not any(where.startswith(user + "/") for user in USERS):
            continue
        seen.add(key)
        if not has_word(file, pattern, source, set()):
            continue
        words = shlex.split(entry["command"])
        at = words.index("-o")
        words = words[:at] + words[at + 2:]
        yield key, entry["directory"], [words[0], "-fsyntax-only", "-w", "-I" + headers] + words[1:]


def main():
    source, build = (os.path.realpath(path) for path in sys.argv[1:])
    root = os.path.join(source, "include", "fmm")
    names = declared(root)
    if not {"for_range", "Buffer", "is_host_space_v", "HostThread", "reduce"} <= names:
        sys.exit("the declarations of detail/ are not found any more")
    headers = os.path.join(build, "without_detail")
    hide(root, names, os.path.join(headers, "fmm"))

    def compile_one(command):
        key, folder, words = command
        return key, subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)

    users = list(commands(source, build, headers, names))
    failed = False
    with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
        for key, run in pool.imap(compile_one, users):
            if run.returncode != 0:
                failed = True
                print(key + ":\n" + "\n".join(line for line in run.stderr.splitlines() if "error" in line))
    print(f"{len(users)} files with such words compiled, {len(names)} names hidden")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
