import type { ApiMessage, CompactorEvent, Entry, Message, TranscriptPort, Turn } from "@longhaul/core";
import { findModel, LonghaulError } from "@longhaul/core";
import { CLEARED_RESULT_TEXT, withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { currentConversation } from "@longhaul/sessions";
import fc from "fast-check";
import { expect } from "vitest";
import { withoutTornWrites } from "../../packages/core/src/messages/atomic-write.ts";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";
import { contentWithoutThinking } from "../../packages/core/src/messages/without-thinking.ts";
import { rewindLoaded } from "../../packages/sessions/src/operations/undo-rewind.ts";
import { indexEntries } from "../../packages/sessions/src/transcript/entry-index.ts";
import { stepBack } from "../../packages/sessions/src/transcript/steps.ts";
import { type Compactor, createCompactor } from "../support/full-compactor.ts";

export type EngineStep =
  | { readonly do: "talk"; readonly size: number }
  | { readonly do: "whole" | "turn" | "expand" | "clear" | "idle" | "undo" | "redo" }
  | { readonly do: "from" | "upTo" | "snip" | "rewind"; readonly at: number };

export const engineStep: fc.Arbitrary<EngineStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("talk" as const), size: fc.nat(900) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("undo" as const, "redo" as const, "turn" as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("whole", "expand", "clear", "idle") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("from" as const, "upTo" as const, "snip" as const, "rewind" as const),
      at: fc.nat(12),
    }),
  },
);

/**
 * State before a step or an undo. It contains the sent messages, the steps that could be undone, and the
 * messages that were added later.
 */
interface Past {
  readonly before: readonly string[];
  readonly pasts: readonly Past[];
  readonly since: readonly ApiMessage[];
}

/**
 * State before a prompt. It contains the sent messages, the steps that could be undone, and the steps that
 * could be redone.
 */
interface Moment {
  readonly prompt: string;
  readonly before: readonly string[];
  readonly pasts: readonly Past[];
  readonly left: readonly Past[];
}

export interface EngineOptions {
  readonly form: "messages" | "entries";
  readonly modelName: string;
  readonly collapses: boolean;
}

const REFUSALS = ["not-enough-messages", "compaction-ineffective", "message-not-found", "nothing-to-clear"];
const IDLE_MS = 2 * 3_600_000;

/** A host with its conversation, and a simple model that predicts the requests. */
export class EngineLife {
  readonly lines: Entry[] = [];
  readonly events: CompactorEvent[] = [];
  readonly compactor: Compactor;
  messages: readonly Message[] = [];
  readonly #options: EngineOptions;
  readonly #ports = { now: () => new Date(++this.#now), newUuid: () => `u${++this.#count}` };
  #now = Date.UTC(2026, 0, 1);
  #count = 0;
  #pasts: readonly Past[] = [];
  #left: readonly Past[] = [];
  readonly #moments: Moment[] = [];

