import type { ApiMessage, ContentBlock, Entry, Turn } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import { ESTIMATORS, measureRequest } from "@longhaul/core/measure";
import { expect } from "vitest";
import { withoutTornWrites } from "../../packages/core/src/messages/atomic-write.ts";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";
import { indexEntries, withoutRepeatedLines } from "../../packages/sessions/src/transcript/entry-index.ts";
import { stepBack } from "../../packages/sessions/src/transcript/steps.ts";
import { apiRuleViolations } from "../support/api-rules.ts";
import { type Compactor, createCompactor } from "../support/full-compactor.ts";

export type ListName = "own" | "held";
export type Copying = "none" | "clone" | "json";
/** How a host splits or merges messages when it converts them to another form. */
export type Cut = "as is" | "split" | "merged";

export interface Use {
  readonly list: ListName;
  readonly copying: Copying;
  /** True if the host adopts `turn.messages` as its second list. */
  readonly adopts: boolean;
  readonly inPlace: boolean;
}

export type HostStep = Use &
  (
    | { readonly kind: "tool" | "text"; readonly size: number; readonly other: "same" | "none" | "no reply" }
    | { readonly kind: "idle" | "compact" | "clear" | "undo" | "redo" | "retract" | "edit" }
    | { readonly kind: "snip"; readonly keepLastTurns: number }
  );

/**
 * Number of tokens that the provider counts per estimated token. The next number is the size of the system
 * prompt.
 */
const TRUE_RATIO = 1.2;
const SYSTEM_TOKENS = 500;
/**
 * Allowed error of the engine's estimate. It is the sum of a share of the true size, a share of the largest
 * size so far, and a constant.
 */
const ESTIMATE_ERROR = { share: 0.34, shareOfLargest: 0.1, tokens: 700 };

const REWRITES: readonly string[] = [
  "compacted",
  "results-cleared",
  "snipped",
  "spans-committed",
  "undone",
  "media-replaced",
];

type Counts = ReadonlyMap<string, number>;

/**
 * Counts how often the messages contain each tag. Each message has a unique tag, so the counts show how often
 * a request contains each message.
 */
export function tagsIn(messages: readonly unknown[]): Counts {
  const counts = new Map<string, number>();
  for (const [tag] of JSON.stringify(messages).matchAll(/tag\d+e/g))
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return counts;
}

/** A host with two lists: its own list of all messages, and the last list that it got from the engine. */
export class AlternatingHost {
  readonly compactor: Compactor;
  readonly lists: Record<ListName, ApiMessage[]>;
  readonly lines: Entry[] = [];
  #serial = 0;
  #rewrites = 0;
  #largest = 0;
  #sent: Counts = new Map();
  /** The call that the provider has not answered yet. */
  #called: Turn | undefined;
  last: Turn | undefined;

  /** The list that the engine saw last. */
  #shown: readonly ApiMessage[] | undefined;
  readonly #cut: Cut;

  constructor({
    collapses,
    windowTokens = 14_000,
    cut = "as is",
  }: {
    collapses: boolean;
    windowTokens?: number;
    cut?: Cut;
  }) {
    this.#cut = cut;
    const list: ApiMessage[] = [{ role: "user", content: `the task ${this.#tag()}` }];
    this.lists = { own: list, held: list };
    this.#sent = tagsIn(list);
    const { lines } = this;
    this.compactor = createCompactor({
      model: "claude-haiku-4-5",
      window: { tokens: windowTokens },
      settings: { environment: {} },
      ...(collapses ? { collapse: { summarizer: "built-in" as const } } : {}),
      transcript: {
        path: "/sessions/one.jsonl",
        append: async (entries) => void lines.push(...entries),
        has: (uuid) => lines.some((line) => line.uuid === uuid),
        read: async (uuids) =>
          withoutRepeatedLines(lines).entries.filter(
            ({ uuid }) => uuid !== undefined && uuids.includes(uuid),
          ),
        stepBack: async (choice) =>
          stepBack(indexEntries(withoutRepeatedLines(withoutTornWrites(lines)).entries), choice),
      },
      ports: { newUuid: () => `u${++this.#serial}` },
      host: {
        onEvent: ({ type }) => {
          if (REWRITES.includes(type)) this.#rewrites += 1;
        },
      },
    });
  }

