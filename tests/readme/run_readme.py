"""Runs the tour of the README as a reader would: writes its files, runs its commands in order in an empty folder, and fails at the first that fails.

usage: run_readme.py SOURCE_FOLDER KILN_PROGRAM
"""
import os
import re
import subprocess
import sys
import tempfile


def blocks(text):
    """Fenced blocks as (language, name, body); the name is the second word of the info string."""
    for match in re.finditer(r"^```(\w+)[ ]*(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match.group(1), match.group(2), match.group(3)


def main():
    source, program = sys.argv[1], sys.argv[2]
    with open(os.path.join(source, "README.md"), encoding="utf-8") as readme:
        parts = list(blocks(readme.read()))
    environment = dict(os.environ, KILN=source, PATH=os.path.dirname(program) + os.pathsep + os.environ["PATH"])
    environment.pop("KILN_DB", None)
    commands = 0
    with tempfile.TemporaryDirectory() as folder:
        script = ["set -euo pipefail"]
        for language, name, body in parts:
            if language == "sh" and name == "":
                for line in body.strip().splitlines():
                    script += ["echo '$ '" + repr(line), line]
                    commands += 1
            elif name and name != "setup":
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(body)
        if commands == 0:
            sys.exit("the README has no commands")
        code = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, stdin=subprocess.DEVNULL).returncode
    print(f"{commands} commands of the README, exit code {code}")
    sys.exit(code)


main()
