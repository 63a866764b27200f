import type { ContentBlock } from "../../conversation/message.ts";
import { asList, field, isRecord, type JsonRecord, stringField } from "../../conversation/untrusted.ts";
import { parsedInput } from "../call-input.ts";
import type { ModelEvent } from "../port.ts";

/** One block of a reply while it comes. */
export interface BlockReader {
  /** What of it came with its beginning. */
  start(): readonly ModelEvent[];
  delta(delta: unknown): readonly ModelEvent[];
  /** Undefined for a block that holds nothing: sent back, an empty text would be refused. */
  finish(): ContentBlock | undefined;
}

export function readBlock(begun: JsonRecord): BlockReader {
  switch (begun.type) {
    case "text":
      return textReader(begun);
    case "thinking":
      return thinkingReader(begun);
    case "tool_use":
      return callReader(begun, true);
    case "server_tool_use":
    case "mcp_tool_use":
      return callReader(begun, false);
    default:
      return wholeReader(begun);
  }
}

function textReader(begun: JsonRecord): BlockReader {
  let text = stringField(begun, "text") ?? "";
  let citations = asList(begun.citations);
  return {
    start: () => pieces("text", text),
    delta: (delta) => {
      if (field(delta, "type") === "citations_delta") citations = [...citations, field(delta, "citation")];
      const piece = stringField(delta, "text") ?? "";
      text += piece;
      return pieces("text", piece);
    },
    finish: () => {
      if (text === "") return undefined;
      return { ...begun, type: "text", text, ...(citations.length === 0 ? {} : { citations }) };
    },
  };
}

function thinkingReader(begun: JsonRecord): BlockReader {
  let thinking = stringField(begun, "thinking") ?? "";
  let signature = stringField(begun, "signature") ?? "";
  return {
    start: () => pieces("thinking", thinking),
    delta: (delta) => {
      signature = stringField(delta, "signature") ?? signature;
      const piece = stringField(delta, "thinking") ?? "";
      thinking += piece;
      return pieces("thinking", piece);
    },
    finish: () => ({ ...begun, type: "thinking", thinking, signature }),
  };
}

/** `isOurs`: the caller carries the call out. Calls that the provider carries out come as blocks alone. */
function callReader(begun: JsonRecord, isOurs: boolean): BlockReader {
  const id = stringField(begun, "id") ?? "";
  const name = stringField(begun, "name") ?? "";
  const whole = isRecord(begun.input) && Object.keys(begun.input).length > 0 ? begun.input : undefined;
  let json = "";
  const inputEvents = (piece: string): readonly ModelEvent[] =>
    isOurs && piece !== "" ? [{ type: "tool-call-input", id, json: piece }] : [];
  return {
    start: () => {
      const begin: readonly ModelEvent[] = isOurs ? [{ type: "tool-call-start", id, name }] : [];
      return whole === undefined ? begin : [...begin, ...inputEvents(JSON.stringify(whole))];
    },
    delta: (delta) => {
      const piece = stringField(delta, "partial_json") ?? "";
      json += piece;
      return whole === undefined ? inputEvents(piece) : [];
    },
    finish: () => ({ ...begun, input: whole ?? parsedInput(json) }) as unknown as ContentBlock,
  };
}

/**
 * Results of server tools and kinds that we do not know come whole. The text of a summary written at the
 * threshold comes in one delta that holds all of it; written on demand, it is in the beginning already.
 */
function wholeReader(begun: JsonRecord): BlockReader {
  let block = begun;
  return {
    start: () => [],
    delta: (delta) => {
      if (field(delta, "type") === "compaction_delta" && isRecord(delta)) {
        const { type: _, ...fields } = delta;
        block = { ...block, ...fields };
      }
      return [];
    },
    finish: () => block as unknown as ContentBlock,
  };
}

const pieces = (type: "text" | "thinking", text: string): readonly ModelEvent[] =>
  text === "" ? [] : [{ type, text }];
