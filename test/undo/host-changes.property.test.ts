import type { ApiMessage, Entry, Message, TranscriptPort } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryIndex } from "../../packages/sessions/src/transcript/entry-index.ts";
import { indexWithoutDuplicates } from "../../packages/sessions/src/transcript/load.ts";
import { conversationOf } from "../../packages/sessions/src/transcript/relink.ts";
import { stepBack } from "../../packages/sessions/src/transcript/steps.ts";
import { createCompactor } from "../support/full-compactor.ts";

type Form = "messages" | "entries";
type Change = "edit" | "rename" | "insert" | "cut";
type Step =
  | { readonly do: "say" | "undo" | "undo and redo" }
  | { readonly do: "from" | "upTo" | Change; readonly at: number };

const at = fc.nat(20);
const stepWith = (changes: readonly Change[]): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.constantFrom<Step>({ do: "say" }),
    fc.constantFrom<Step>({ do: "undo" }, { do: "undo and redo" }),
    fc.record({ do: fc.constantFrom("from" as const, "upTo" as const), at }),
    fc.record({ do: fc.constantFrom(...changes), at }),
  );

const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const isOwn = (text: string): boolean => /^w\d+$/.test(text);
const textsIn = (messages: readonly ApiMessage[]): readonly string[] =>
  messages.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
const textsOf = (messages: readonly Message[]): readonly string[] =>
  textsIn(
    messages.every((message) => "role" in message)
      ? (messages as readonly ApiMessage[])
      : flatten(messages as readonly Entry[]),
  );

