import type { ToolUseBlock } from "../message.ts";
import { isRecord, type JsonRecord, parseJson } from "../untrusted.ts";
import { type Draft, type DraftMessage, type Part, withBlock } from "./draft.ts";
import { MAX_TOOL_NAME_LENGTH, TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "./limits.ts";
import type { CheckSettings, Rule } from "./rule.ts";

const NAMELESS_ID = "toolu_unnamed";
const NAMELESS_TOOL = "unknown_tool";

/**
 * Every tool use gets an id that the API takes and that no other has, and the results follow. A result answers
 * the newest open call under its id before it, in the order of the calls within a message.
 */
export const toolIds: Rule = {
  reports: ["tool-use-id-invalid", "tool-use-id-duplicate"],
  looksAt: "request",
  apply(draft) {
    if (hasSoundIds(draft.messages)) return;
    renameResults(draft, renameUses(draft, collectIds(draft)));
  },
  // An id that closed messages use ties the tail to them, see `toolPairs`.
  remember: () => ({ allowsTail: ({ messages }) => hasSoundIds(messages) }),
};

/** One call under an id; several when the id was used again. */
interface Call {
  readonly id: string;
  readonly messageIndex: number;
  readonly block: ToolUseBlock;
  answered: boolean;
}

function hasSoundIds(messages: readonly DraftMessage[]): boolean {
  const seen = new Set<string>();
  for (const { role, parts } of messages) {
    for (const { block } of role === "assistant" ? parts : []) {
      if (block.type !== "tool_use") continue;
      if (!TOOL_USE_ID_PATTERN.test(givenId(block.id)) || seen.has(block.id)) return false;
      seen.add(block.id);
    }
  }
  return true;
}

function givenId(id: unknown): string {
  return typeof id === "string" ? id : "";
}

function collectIds(draft: Draft): Set<string> {
  const ids = new Set<string>();
  for (const message of draft.messages) {
    for (const { block } of message.parts) {
      if (block.type === "tool_use") ids.add(givenId(block.id));
      else if (block.type === "tool_result") ids.add(givenId(block.tool_use_id));
    }
  }
  return ids;
}

function renameUses(draft: Draft, taken: Set<string>): Map<string, Call[]> {
  const callsByGivenId = new Map<string, Call[]>();
  const nextNumber = new Map<string, number>();
  draft.rewriteParts((part, _, messageIndex) => {
    const { block, origin } = part;
    if (block.type !== "tool_use") return part;
    const given = givenId(block.id);
    const calls = callsByGivenId.get(given) ?? [];
    callsByGivenId.set(given, calls);
    const isValid = TOOL_USE_ID_PATTERN.test(given);
    if (isValid && calls.length === 0) {
      calls.push({ id: given, messageIndex, block, answered: false });
      return part;
    }
    if (isWrittenTwice(calls.at(-1), block, messageIndex)) {
      const text = "The same tool use stands in this message twice; the second one was left out.";
      draft.report("tool-use-id-duplicate", "dropped", origin, text, { toolUseId: given });
      return undefined;
    }
    const id = freeId(given, taken, nextNumber);
    calls.push({ id, messageIndex, block, answered: false });
    reportRename(draft, part, isValid, given, id);
    return withBlock(part, { ...block, id });
  });
  return callsByGivenId;
}

function reportRename(draft: Draft, part: Part, isValid: boolean, given: string, id: string): void {
  draft.report(
    isValid ? "tool-use-id-duplicate" : "tool-use-id-invalid",
    "rewritten",
    part.origin,
    isValid
      ? "Another tool use before this one has the same id; this one and its result got a new id."
      : "The id of this tool use is missing or holds characters that the API refuses.",
    { toolUseId: given, newId: id },
  );
}

function isWrittenTwice(previous: Call | undefined, block: ToolUseBlock, messageIndex: number): boolean {
  if (previous === undefined || previous.messageIndex !== messageIndex) return false;
  return previous.block === block || JSON.stringify(previous.block) === JSON.stringify(block);
}

function freeId(given: string, taken: Set<string>, nextNumber: Map<string, number>): string {
  const base = given.replace(/[^a-zA-Z0-9_-]/g, "_") || NAMELESS_ID;
  let number = nextNumber.get(base) ?? 1;
  let id = number === 1 ? base : `${base}_${number}`;
  while (taken.has(id)) id = `${base}_${++number}`;
  nextNumber.set(base, number);
  taken.add(id);
  return id;
}

function renameResults(draft: Draft, callsByGivenId: ReadonlyMap<string, Call[]>): void {
  const queues = new Map([...callsByGivenId].map(([given, calls]) => [given, new CallQueue(calls)]));
  draft.rewriteParts((part, _, messageIndex) => {
    const { block } = part;
    if (block.type !== "tool_result") return part;
    const given = givenId(block.tool_use_id);
    const id = queues.get(given)?.answerFrom(messageIndex);
    return id === undefined || id === block.tool_use_id
      ? part
      : withBlock(part, { ...block, tool_use_id: id });
  });
}

/** Hands out the calls under one id to the results in the order of the conversation, each call once. */
class CallQueue {
  readonly #calls: readonly Call[];
  /** Open calls of messages already passed, newest message last, and in reverse within a message. */
  readonly #open: Call[] = [];
  #passed = 0;
  #ahead = 0;
  #lastAnswered: string | undefined;

  constructor(calls: readonly Call[]) {
    this.#calls = calls;
  }

  /** A result that stands before its call takes the next one to come; a surplus one repeats the last. */
  answerFrom(messageIndex: number): string | undefined {
    this.#pass(messageIndex);
    const call = this.#open.pop() ?? this.#nextAhead();
    if (call === undefined) return this.#lastAnswered;
    call.answered = true;
    this.#lastAnswered = call.id;
    return call.id;
  }

  #nextAhead(): Call | undefined {
    this.#ahead = Math.max(this.#ahead, this.#passed);
    return this.#calls[this.#ahead++];
  }

  #pass(messageIndex: number): void {
    let groupStart = this.#open.length;
    let groupMessage = -1;
    for (; this.#passed < this.#calls.length; this.#passed++) {
      const call = this.#calls[this.#passed];
      if (call === undefined || call.messageIndex >= messageIndex) break;
      if (call.messageIndex !== groupMessage) {
        this.#reverseFrom(groupStart);
        groupStart = this.#open.length;
        groupMessage = call.messageIndex;
      }
      if (!call.answered) this.#open.push(call);
    }
    this.#reverseFrom(groupStart);
  }

  #reverseFrom(start: number): void {
    if (this.#open.length - start < 2) return;
    for (const call of this.#open.splice(start).reverse()) this.#open.push(call);
  }
}

