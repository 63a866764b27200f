import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { refuse } from "../../wording/refuse.ts";
import { checkFormatSchema, checkFunctionSchema } from "../schema/check-schema.ts";
import { shortened } from "../shape/inspection.ts";
import { recordIn, recordsIn } from "./checked-body.ts";

/** Names that the error text uses for tools that do not work at minimal effort. */
const NOT_AT_MINIMAL_EFFORT: ReadonlyMap<unknown, string> = new Map([
  ["web_search", "web_search"],
  ["web_search_2025_08_26", "web_search"],
  ["image_generation", "image_gen"],
]);

/**
 * Refuses a choice of tools that the request does not offer, and tools that do not work as requested. It is not
 * documented whether two tools may have the same name, or which models run which tool, so both are accepted.
 */
export function checkTools(body: JsonRecord, items: readonly JsonRecord[]): void {
  const offered = recordsIn(body.tools);
  // Items of the conversation can add tools to those of the body.
  const added = items.flatMap(({ type, tools }) =>
    type === "additional_tools" || type === "tool_search_output" ? recordsIn(tools) : [],
  );
  checkSchemas(offered, "tools");
  checkChoice(body.tool_choice, [...offered, ...added]);
  checkMinimalEffort(body, offered);
  checkSearch(offered);
}

/**
 * Checks the schemas of functions. A function without `strict` is strict only if its schema allows it, so the
 * rules for strict schemas apply to `strict: true` alone (guide on function calling).
 */
function checkSchemas(tools: readonly JsonRecord[], place: string): void {
  for (const [index, { type, name, parameters, strict, tools: inner }] of tools.entries()) {
    const path = `${place}[${index}]`;
    if (type === "namespace") checkSchemas(recordsIn(inner), `${path}.tools`);
    if (type !== "function") continue;
    const param = `${path}.parameters`;
    checkFunctionSchema({ name: String(name), parameters, isStrict: strict === true, param });
  }
}

/** Checks the schema of the output format. */
export function checkFormat(body: JsonRecord): void {
  const format = recordIn(recordIn(body.text).format);
  if (format.type === "json_schema") checkFormatSchema(format, "responses");
}

function checkChoice(choice: unknown, tools: readonly JsonRecord[]): void {
  if (choice === "required" && tools.length === 0) refuse("toolChoiceAlone", "tool_choice", { choice });
  if (!isRecord(choice)) return;
  const offered = new Set(tools.flatMap(keysOf));
  const isList = choice.type === "allowed_tools";
  for (const wanted of isList ? recordsIn(choice.tools) : [choice]) {
    if (offered.has(keyOf(wanted))) continue;
    // The API names tools in a list of allowed tools, and the type of a single choice.
    const shown = isList ? (wanted.name ?? wanted.server_label ?? wanted.type) : wanted.type;
    refuse("toolChoiceUnknown", "tool_choice", { choice: shortened(String(shown)) });
  }
}

/** Keys by which a choice can name a tool. */
function keysOf(tool: JsonRecord): readonly string[] {
  if (tool.type === "namespace") return recordsIn(tool.tools).map(keyOf);
  return tool.type === "mcp" ? [keyOf(tool), "mcp:"] : [keyOf(tool)];
}

function keyOf({ type, name, server_label: label }: JsonRecord): string {
  if (type === "function" || type === "custom") return `${type}:${String(name)}`;
  if (type === "mcp") return `mcp:${String(label ?? "")}`;
  // Some tools have several names, with versions.
  return String(type)
    .replace(/_\d{4}_\d{2}_\d{2}$/, "")
    .replace(/^computer_use(_preview)?$/, "computer");
}

function checkMinimalEffort(body: JsonRecord, tools: readonly JsonRecord[]): void {
  if (recordIn(body.reasoning).effort !== "minimal") return;
  const names = new Set(tools.flatMap(({ type }) => NOT_AT_MINIMAL_EFFORT.get(type) ?? []));
  if (names.size === 0) return;
  refuse("toolsUnsupportedAtEffort", "tools", { tools: [...names].sort().join(", ") });
}

/** A search that OpenAI runs needs tools to find. Namespaces and MCP servers can defer all of theirs. */
function checkSearch(tools: readonly JsonRecord[]): void {
  const isHosted = tools.some(({ type, execution }) => type === "tool_search" && execution !== "client");
  if (isHosted && !tools.some(isDeferred)) refuse("toolSearchEmpty", "tools");
}

const isDeferred = (tool: JsonRecord): boolean =>
  tool.defer_loading === true || (tool.type === "namespace" && recordsIn(tool.tools).some(isDeferred));
