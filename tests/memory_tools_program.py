"""Runs the memory tools of databricks-agentbricks as a model would call them.

The client is configured by its environment. Reads a JSON list of calls (tool, arguments) from
standard input and prints the list of what the tools said.
"""

from __future__ import annotations

import asyncio
import json
import sys

from agents.tool_context import ToolContext
from databricks_agentkit.openai import memory_tools


async def main(actor: str, store: str) -> None:
    """Call the tools in order."""
    tools = {tool.name: tool for tool in memory_tools(actor, store)}
    said = []
    for number, (name, arguments) in enumerate(json.load(sys.stdin)):
        text = json.dumps(arguments)
        context = ToolContext(
            context=None, tool_name=name, tool_call_id=f"call_{number}", tool_arguments=text
        )
        said.append(await tools[name].on_invoke_tool(context, text))
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