/** A host that continues with the engine's lists and changes messages of the user in them. */
class Life {
  readonly #form: Form;
  readonly #lines: Entry[] = [];
  readonly #engine = createCompactor({
    settings: { environment: {} },
    transcript: inMemory(this.#lines),
    model: "claude-haiku-4-5",
  });
  #messages: readonly Message[] = [];
  /** Texts of the host that it did not remove, in order. */
  #own: readonly string[] = [];
  #count = 0;

  constructor(form: Form) {
    this.#form = form;
    this.#append("user");
    this.#say();
    this.#say();
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "say":
        this.#say();
        break;
      case "undo":
        await this.#undo();
        break;
      case "undo and redo":
        await this.#undoAndRedo();
        break;
      case "from":
      case "upTo": {
        const place = step.at % this.#messages.length;
        await this.#try(this.#engine.compact(this.#messages, { [step.do]: place, force: true }));
        break;
      }
      default:
        this.#change(step.do, step.at);
    }
    await this.settle();
  }

  /** Checks that the session has the same texts as the request. */
  async settle(): Promise<void> {
    const { request, messages } = await this.#engine.before(this.#messages, { caller: "compact" });
    this.#messages = messages;
    // Waits, because the engine writes in the background.
    await new Promise((resolve) => setImmediate(resolve));
    const { entries } = conversationOf(indexed(this.#lines));
    expect(textsIn(flatten(entries))).toEqual(textsIn(request.messages));
  }

  /** Undoes everything, with at most one undo per compaction. Checks that each text is there exactly once. */
  async undoAll(compactions: number): Promise<readonly string[]> {
    for (let count = 0; await this.#undo(); count++) {
      expect(count).toBeLessThan(compactions);
      await this.settle();
    }
    const texts = textsOf(this.#messages);
    expect(texts.filter(isOwn)).toEqual(texts);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toEqual(expect.arrayContaining([...this.#own]));
    return texts;
  }

  get own(): readonly string[] {
    return this.#own;
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  async #undo(): Promise<boolean> {
    const before = textsOf(this.#messages).filter(isOwn);
    const isUndone = await this.#try(this.#engine.undo(this.#messages));
    const after = new Set(textsOf(this.#messages));
    expect(before.filter((text) => !after.has(text))).toEqual([]);
    return isUndone;
  }

  async #undoAndRedo(): Promise<void> {
    const before = textsOf(this.#messages);
    if (!(await this.#undo())) return;
    await this.settle();
    expect(await this.#try(this.#engine.redo(this.#messages))).toBe(true);
    expect(textsOf(this.#messages)).toEqual(before);
  }

  async #try(turn: Promise<{ readonly messages: readonly Message[] }>): Promise<boolean> {
    try {
      this.#messages = (await turn).messages;
      return true;
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      return false;
    }
  }

  #say(): void {
    this.#append("assistant");
    this.#append("user");
  }

  #append(role: "user" | "assistant"): void {
    const text = this.#newText();
    this.#own = [...this.#own, text];
    this.#messages = [...this.#messages, this.#message(role, text, this.#messages.at(-1))];
  }

  #newText(): string {
    return `w${++this.#count}`;
  }

  #message(role: "user" | "assistant", text: string, parent: Message | undefined): Message {
    const message = { role, content: [{ type: "text", text }] } as ApiMessage;
    if (this.#form === "messages") return message;
    const parentUuid = (parent as Entry | undefined)?.uuid ?? null;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + this.#count).toISOString();
    return { uuid: `u${this.#count}`, parentUuid, timestamp, type: role, message } as unknown as Message;
  }

  #change(change: Change, at: number): void {
    const own = this.#messages.filter((message) => isOfUser(message) && textsOf([message]).every(isOwn));
    const message = own[at % Math.max(1, own.length)];
    if (message === undefined) return;
    if (change === "cut") this.#cutBehind(message);
    else if (change === "insert") this.#insertBehind(message);
    else this.#replace(message, change === "rename");
  }

  #cutBehind(message: Message): void {
    const place = this.#messages.indexOf(message) + 1;
    const gone = textsOf(this.#messages.slice(place));
    // Without its summary, a list of plain messages looks like one that was never compacted.
    if (this.#form === "messages" && !gone.every(isOwn)) return;
    this.#own = this.#own.filter((text) => !gone.includes(text));
    this.#messages = this.#messages.slice(0, place);
    this.#say();
  }

  #insertBehind(message: Message): void {
    const text = this.#newText();
    this.#own = [...this.#own, text];
    const added = this.#message("user", text, message);
    this.#messages = this.#messages.flatMap((one) => (one === message ? [one, added] : [one]));
  }

  #replace(message: Message, isRenamed: boolean): void {
    const text = this.#newText();
    const [old] = textsOf([message]);
    this.#own = this.#own.map((one) => (one === old ? text : one));
    const other = this.#message("user", text, undefined);
    const changed =
      "message" in message && "message" in other && "uuid" in other
        ? { ...message, ...(isRenamed ? { uuid: other.uuid } : {}), message: other.message }
        : other;
    this.#messages = this.#messages.map((one) => (one === message ? (changed as Message) : one));
  }
}

const isOfUser = (message: Message): boolean =>
  ("role" in message ? message.role : (message as Entry).type) === "user" && textsOf([message]).length > 0;

const indexed = (lines: readonly Entry[]): EntryIndex =>
  indexWithoutDuplicates({ entries: copyOf(lines), damage: [] }).index;

/** Creates a transcript in memory that behaves like a file. */
function inMemory(lines: Entry[]): TranscriptPort {
  return {
    path: "/sessions/one.jsonl",
    has: (id) => lines.some(({ uuid }) => uuid === id),
    append: async (entries) => void lines.push(...copyOf(entries)),
    read: async (uuids) => lines.filter(({ uuid }) => uuid !== undefined && uuids.includes(uuid)),
    stepBack: async (choice) => stepBack(indexed(lines), choice, lines),
  };
}

async function live(
  form: Form,
  steps: readonly Step[],
): Promise<Life & { readonly texts: readonly string[] }> {
  const life = new Life(form);
  await life.settle();
  for (const step of steps) await life.take(step);
  const texts = await life.undoAll(steps.length);
  await life.close();
  return Object.assign(life, { texts });
}

const RUNS = { numRuns: 100 };

describe("a host that changes its messages between compactions and undos", () => {
  it.each(["entries", "messages"] as const)(
    "the session equals the request, and an undo loses no message, for a host that keeps %s",
    async (form) => {
      const changes: readonly Change[] = ["edit", "rename", "insert", "cut"];
      const steps = fc.array(stepWith(changes), { maxLength: 10, size: "max" });
      await fc.assert(
        fc.asyncProperty(steps, async (given) => void (await live(form, given))),
        RUNS,
      );
    },
  );

  it("undoing all steps restores every message in order when the host only edits entries", async () => {
    const steps = fc.array(stepWith(["edit"]), { maxLength: 10, size: "max" });
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { own, texts } = await live("entries", given);
        expect(texts).toEqual(own);
      }),
      RUNS,
    );
  });
});
