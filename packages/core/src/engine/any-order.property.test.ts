import { currentConversation } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import { arbitraryConversation } from "../../../../test/support/growing-conversation.ts";
import type { Entry } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import type { ApiMessage } from "../messages/message.ts";
import { contentBlocks } from "../messages/message.ts";
import { CLEARED_RESULT_TEXT, withClearedResults } from "../messages/stand-ins.ts";
import { ModelError } from "../models/model-error.ts";
import { checkRequest } from "../request/check/check.ts";
import { flatten } from "../request/flatten/flatten.ts";
import type { Message, TranscriptPort, Turn } from "./options.ts";

/** Events that can occur between two turns. */
type Step =
  | { readonly kind: "turn"; readonly size: number }
  | { readonly kind: "idle" }
  | { readonly kind: "manual" }
  | { readonly kind: "from" | "up-to"; readonly at: number }
  | { readonly kind: "snip"; readonly keepLastTurns: number }
  | { readonly kind: "expand" }
  | { readonly kind: "clear" }
  | { readonly kind: "overflow" }
  | { readonly kind: "mismatch" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("turn" as const), size: fc.integer({ min: 1, max: 3_000 }) }),
  },
  fc.constantFrom<Step>(
    { kind: "idle" },
    { kind: "manual" },
    { kind: "expand" },
    { kind: "clear" },
    { kind: "overflow" },
    { kind: "mismatch" },
  ),
  fc.record({ kind: fc.constantFrom("from" as const, "up-to" as const), at: fc.nat({ max: 30 }) }),
  fc.record({ kind: fc.constant("snip" as const), keepLastTurns: fc.integer({ min: 1, max: 4 }) }),
);

class Host {
  now = Date.UTC(2026, 0, 1);
  calls = 0;
  messages: readonly Message[];
  readonly lines: Entry[] = [];
  commits = 0;
  readonly compactor: Compactor;

  constructor(messages: readonly Message[], modelName: string, collapses: boolean) {
    this.messages = messages;
    const transcript: TranscriptPort = {
      path: "/sessions/one.jsonl",
      append: async (entries) => void this.lines.push(...entries),
      read: async (uuids) => this.lines.filter(({ uuid }) => uuid !== undefined && uuids.includes(uuid)),
    };
    this.compactor = createCompactor({
      ...(collapses ? { collapse: { summarizer: "built-in" }, transcript } : {}),
      host: {
        onEvent: ({ type }) => {
          if (type === "spans-committed") this.commits += 1;
        },
      },
      model: modelName,
      window: { tokens: 12_000 },
      settings: { environment: {} },
      ports: { now: () => new Date(this.now), newUuid: () => `u${++this.calls}` },
    });
  }

  async take(step: Step): Promise<Turn> {
    if (step.kind === "turn") this.say(step.size);
    if (step.kind === "idle") this.now += 2 * 3_600_000;
    const turn = await this.#carryOut(step);
    this.messages = turn.messages;
    return turn;
  }

  /** Adds a round with a tool call. Uses messages or entries, whichever form the conversation has. */
  say(size: number): void {
    const id = `round${++this.calls}`;
    const said: readonly ApiMessage[] = [
      { role: "assistant", content: [{ type: "tool_use", id, name: "Read", input: { file_path: "/f" } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: `word${id} `.repeat(size) }],
      },
    ];
    const isPlain = this.messages.every((message) => message === null || !("type" in Object(message)));
    const added = isPlain ? said : said.map((message) => this.#asEntry(message));
    this.messages = deepFreeze([...this.messages, ...added]);
  }

  #asEntry(message: ApiMessage): Message {
    const link = { uuid: `e${++this.calls}`, parentUuid: null, timestamp: new Date(this.now).toISOString() };
    return { ...link, type: message.role, message } as unknown as Message;
  }