  constructor(options: EngineOptions) {
    this.#options = options;
    this.compactor = createCompactor({
      ...(options.collapses ? { collapse: { summarizer: "built-in" } } : {}),
      transcript: inMemory(this.lines),
      host: { onEvent: (event) => void this.events.push(event) },
      model: options.modelName,
      window: { tokens: 12_000 },
      settings: { environment: {} },
      ports: this.#ports,
    });
    this.#add([
      { role: "user", content: "the task" },
      { role: "user", content: "and a second word on it" },
    ]);
  }

  async take(step: EngineStep): Promise<void> {
    if (step.do === "talk") await this.#talk(step.size);
    if (step.do === "idle") this.#now += IDLE_MS;
    const before = await this.currentRequest();
    if (step.do === "rewind") await this.#rewind(step.at);
    else if (step.do === "undo" || step.do === "redo") await this.#undoOrRedo(before, step.do === "redo");
    else await this.#change(before, step);
    await this.currentRequest();
  }

  /** Returns the request for a caller that never compacts or collapses. Stale results may be cleared. */
  async currentRequest(): Promise<readonly string[]> {
    const { request, messages } = await this.compactor.before(this.messages, { caller: "compact" });
    this.messages = messages;
    // Waits, because the engine writes in the background.
    await new Promise((resolve) => setImmediate(resolve));
    const ids = emptiedIn(request.messages);
    const emptied = (past: Past): Past => ({
      ...past,
      since: past.since.map((one) => withEmptied(one, ids)),
    });
    this.#pasts = this.#pasts.map(emptied);
    this.#left = this.#left.map(emptied);
    return shown(request.messages);
  }

  async #undoOrRedo(left: readonly string[], isRedo: boolean): Promise<void> {
    const found = isRedo ? this.#left.at(-1) : this.#pasts.at(-1);
    const going = isRedo ? this.compactor.redo(this.messages) : this.compactor.undo(this.messages);
    if (found === undefined) {
      await expect(going).rejects.toMatchObject({ code: isRedo ? "nothing-to-redo" : "nothing-to-undo" });
      expect(await this.currentRequest()).toEqual(left);
      return;
    }
    const { request, messages } = await going;
    this.messages = messages;
    expect(shown(request.messages)).toEqual([...found.before, ...shown(found.since.map(this.#asCarried))]);
    this.#left = isRedo
      ? this.#left.slice(0, -1)
      : [...this.#left, { before: left, pasts: this.#pasts, since: [] }];
    this.#pasts = found.pasts.map((past) => ({ ...past, since: [...past.since, ...found.since] }));
  }

  /** Rewinds to any earlier prompt, even one in an abandoned conversation. */
  async #rewind(at: number): Promise<void> {
    const moment = this.#moments[at % Math.max(1, this.#moments.length)];
    if (moment === undefined || this.#options.form === "messages") return;
    const { conversation, mark } = rewindLoaded(this.#read(), moment.prompt, this.#ports);
    expect(shown(flatten(conversation))).toEqual(moment.before);
    this.lines.push(mark);
    const again = this.#read();
    expect(again.leafUuid).toBe(mark.uuid);
    const shownAgain = withClearedResults(again.conversation, again.clearedToolUseIds);
    expect(shown(flatten(shownAgain))).toEqual(moment.before);
    this.messages = [...conversation, mark];
    this.#pasts = moment.pasts;
    this.#left = moment.left;
    this.#prompt(moment.before, `instead ${++this.#count}`);
  }

  /** Reads the session like a process that resumes it. */
  #read() {
    const entries = withoutTornWrites(JSON.parse(JSON.stringify(this.lines)) as Entry[]);
    const { entries: conversation, ...rest } = currentConversation(entries);
    return { path: "/sessions/one.jsonl", entries, conversation, ...rest };
  }

  readonly #asCarried = (message: ApiMessage): ApiMessage =>
    findModel(this.#options.modelName).bindsThinking
      ? { ...message, content: contentWithoutThinking(message.content) }
      : message;

  async #change(before: readonly string[], step: EngineStep): Promise<void> {
    const steps = this.#steps;
    const turn = await this.#carryOut(step).catch((error: unknown) => {
      if (!(error instanceof LonghaulError)) throw error;
      expect(REFUSALS).toContain(error.code);
      return undefined;
    });
    this.messages = turn?.messages ?? this.messages;
    if (this.#steps === steps) return;
    this.#pasts = [...this.#pasts, { before, pasts: this.#pasts, since: [] }];
    this.#left = [];
  }

  get #steps(): number {
    const types = new Set(["compacted", "spans-committed", "spans-expanded", "snipped"]);
    return this.events.filter(({ type }) => types.has(type)).length;
  }

  #carryOut(step: EngineStep): Promise<Turn> {
    const { compactor, messages } = this;
    switch (step.do) {
      case "whole":
        return compactor.compact(messages, { keepRecentTokens: 500, force: true });
      case "from":
        return compactor.compact(messages, { from: step.at % messages.length, force: true });
      case "upTo":
        return compactor.compact(messages, { upTo: step.at % messages.length, force: true });
      case "snip": {
        const from = step.at % messages.length;
        return compactor.snip(messages, { from, to: Math.min(messages.length - 1, from + 2) });
      }
      case "expand":
        return compactor.expand(messages);
      case "clear":
        return compactor.clear(messages);
      default:
        return compactor.before(messages);
    }
  }

  async #talk(size: number): Promise<void> {
    const id = `call${++this.#count}`;
    const call = { type: "tool_use", id, name: "Read", input: { file_path: "/f" } } as const;
    const thought = { type: "thinking", thinking: `thought ${id}`, signature: `sig ${id}` } as const;
    const said: readonly ApiMessage[] = [
      { role: "assistant", content: [thought, call] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: `word${id} `.repeat(size) }],
      },
      { role: "assistant", content: [{ type: "text", text: `read ${id}` }] },
    ];
    this.#say(said);
    this.#prompt(await this.currentRequest(), `go on after ${id}`);
  }

  #prompt(before: readonly string[], content: string): void {
    const [pasts, left] = [this.#pasts, this.#left];
    this.#say([{ role: "user", content }]);
    const prompt = (this.messages.at(-1) as Partial<Entry>).uuid ?? "";
    this.#moments.push({ prompt, before, pasts, left });
  }

  #say(said: readonly ApiMessage[]): void {
    this.#add(said);
    const more = (past: Past): Past => ({ ...past, since: [...past.since, ...said] });
    this.#pasts = this.#pasts.map(more);
    this.#left = this.#left.map(more);
  }

  #add(said: readonly ApiMessage[]): void {
    for (const message of said) {
      const added = this.#options.form === "messages" ? message : this.#asEntry(message);
      this.messages = [...this.messages, added];
    }
  }

  #asEntry(message: ApiMessage): Entry {
    const last = this.messages.at(-1) as Entry | undefined;
    const timestamp = new Date(++this.#now).toISOString();
    const link = { uuid: `e${++this.#count}`, parentUuid: last?.uuid ?? null, timestamp };
    const id = message.role === "assistant" ? { id: `msg${this.#count}` } : {};
    return { ...link, type: message.role, message: { ...id, ...message } } as unknown as Entry;
  }
}

