import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../../exchange.ts";
import { refuse } from "../../wording/refuse.ts";
import { isForced, recordField, recordsField } from "./readers.ts";

export function checkTools(body: JsonRecord, model: SimulatedModel): void {
  const tools = recordsField(body, "tools");
  const names = new Set<unknown>();
  for (const { name } of tools) {
    if (name !== undefined && names.has(name)) refuse("toolNamesRepeated");
    names.add(name);
  }
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true)) refuse("allToolsDeferred");
  checkToolChoice(body, model, names);
}

function checkToolChoice(body: JsonRecord, model: SimulatedModel, names: ReadonlySet<unknown>): void {
  const choice = recordField(body, "tool_choice");
  if (choice === undefined) return;
  if (isForced(choice) && !model.features.forcedTools) refuse("forcedTool");
  const hasTools = recordsField(body, "tools").length > 0 || recordsField(body, "mcp_servers").length > 0;
  if (!hasTools && choice.type !== "none") refuse("choiceWithoutTools");
  if (choice.type === "tool" && !names.has(choice.name)) {
    refuse("chosenToolUnknown", { name: String(choice.name) });
  }
}
