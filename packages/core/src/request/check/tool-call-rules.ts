import type { ContentBlock, ToolUseBlock } from "../../messages/message.ts";
import { isRecord, type JsonRecord, parseJson, stringField } from "../../messages/untrusted.ts";
import { MAX_TOOL_NAME_LENGTH, TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "./limits.ts";
import {
  type CheckSettings,
  type Draft,
  type DraftMessage,
  type Part,
  type Rule,
  withBlock,
} from "./rule.ts";

const NAMELESS_ID = "toolu_unnamed";
const NAMELESS_TOOL = "unknown_tool";

/**
 * Gives every tool use a valid and unique id, and updates its results. If several calls have the id of a
 * result, the result belongs to the newest earlier message with such an open call. If that message has
 * several such calls, the results follow the order of the calls.
 */
export const toolIds: Rule = {
  reports: ["tool-use-id-invalid", "tool-use-id-duplicate"],
  looksAt: "request",
  apply(draft) {
    if (!hasValidIds(draft.messages)) renameResults(draft, renameUses(draft));
  },
  linkIdOf: toolIdOf,
  remember: () => ({ allowsTail: ({ messages }) => hasValidIds(messages) }),
};

/** Returns the id that links a call with its result. All ids that are not strings count as equal. */
function toolIdOf(block: ContentBlock): string | undefined {
  if (block.type === "tool_use") return stringField(block, "id") ?? "";
  return block.type === "tool_result" ? (stringField(block, "tool_use_id") ?? "") : undefined;
}

function hasValidIds(messages: readonly DraftMessage[]): boolean {
  const seen = new Set<string>();
  for (const { role, parts } of messages) {
    for (const { block } of role === "assistant" ? parts : []) {
      if (block.type !== "tool_use") continue;
      if (!TOOL_USE_ID_PATTERN.test(toolIdOf(block) ?? "") || seen.has(block.id)) return false;
      seen.add(block.id);
    }
  }
  return true;
}

/** One call with an id. A reused id has several calls. */
interface Call {
  readonly id: string;
  readonly messageIndex: number;
  readonly block: ToolUseBlock;
}

function renameUses(draft: Draft): ReadonlyMap<string, readonly Call[]> {
  const newIds = new NewIds(draft.messages);
  const callsByGivenId = new Map<string, Call[]>();
  draft.rewriteParts((part, _, messageIndex) => {
    const { block, origin } = part;
    if (block.type !== "tool_use") return part;
    const given = toolIdOf(block) ?? "";
    const calls = callsByGivenId.get(given) ?? [];
    callsByGivenId.set(given, calls);
    const isValid = TOOL_USE_ID_PATTERN.test(given);
    if (isValid && calls.length === 0) {
      calls.push({ id: given, messageIndex, block });
      return part;
    }
    if (isDuplicate(calls.at(-1), block, messageIndex)) {
      const text = "This message contains the same tool use twice. The repair removes the second one.";
      draft.report("tool-use-id-duplicate", "dropped", origin, text, { toolUseId: given });
      return undefined;
    }
    const id = newIds.from(given);
    calls.push({ id, messageIndex, block });
    const rule = isValid ? "tool-use-id-duplicate" : "tool-use-id-invalid";
    const text = isValid
      ? "An earlier tool use has the same id. The repair gives this one and its result a new id."
      : "The id of this tool use is missing or contains characters that the API refuses. The repair gives it a new id.";
    draft.report(rule, "rewritten", origin, text, { toolUseId: given, newId: id });
    return withBlock(part, { ...block, id });
  });
  return callsByGivenId;
}

function isDuplicate(previous: Call | undefined, block: ToolUseBlock, messageIndex: number): boolean {
  if (previous === undefined || previous.messageIndex !== messageIndex) return false;
  return previous.block === block || JSON.stringify(previous.block) === JSON.stringify(block);
}

/** Generates valid ids that no block of these messages has. */
class NewIds {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  constructor(messages: readonly DraftMessage[]) {
    for (const { parts } of messages) for (const { block } of parts) this.#taken.add(toolIdOf(block) ?? "");
  }

  from(given: string): string {
    const base = given.replace(/[^a-zA-Z0-9_-]/g, "_") || NAMELESS_ID;
    let number = this.#numbers.get(base) ?? 1;
    let id = number === 1 ? base : `${base}_${number}`;
    while (this.#taken.has(id)) id = `${base}_${++number}`;
    this.#numbers.set(base, number);
    this.#taken.add(id);
    return id;
  }
}

function renameResults(draft: Draft, callsByGivenId: ReadonlyMap<string, readonly Call[]>): void {
  const queues = new Map([...callsByGivenId].map(([given, calls]) => [given, new CallQueue(calls)]));
  draft.rewriteParts((part, _, messageIndex) => {
    const { block } = part;
    if (block.type !== "tool_result") return part;
    const id = queues.get(toolIdOf(block) ?? "")?.answerFrom(messageIndex);
    return id === undefined || id === block.tool_use_id
      ? part
      : withBlock(part, { ...block, tool_use_id: id });
  });
}

/**
 * Assigns the calls of one id to the results of that id, in conversation order. Each call is assigned once.
 */
class CallQueue {
  /** Calls of later messages, the next one last. */
  readonly #ahead: Call[];
  /**
   * Open calls of earlier messages. The calls of the newest message are last. The calls of each message are
   * in reverse order.
   */
  readonly #open: Call[] = [];
  #lastAnswered: string | undefined;

  constructor(calls: readonly Call[]) {
    this.#ahead = calls.toReversed();
  }

  /**
   * Finds the call for a result. If the result comes before its call, returns the next later call. If there
   * are more results than calls, returns the call of the previous result.
   */
  answerFrom(messageIndex: number): string | undefined {
    this.#pass(messageIndex);
    this.#lastAnswered = (this.#open.pop() ?? this.#ahead.pop())?.id ?? this.#lastAnswered;
    return this.#lastAnswered;
  }

  #pass(messageIndex: number): void {
    for (let next = this.#ahead.at(-1); next !== undefined; next = this.#ahead.at(-1)) {
      if (next.messageIndex >= messageIndex) return;
      const { messageIndex: passed } = next;
      const first = this.#ahead.findLastIndex((call) => call.messageIndex !== passed) + 1;
      for (const call of this.#ahead.splice(first)) this.#open.push(call);
    }
  }
}

export const toolNames: Rule = {
  reports: ["tool-name-invalid"],
  looksAt: "messages",
  apply(draft) {
    draft.rewriteParts((part) => {
      const { block, origin } = part;
      if (block.type !== "tool_use" || isToolName(block.name)) return part;
      const message =
        "The name of the tool is missing, too long, or contains characters that the API refuses. The repair changes it.";
      draft.report("tool-name-invalid", "rewritten", origin, message);
      return withBlock(part, { ...block, name: toolNameFrom(block.name) });
    });
  },
};

function isToolName(name: unknown): boolean {
  return typeof name === "string" && TOOL_NAME_PATTERN.test(name);
}

function toolNameFrom(name: unknown): string {
  if (typeof name !== "string" || name === "") return NAMELESS_TOOL;
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_TOOL_NAME_LENGTH);
}

/** Inputs must be objects, and their fields must have the types of the tool's schema. */
export const toolInputs: Rule = {
  reports: ["tool-input-not-object", "tool-input-schema"],
  looksAt: "messages",
  apply(draft) {
    const schemas = draft.schemas ?? schemasByName(draft.request.tools);
    draft.rewriteParts((part) => {
      const { block, origin } = part;
      if (block.type !== "tool_use") return part;
      const whole = objectInput(block.input);
      if (whole !== block.input) {
        const message = "The input of a tool use must be an object. The repair turns it into one.";
        draft.report("tool-input-not-object", "rewritten", origin, message);
      }
      const schema = schemas.get(block.name);
      const input = schema === undefined ? whole : withParsedFields(whole, schema);
      if (input !== whole) {
        const message =
          "A field of a tool input is a JSON string, but the tool's schema requires the value itself. The repair parses it.";
        const detail = { tool: block.name };
        draft.report("tool-input-schema", "rewritten", origin, message, detail);
      }
      return input === block.input ? part : withBlock(part, { ...block, input });
    });
  },
};

/** Maps tool names to input schemas. The tools are untrusted: they come from a host or a file. */
export function schemasByName(tools: readonly unknown[] | undefined): ReadonlyMap<string, JsonRecord> {
  const schemas = new Map<string, JsonRecord>();
  if (!Array.isArray(tools)) return schemas;
  for (const tool of tools) {
    if (isRecord(tool) && typeof tool.name === "string" && isRecord(tool.input_schema)) {
      schemas.set(tool.name, tool.input_schema);
    }
  }
  return schemas;
}

/** Parses an input that the model wrote as a JSON string. Wraps a value that is not an object. */
function objectInput(input: unknown): JsonRecord {
  if (isRecord(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  const parsed = typeof input === "string" ? parseJson(input) : undefined;
  return isRecord(parsed) ? parsed : { value: input };
}

/**
 * Parses fields that the model wrote as JSON strings. Changes only strings that parse to the type in the
 * schema. Returns the same input if nothing changes.
 */
function withParsedFields(input: JsonRecord, schema: JsonRecord): JsonRecord {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const parsed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== "string" || !Object.hasOwn(properties, name)) continue;
    const field = properties[name];
    const wanted = isRecord(field) ? field.type : undefined;
    const candidate = wanted === "object" || wanted === "array" ? parseJson(value) : undefined;
    const fits = wanted === "array" ? Array.isArray(candidate) : isRecord(candidate);
    if (fits) parsed[name] = candidate;
  }
  return Object.keys(parsed).length === 0 ? input : { ...input, ...parsed };
}

/**
 * Some models refuse tool blocks in a request without tools. The rule reports this once, at the first tool
 * block.
 */
export const toolsDefined: Rule = {
  reports: ["tools-missing"],
  looksAt: "request",
  apply(draft, settings) {
    const part = needsTools(draft, settings) ? firstToolPart(draft) : undefined;
    if (part === undefined) return;
    const message = "The request contains tool blocks but defines no tools.";
    draft.report("tools-missing", "reported", part.origin, message);
  },
  remember: (checked, settings) => {
    const isReported = checked.findings.some(({ rule }) => rule === "tools-missing");
    const isAccepted = isReported || !needsTools(checked, settings);
    return { allowsTail: (tail) => isAccepted || firstToolPart(tail) === undefined };
  },
};

const needsTools = ({ request }: Draft, { requireTools }: CheckSettings): boolean =>
  requireTools && (request.tools?.length ?? 0) === 0;

function firstToolPart({ messages }: Draft): Part | undefined {
  for (const { parts } of messages) {
    const part = parts.find(({ block }) => block.type === "tool_use" || block.type === "tool_result");
    if (part !== undefined) return part;
  }
  return undefined;
}
