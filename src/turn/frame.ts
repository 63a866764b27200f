import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import { requireJson } from "../conversation/given-messages.ts";
import type { ToolSchema } from "../conversation/message.ts";
import { RECALL_TOOL_NAME } from "../conversation/tool-kinds.ts";
import { isRecord, stringField } from "../conversation/untrusted.ts";
import { isSameJson } from "./compare-messages.ts";

/** The parts of the host's request that decide how messages are checked. */
export interface CheckedFrame {
  readonly thinking?: { readonly type: string };
  readonly tools?: readonly ToolSchema[];
}

/** The host's request around the messages: system prompt, tools, thinking. It stays until the host passes another. */
export class Frame {
  readonly #measure: (frame: RequestFrame) => number;
  #current: RequestFrame | undefined;
  /** The provider said that thinking is enabled. The host does not pass it in `request`. */
  #isThinkingEnabled = false;
  #measured: { readonly frame: RequestFrame; readonly tokens: number } | undefined;

  /** `measure`: system prompt and tools in tokens, by the estimate usual for the model. */
  constructor(initial: RequestFrame | undefined, measure: (frame: RequestFrame) => number) {
    this.#current = initial;
    this.#measure = measure;
  }

  /** Undefined if the host did not say what goes with the messages. */
  get current(): RequestFrame | undefined {
    return this.#current;
  }

  /** Estimated tokens of system prompt and tools; 0 if they are not known. */
  get tokens(): number {
    const frame = this.#current;
    if (frame === undefined) return 0;
    if (this.#measured?.frame !== frame) this.#measured = { frame, tokens: this.#measure(frame) };
    return this.#measured.tokens;
  }

  get checked(): CheckedFrame {
    const checked = checkedPartOf(this.#current);
    const isAssumed = this.#isThinkingEnabled && checked.thinking === undefined;
    return isAssumed ? { ...checked, thinking: { type: "enabled" } } : checked;
  }

  /** The name of the agent's tool for searching what was summarized; undefined if its requests have none. */
  get recallTool(): string | undefined {
    const tools: readonly unknown[] = Array.isArray(this.#current?.tools) ? this.#current.tools : [];
    const isThere = tools.some((tool) => stringField(tool, "name") === RECALL_TOOL_NAME);
    return isThere ? RECALL_TOOL_NAME : undefined;
  }

  /** The host passes another request. `isCheckedAnew`: messages may be checked otherwise with it. */
  replace(request: RequestFrame | undefined): { readonly isNew: boolean; readonly isCheckedAnew: boolean } {
    if (request === undefined || isSameJson(this.#current, request)) return UNCHANGED;
    requireJson(request, "request");
    const before = this.checked;
    this.#current = request;
    return { isNew: true, isCheckedAnew: !isSameJson(before, this.checked) };
  }

  /** Assumes thinking of type `enabled` from now on. False if that changes nothing. */
  assumeThinking(): boolean {
    if (this.#isThinkingEnabled || checkedPartOf(this.#current).thinking !== undefined) return false;
    this.#isThinkingEnabled = true;
    return true;
  }
}

const UNCHANGED = { isNew: false, isCheckedAnew: false } as const;

/** Names and schemas of the tools, and the kind of thinking. Cache marks on tools are the host's own. */
function checkedPartOf({ thinking, tools }: RequestFrame = {}): CheckedFrame {
  const named = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return {
    ...(isRecord(thinking) ? { thinking: { type: String(thinking.type) } } : {}),
    ...(named.length === 0
      ? {}
      : { tools: named.map(({ name, input_schema }) => ({ name: String(name), input_schema })) }),
  };
}