  async #carryOut(step: Step): Promise<Turn> {
    const { compactor, messages } = this;
    switch (step.kind) {
      case "manual":
        return compactor.compact(messages, { force: true }).catch((error: unknown) => this.#refused(error));
      case "from":
        return compactor
          .compact(messages, { from: step.at, force: true })
          .catch((error: unknown) => this.#refused(error));
      case "up-to":
        return compactor
          .compact(messages, { upTo: step.at, force: true })
          .catch((error: unknown) => this.#refused(error));
      case "snip":
        return compactor.snip(messages, { keepLastTurns: step.keepLastTurns });
      case "expand":
        return compactor.expand(messages);
      case "clear":
        return compactor.clear(messages, { keep: 1 }).catch((error: unknown) => this.#refused(error));
      case "overflow":
      case "mismatch": {
        const turn = await compactor.before(messages);
        const failure = step.kind === "overflow" ? ("too-long" as const) : ("thinking-mismatch" as const);
        this.messages = turn.messages;
        return (await compactor.recover<Message>(new ModelError({ kind: failure }, "no"))) ?? turn;
      }
      default:
        return compactor.before(messages);
    }
  }

  /** Accepts the error "nothing to compact", which does not change the conversation. */
  async #refused(error: unknown): Promise<Turn> {
    expect(error).toBeInstanceOf(LonghaulError);
    return this.compactor.before(this.messages);
  }
}

const findingsOf = ({ request }: Turn): readonly string[] =>
  checkRequest(request, { consecutiveRoles: "accepted" })
    .findings.filter(({ action }) => action !== "reported")
    .map(({ rule, path }) => `${rule} ${path}`);

/** Texts that show that messages were removed. */
const MARKS = [
  CLEARED_RESULT_TEXT,
  "no longer fit into the context window",
  "of this conversation to make room",
  "removed",
];

describe.each(["claude-haiku-4-5", "claude-opus-5-5"])(
  "random changes to a conversation with %s",
  (model) => {
    const conversations = fc.oneof(
      arbitraryConversation() as fc.Arbitrary<readonly Message[]>,
      arbitraryEntries() as unknown as fc.Arbitrary<readonly Message[]>,
    );

    it("every request obeys the API's rules, and the host's messages stay unchanged", async () => {
      const steps = fc.array(step, { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(conversations, steps, fc.boolean(), async (messages, list, collapses) => {
          const host = new Host(deepFreeze(messages), model, collapses);
          for (const next of list) {
            const turn = await host.take(next);
            if (turn.request.messages.length > 0) expect(findingsOf(turn)).toEqual([]);
          }
        }),
        { numRuns: 50 },
      );
    });

    it("a second turn without new messages changes nothing and returns the same messages", async () => {
      const steps = fc.array(step, { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(conversations, steps, fc.boolean(), async (messages, list, collapses) => {
          const host = new Host(deepFreeze(messages), model, collapses);
          for (const next of list) await host.take(next);
          const commits = host.commits;
          const first = await host.compactor.before(host.messages);
          const changed = first.compaction !== undefined || first.cleared > 0 || host.commits > commits;
          const commitsSoFar = host.commits;
          const second = await host.compactor.before(first.messages);
          fc.pre(second.compaction === undefined && second.cleared === 0);
          // Skip runs in which the second turn commits again, because the first commit did not free enough
          // space.
          fc.pre(host.commits === commitsSoFar);
          expect(second.messages).toBe(first.messages);
          if (!changed) expect(JSON.stringify(second.request)).toBe(JSON.stringify(first.request));
        }),
        { numRuns: 40 },
      );
    });

    it("every removed round leaves a summary or a marker in its place", async () => {
      const steps = fc.array(step, { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), async (list, collapses) => {
          const host = new Host([{ role: "user", content: "the task" }], model, collapses);
          for (const next of list) {
            const before = JSON.stringify(host.messages);
            const turn = await host.take(next);
            const after = JSON.stringify(turn.messages);
            const words = new Set(before.match(/wordround\d+/g));
            const isMissing = [...words].some((word) => !after.includes(word));
            if (isMissing) expect(MARKS.some((mark) => after.includes(mark))).toBe(true);
          }
        }),
        { numRuns: 50 },
      );
    });

    it("reading the transcript returns the messages that were sent", async () => {
      const steps = fc.array(step, { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          const host = new Host([{ role: "user", content: "the task" }], model, true);
          for (const next of list) {
            const { request } = await host.take(next);
            // Wait for the transcript, which is written in the background.
            await new Promise((resolve) => setImmediate(resolve));
            const { entries, clearedToolUseIds } = currentConversation(host.lines);
            const read = flatten(withClearedResults(entries, clearedToolUseIds));
            expect(shown(read)).toEqual(shown(request.messages));
          }
        }),
        { numRuns: 50 },
      );
    });
  },
);

/** Contents that the model sees, as blocks and without cache marks. */
const shown = (messages: readonly ApiMessage[]): readonly string[] =>
  messages.map(({ role, content }) =>
    JSON.stringify([role, contentBlocks(content)]).replaceAll(/,"cache_control":\{[^}]*\}/g, ""),
  );
