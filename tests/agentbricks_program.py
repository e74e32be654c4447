"""Runs commands of `agentbricks` one after the other, since starting it takes seconds.

The client is configured by its environment. Each line of standard input is a JSON list of
arguments; each line of standard output says what that command did.
"""

from __future__ import annotations

import json
import sys

from click.testing import CliRunner
from databricks_agentbricks.cli.app import agentbricks


def main() -> None:
    """Run commands until there are no more."""
    runner = CliRunner()
    for line in sys.stdin:
        done = runner.invoke(agentbricks, json.loads(line))
        said = {"code": done.exit_code, "stdout": done.stdout, "stderr": done.stderr}
        print(json.dumps(said), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
