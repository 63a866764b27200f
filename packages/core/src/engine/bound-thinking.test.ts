import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../messages/entry.ts";
import type { ApiMessage, ContentBlock } from "../messages/message.ts";
import { BoundThinking, withoutBlocks } from "./bound-thinking.ts";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const user = (words: string): ApiMessage => ({ role: "user", content: words });
const answer = (name: string, ...more: readonly ContentBlock[]): ApiMessage => ({
  role: "assistant",
  content: [thought(name), ...more, text(`said ${name}`)],
});
const thought = (name: string): ContentBlock => ({
  type: "thinking",
  thinking: name,
  signature: `signed ${name}`,
});

/** Sends the list and appends the reply. */
function sendAndAdd(bound: BoundThinking, list: readonly ApiMessage[], reply: ApiMessage): ApiMessage[] {
  bound.findMisplaced(list);
  bound.recordSent();
  return [...list, reply];
}

/** Returns the names of the answers in the list whose thinking can be sent. */
function sendable(bound: BoundThinking, list: readonly ApiMessage[]): readonly string[] {
  return namesIn(withoutBlocks(list.map(asEntry), bound.findMisplaced(list)).entries);
}

const asEntry = (message: ApiMessage): Entry => ({ type: message.role, message }) as unknown as Entry;

const namesIn = (entries: readonly unknown[]): readonly string[] =>
  [...JSON.stringify(entries).matchAll(/"signed (\w+)"/g)].map(([, name]) => name as string);

/** Creates a conversation with three answers: user 1, a, user 2, b, user 3, c. */
function conversation(bound: BoundThinking): readonly ApiMessage[] {
  let list: ApiMessage[] = [];
  for (const [at, name] of ["a", "b", "c"].entries())
    list = sendAndAdd(bound, [...list, user(`user ${at + 1}`)], answer(name));
  expect(sendable(bound, list)).toEqual(["a", "b", "c"]);
  return list;
}

const replaced = (list: readonly ApiMessage[], at: number, message: ApiMessage): ApiMessage[] =>
  list.map((each, index) => (index === at ? message : each));

describe("BoundThinking", () => {
  it("sends a thinking block only after the messages of the request that produced it, apart from cache marks", () => {
    const bound = new BoundThinking();
    const list = conversation(bound);
    expect(sendable(bound, structuredClone(list))).toEqual(["a", "b", "c"]);
    const marked = { ...text("user 2"), cache_control: { type: "ephemeral" } } as ContentBlock;
    expect(sendable(bound, replaced(list, 2, { role: "user", content: [marked] }))).toEqual(["a", "b", "c"]);
  });

  it("does not send thinking after a message that was changed, removed, added or moved", () => {
    const list = conversation(new BoundThinking());
    const leftAfter = (change: (list: readonly ApiMessage[]) => readonly ApiMessage[]): readonly string[] => {
      const bound = new BoundThinking();
      conversation(bound);
      return sendable(bound, change(list));
    };
    expect(leftAfter((all) => replaced(all, 2, user("other")))).toEqual(["a"]);
    expect(leftAfter((all) => all.slice(2))).toEqual([]);
    expect(leftAfter((all) => [user("new"), ...all])).toEqual([]);
    expect(leftAfter((all) => [...all.slice(0, 3), user("new"), ...all.slice(3)])).toEqual(["a"]);
    expect(leftAfter((all) => [...all.slice(4), ...all.slice(0, 4)])).toEqual([]);
  });

  it("binds thinking to the messages that were sent, even if the host changes them before it adds the reply", () => {
    const bound = new BoundThinking();
    const list = conversation(bound);
    const sent = sendAndAdd(bound, [...list, user("user 4")], answer("d"));
    expect(sendable(bound, replaced(sent, 6, user("other")))).toEqual(["a", "b", "c"]);
    expect(sendable(bound, [user("a summary"), ...sent.slice(6)])).toEqual([]);
    expect(sendable(bound, sent)).toEqual(["a", "b", "c", "d"]);
  });

  it("sends thinking from an unknown request, as in the first list that a process reads", () => {
    const bound = new BoundThinking();
    const list = conversation(new BoundThinking());
    expect(sendable(bound, list)).toEqual(["a", "b", "c"]);
    expect(sendable(bound, list.slice(2))).toEqual([]);
  });

  it("sends newer thinking instead of older thinking that the newer request did not contain", () => {
    const bound = new BoundThinking();
    const [first, a, ...rest] = conversation(bound) as [ApiMessage, ApiMessage, ...ApiMessage[]];
    const bare = { role: "assistant", content: [text("said a")] } as ApiMessage;
    // If the oldest thinking is missing, the newer thinking stays valid.
    const without = sendAndAdd(bound, [first, bare, ...rest, user("user 4")], answer("d"));
    expect(sendable(bound, without)).toEqual(["b", "c", "d"]);
    // If the oldest thinking is added again, a request can contain either the older or the newest thinking,
    // not both. The newest is kept.
    expect(sendable(bound, replaced(without, 1, a))).toEqual(["d"]);
    // Missing thinking in the middle has the same effect.
    const gap = { role: "assistant", content: [text("said b")] } as ApiMessage;
    expect(sendable(bound, replaced([first, a, ...rest], 3, gap))).toEqual(["c"]);
  });

  it("a resumed session reads from its lines which request each thinking block belongs to", () => {
    const bound = new BoundThinking();
    const list = conversation(bound);
    const lines = list.map((message) => bound.toLine(asEntry(message)));
    const resumed = (): BoundThinking => {
      const next = new BoundThinking();
      next.loadPositions(JSON.parse(JSON.stringify(lines)) as Entry[]);
      return next;
    };
    expect(sendable(resumed(), list)).toEqual(["a", "b", "c"]);
    expect(sendable(resumed(), replaced(list, 2, user("other")))).toEqual(["a"]);
  });

  it("ignores thinking positions of the wrong shape in a session file", () => {
    const bound = new BoundThinking();
    const list = conversation(new BoundThinking());
    const wrong = [null, 1, {}, { key: "1", digest: 1, last: 0, count: 0 }, { key: 1, digest: Number.NaN }];
    bound.loadPositions([null, { thinkingBehind: 5 }, { thinkingBehind: wrong }] as unknown as Entry[]);
    expect(sendable(bound, list)).toEqual(["a", "b", "c"]);
  });

  it("sends thinking after a summary that the provider signed", () => {
    const bound = new BoundThinking();
    const list = conversation(bound);
    const summary = { type: "compaction", content: "All of it.", signature: "s" } as unknown as ContentBlock;
    const compacted = [{ role: "assistant", content: [summary] } as ApiMessage, ...list.slice(2)];
    expect(sendable(bound, compacted)).toEqual(["b", "c"]);
    expect(sendable(bound, replaced(compacted, 1, user("other")))).toEqual([]);
    expect(sendable(bound, list)).toEqual(["a", "b", "c"]);
  });

  it("never sends thinking after messages that differ from the request that produced it, whatever the host changes", () => {
    const step = fc.record({
      kind: fc.constantFrom("turn", "turn", "turn", "edit", "cut", "insert", "strip", "restore", "resume"),
      at: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
        const host = new RandomHost();
        for (const { kind, at } of steps) host.step(kind, at);
      }),
      { numRuns: 300 },
    );
  });
});