  #tag(): string {
    return `tag${++this.#serial}e`;
  }

  async take(step: HostStep): Promise<void> {
    const rewrites = this.#rewrites;
    const written = this.lines.length;
    const before = this.#sent;
    const fresh = this.#change(step);
    this.#answer(fresh);
    const list = copied(this.lists[step.list], step.copying);
    if (step.copying !== "none" && step.inPlace) this.#keep(step.list, list);
    this.#shown = this.lists[step.list];
    const turn = await this.#carryOut(step, converted(list, this.#cut));
    this.last = turn;
    this.#sent = tagsIn(turn.request.messages);
    if (step.adopts) this.#adopt(turn.messages as readonly ApiMessage[]);
    const isRewritten = this.#rewrites > rewrites;
    this.#check(turn, { before, fresh, isRewritten, step });
    const isChanged = isRewritten || step.kind === "retract" || step.kind === "edit";
    if (!isChanged && written > 0) expect(this.lines.length - written).toBe(fresh.length);
    // An id may be written again only if the host changed its messages in this step, because such a change
    // can move lines.
    if (step.kind !== "retract" && step.kind !== "edit") {
      const ids = new Set(this.lines.slice(0, written).map(({ uuid }) => uuid));
      expect(this.lines.slice(written).filter(({ uuid }) => ids.has(uuid))).toEqual([]);
    }
  }

  /**
   * Adopts the messages of the engine as the host's second list. If one list is the beginning of the other,
   * nothing was rewritten. In that case the host has only one list.
   */
  #adopt(messages: readonly ApiMessage[]): void {
    const { own } = this.lists;
    const taken = converted([...messages], this.#cut);
    const passed = converted(own, this.#cut);
    const isDifferent = taken.some((message, at) => at < passed.length && !isSame(message, passed[at]));
    if (isDifferent) this.lists.held = [...messages];
    else this.#useOneList(messages.length > own.length ? [...messages] : own);
  }

  #useOneList(list: ApiMessage[]): void {
    this.lists.own = list;
    this.lists.held = list;
  }

  /** Lets the host work for a while before it uses the engine. */
  fill(rounds: number, size: number): void {
    for (let round = 0; round < rounds; round++) this.lists.own.push(...this.#toolRound(size));
    this.#sent = tagsIn(this.lists.own);
  }

  /** Changes the host's lists before a call of the engine. Returns the new messages. */
  #change(step: HostStep): readonly ApiMessage[] {
    const used = this.lists[step.list];
    if (step.kind === "retract") {
      // The engine notices the removal of a message only in the list that it saw last, because other lists
      // may lack the message anyway.
      if (used !== this.#shown) return [];
      // The host removes the message from both lists, so that it has one list again.
      this.#useOneList(used.length > 2 ? used.slice(0, -1) : used);
      return [];
    }
    if (step.kind === "edit") {
      const edited: ApiMessage = { role: "user", content: `another task ${this.#tag()}` };
      this.#useOneList([edited, ...used.slice(1)]);
      return [edited];
    }
    if (step.kind !== "tool" && step.kind !== "text") return [];
    const round = step.kind === "tool" ? this.#toolRound(step.size) : this.#textRound(step.size);
    const isOneList = this.lists.own === this.lists.held;
    if (step.inPlace) used.push(...round);
    else this.#keep(step.list, [...used, ...round]);
    if (isOneList || step.other === "none") return round;
    const isWhole = step.other === "same" || step.kind === "tool";
    const shared = isWhole ? round : round.filter(({ role }) => role === "user");
    this.lists[step.list === "own" ? "held" : "own"].push(...shared);
    return round;
  }

  #keep(name: ListName, list: ApiMessage[]): void {
    if (this.lists.own === this.lists.held) this.#useOneList(list);
    else this.lists[name] = list;
  }

  #toolRound(size: number): readonly ApiMessage[] {
    const id = `call${++this.#serial}`;
    const input = { file_path: `/${this.#tag()}` };
    const content = `${this.#tag()} ${"some words of a result ".repeat(size)}`;
    return [
      { role: "assistant", content: [{ type: "tool_use", id, name: "Read", input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
    ];
  }

  #textRound(size: number): readonly ApiMessage[] {
    return [
      { role: "assistant", content: `answer ${this.#tag()} ${"and more of it ".repeat(size)}` },
      { role: "user", content: `question ${this.#tag()}` },
    ];
  }

  async #carryOut(step: HostStep, list: readonly ApiMessage[]): Promise<Turn> {
    const { compactor } = this;
    // Runs a command of the engine, such as an undo. The host calls the model afterwards.
    const called = async (command: Promise<Turn>): Promise<Turn> => {
      await command.catch((error: unknown) => expect(error).toBeInstanceOf(LonghaulError));
      return this.#call(list);
    };
    switch (step.kind) {
      case "compact":
        return called(compactor.compact(list, { force: true }));
      case "clear":
        return called(compactor.clear(list, { keep: 1 }));
      case "snip":
        return called(compactor.snip(list, { keepLastTurns: step.keepLastTurns }));
      case "undo":
        return called(compactor.undo(list));
      case "redo":
        return called(compactor.redo(list));
      default:
        return this.#call(list);
    }
  }

  async #call(list: readonly ApiMessage[]): Promise<Turn> {
    const turn = await this.compactor.before(list);
    this.#called = turn;
    return turn;
  }

  /** The provider's answer to the last call is the first new message. */
  #answer([reply]: readonly ApiMessage[]): void {
    if (this.#called === undefined) return;
    const output = reply?.role === "assistant" ? Math.round(tokensOf(reply) * TRUE_RATIO) : 20;
    const usage = { input_tokens: trueTokens(this.#called), output_tokens: output };
    this.compactor.after({ id: `m${++this.#serial}`, usage });
    this.#called = undefined;
  }

  #check(
    turn: Turn,
    step: { before: Counts; fresh: readonly ApiMessage[]; isRewritten: boolean; step: HostStep },
  ): void {
    const { before, fresh, isRewritten } = step;
    const { kind } = step.step;
    const violations = apiRuleViolations(turn.request.messages);
    expect(violations.filter((text) => !text.endsWith("alternation"))).toEqual([]);
    const tokens = trueTokens(turn);
    this.#largest = Math.max(this.#largest, tokens);
    const { share, shareOfLargest, tokens: least } = ESTIMATE_ERROR;
    expect(Math.abs(turn.tokens - tokens)).toBeLessThan(
      tokens * share + this.#largest * shareOfLargest + least,
    );
    if (kind === "edit" && !isRewritten) {
      // The engine treats an edited list as another conversation, which contains exactly the host's list.
      expect(this.#sent).toEqual(tagsIn(this.lists[step.step.list]));
      return;
    }
    if (kind === "retract" || kind === "edit") return;
    const added = [...tagsIn(fresh).keys()];
    if (!isRewritten) {
      // The request contains each earlier and each new message exactly once.
      expect(this.#sent).toEqual(new Map([...before, ...added.map((tag) => [tag, 1] as const)]));
    } else if (kind !== "undo" && kind !== "redo") {
      for (const tag of this.#sent.keys()) expect(before.has(tag) || added.includes(tag)).toBe(true);
    }
  }
}

const copied = (list: ApiMessage[], copying: Copying): ApiMessage[] => {
  if (copying === "none") return list;
  return copying === "clone" ? structuredClone(list) : (JSON.parse(JSON.stringify(list)) as ApiMessage[]);
};

const isResult = ({ type }: ContentBlock): boolean => type === "tool_result";

/**
 * Turns all strings into blocks. Depending on `cut`, splits results and texts into separate messages, or
 * merges neighbors of one role.
 */
function converted(list: ApiMessage[], cut: Cut): ApiMessage[] {
  if (cut === "as is") return list;
  const result: ApiMessage[] = [];
  for (const { role, content } of list) {
    const blocks = contentBlocks(content);
    const last = result.at(-1);
    if (cut === "split") {
      for (const part of [blocks.filter(isResult), blocks.filter((block) => !isResult(block))])
        if (part.length > 0) result.push({ role, content: part });
    } else if (last?.role === role) {
      result[result.length - 1] = { role, content: [...contentBlocks(last.content), ...blocks] };
    } else result.push({ role, content: blocks });
  }
  return result;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const measured = new WeakMap<ApiMessage, number>();

function tokensOf(message: ApiMessage): number {
  const tokens = measured.get(message) ?? measureRequest({ messages: [message] }, ESTIMATORS.o200k);
  measured.set(message, tokens);
  return tokens;
}

const trueTokens = ({ request }: Turn): number =>
  SYSTEM_TOKENS + Math.round(request.messages.reduce((sum, each) => sum + tokensOf(each), 0) * TRUE_RATIO);
