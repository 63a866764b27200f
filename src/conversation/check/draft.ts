import type { ApiMessage, ApiRequest, ContentBlock } from "../message.ts";
import type { Finding, RepairAction, RuleName } from "./finding.ts";
import { type SchemasByName, schemasByName } from "./rules/tool-inputs.ts";

/** Where a block stood in the input; `index` is undefined for a whole message. */
export interface Origin {
  readonly message: number;
  readonly index?: number;
}

/** A block on its way through the rules. The block is never changed, only replaced by another. */
export interface Part {
  readonly block: ContentBlock;
  readonly origin: Origin;
}

export interface DraftMessage {
  role: ApiMessage["role"];
  parts: readonly Part[];
  readonly origin: Origin;
  /** The message as given; its other fields are carried over. */
  readonly source: ApiMessage | undefined;
  /** The blocks of `source` when it can leave as it came; undefined when it is malformed or made by us. */
  readonly sourceBlocks: readonly ContentBlock[] | undefined;
}

export interface Fault {
  readonly rule: RuleName;
  readonly at: Origin | string;
  readonly message: string;
  readonly action: RepairAction;
  readonly detail?: Finding["detail"];
}

export interface DraftOptions {
  readonly pathOf?: (origin: Origin) => string;
  /** Schemas of the tools, where the request of the draft does not hold the tools themselves. */
  readonly schemas?: SchemasByName;
}

/**
 * The working copy that the rules rewrite one after the other. Lists are replaced, blocks and messages of
 * the input are shared, and every block remembers where it stood in the input.
 */
export class Draft {
  messages: readonly DraftMessage[] = [];
  request: ApiRequest;
  readonly findings: Finding[] = [];
  readonly schemas: SchemasByName;
  /** The messages before this draft end within a tool turn that begins with thinking. */
  followsThinking = false;
  readonly #pathOf: (origin: Origin) => string;

  constructor(request: ApiRequest, { pathOf = messagePath, schemas }: DraftOptions = {}) {
    this.request = request;
    this.schemas = schemas ?? schemasByName(request.tools);
    this.#pathOf = pathOf;
  }

  report(fault: Fault): void {
    const { rule, at, message, action, detail = {} } = fault;
    this.findings.push({
      rule,
      path: typeof at === "string" ? at : this.#pathOf(at),
      message,
      action,
      detail,
    });
  }
}

function messagePath({ message, index }: Origin): string {
  return index === undefined ? `messages.${message}` : `messages.${message}.content.${index}`;
}

export function entryPath({ message, index }: Origin): string {
  return index === undefined ? `entries.${message}` : `entries.${message}.message.content.${index}`;
}

/** A message that no input had: it takes the place of the one it was made for. */
export function addedMessage(role: ApiMessage["role"], parts: readonly Part[], origin: Origin): DraftMessage {
  return { role, parts, origin: { message: origin.message }, source: undefined, sourceBlocks: undefined };
}

export function textPart(text: string, origin: Origin): Part {
  return { block: { type: "text", text }, origin };
}

/** The request that results; the very request that was given when no message of it changed. */
export function finishDraft(draft: Draft): ApiRequest {
  const given = draft.request.messages;
  const messages = draft.messages.map(finishMessage);
  const isSame = messages.length === given?.length && messages.every((message, at) => message === given[at]);
  return isSame ? draft.request : { ...draft.request, messages };
}

export function finishMessage(message: DraftMessage): ApiMessage {
  const { source, sourceBlocks, role, parts } = message;
  const hasSameContent =
    source !== undefined &&
    sourceBlocks?.length === parts.length &&
    parts.every((part, at) => part.block === sourceBlocks[at]);
  if (!hasSameContent) return { ...source, role, content: parts.map((part) => part.block) };
  return source.role === role ? source : { ...source, role };
}