/**
 * A host that makes random changes. Like the provider, it checks each request. For this check, it records all
 * requests.
 */
class RandomHost {
  #bound = new BoundThinking();
  #list: ApiMessage[] = [];
  #all: ApiMessage[] = [];
  #count = 0;
  /**
   * The key is the name of a thinking block. The value has the messages of its request and the thinking
   * before the block.
   */
  readonly #requests = new Map<string, { readonly words: string; readonly names: readonly string[] }>();

  step(kind: string, index: number): void {
    const at = index % (this.#list.length + 1);
    const name = `n${++this.#count}`;
    if (kind === "turn") this.#turn(name);
    if (kind === "edit" && this.#list[at]?.role === "user") this.#list = replaced(this.#list, at, user(name));
    if (kind === "cut") this.#list = this.#list.slice(0, at);
    if (kind === "insert") this.#list = [...this.#list.slice(0, at), user(name), ...this.#list.slice(at)];
    if (kind === "strip")
      this.#list = this.#list.map((message, index) => (index < at ? bare(message) : message));
    if (kind === "restore") this.#list = [...this.#all];
    if (kind === "resume") this.#resume();
  }

  #turn(name: string): void {
    const given = [...this.#list, user(`asks ${name}`)];
    const gone = this.#bound.findMisplaced(given);
    const sent = given.map((message) => (gone.size === 0 ? message : stripped(message, gone)));
    expect(this.#bound.findMisplaced(sent).size).toBe(0);
    this.#judge(sent);
    this.#bound.recordSent();
    this.#requests.set(name, { words: wordsOf(sent), names: namesIn(sent) });
    this.#list = [...given, answer(name, thought(`${name}x`))];
    this.#requests.set(`${name}x`, { words: wordsOf(sent), names: [...namesIn(sent), name] });
    this.#all = [...this.#all, user(`asks ${name}`), answer(name, thought(`${name}x`))];
    this.#bound.findMisplaced(this.#list);
  }

  #judge(sent: readonly ApiMessage[]): void {
    const names = namesIn(sent);
    for (const [at, message] of sent.entries()) {
      for (const name of namesIn([message])) {
        const request = this.#requests.get(name);
        expect(wordsOf(sent.slice(0, at))).toBe(request?.words);
        const before = names.slice(0, names.indexOf(name));
        expect(request?.names.slice(request.names.length - before.length)).toEqual(before);
      }
    }
  }

  #resume(): void {
    const lines = this.#all.map((message) => this.#bound.toLine(asEntry(message)));
    this.#bound = new BoundThinking();
    this.#bound.loadPositions(JSON.parse(JSON.stringify(lines)) as Entry[]);
  }
}

const wordsOf = (messages: readonly ApiMessage[]): string => JSON.stringify(messages.map(bare));

const bare = (message: ApiMessage): ApiMessage =>
  typeof message.content === "string"
    ? message
    : { ...message, content: message.content.filter(({ type }) => type !== "thinking") };

function stripped(message: ApiMessage, gone: ReadonlySet<number>): ApiMessage {
  const [entry] = withoutBlocks([asEntry(message)], gone).entries;
  return (entry as unknown as { message: ApiMessage }).message;
}