export const toolNames: Rule = {
  reports: ["tool-name-invalid"],
  looksAt: "messages",
  apply(draft) {
    draft.rewriteParts((part) => {
      const { block, origin } = part;
      if (block.type !== "tool_use" || isToolName(block.name)) return part;
      const message = "The tool's name is missing or holds characters that the API refuses.";
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

/** Inputs are objects, and their fields have the shape that the tool's schema gives them. */
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
        const message = "The input of a tool use must be an object.";
        draft.report("tool-input-not-object", "rewritten", origin, message);
      }
      const schema = schemas.get(block.name);
      const input = schema === undefined ? whole : withParsedFields(whole, schema);
      if (input !== whole) {
        const message = "A field of a tool input is JSON in a string, and the tool's schema wants the value.";
        const detail = { tool: block.name };
        draft.report("tool-input-schema", "rewritten", origin, message, detail);
      }
      return input === block.input ? part : withBlock(part, { ...block, input });
    });
  },
};

/** The tools come from a host or a file, so each of them may be anything. */
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

/** Models sometimes write the whole input as a JSON string. What is no object at all is kept in one. */
function objectInput(input: unknown): JsonRecord {
  if (isRecord(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  const parsed = typeof input === "string" ? parseJson(input) : undefined;
  return isRecord(parsed) ? parsed : { value: input };
}

/**
 * Models also write a single object or list as a JSON string. Only a string that parses to the type that the schema
 * names changes. The very input where nothing does.
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

/** Reported once, at the first tool block. */
export const toolsDefined: Rule = {
  reports: ["tools-missing"],
  looksAt: "request",
  apply(draft, settings) {
    const part = needsTools(draft, settings) ? firstToolPart(draft) : undefined;
    if (part === undefined) return;
    const message = "The request holds tool blocks but defines no tools.";
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