/** Creates a transcript in memory that behaves like a file. */
function inMemory(lines: Entry[]): TranscriptPort {
  return {
    path: "/sessions/one.jsonl",
    has: (id) => lines.some(({ uuid }) => uuid === id),
    append: async (entries) => void lines.push(...(JSON.parse(JSON.stringify(entries)) as Entry[])),
    read: async (uuids) => lines.filter(({ uuid }) => uuid !== undefined && uuids.includes(uuid)),
    stepBack: async (choice) => stepBack(indexEntries(withoutTornWrites(lines)), choice),
  };
}

/** Returns the content that the model sees, independent of its split into blocks. */
export const shown = (messages: readonly ApiMessage[]): readonly string[] =>
  messages.map(({ role, content }) =>
    JSON.stringify([role, contentBlocks(content)]).replaceAll(/,"cache_control":\{[^}]*\}/g, ""),
  );

const resultsIn = (messages: readonly ApiMessage[]) =>
  messages.flatMap(({ content }) => contentBlocks(content)).filter((block) => block.type === "tool_result");

const emptiedIn = (messages: readonly ApiMessage[]): ReadonlySet<string> =>
  new Set(
    resultsIn(messages).flatMap((block) =>
      block.content === CLEARED_RESULT_TEXT ? [block.tool_use_id] : [],
    ),
  );

function withEmptied(message: ApiMessage, ids: ReadonlySet<string>): ApiMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((block) =>
    block.type === "tool_result" && ids.has(block.tool_use_id)
      ? { ...block, content: CLEARED_RESULT_TEXT }
      : block,
  );
  return { ...message, content };
}
