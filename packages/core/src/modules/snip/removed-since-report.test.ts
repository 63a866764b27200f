import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openTranscript, resumeSession } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../../test/support/full-compactor.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import type { Message } from "../../engine/options.ts";
import type { Entry, Usage } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";

const REQUEST = { system: "You are careful.", max_tokens: 1_000 } as const;

const OPTIONS: CompactorOptions = {
  model: "claude-haiku-4-5",
  window: { tokens: 200_000 },
  request: REQUEST,
  clearing: { form: "off" },
  settings: { environment: {} },
};

const engine = (): Compactor => createCompactor(OPTIONS);

/** Creates a file read and its answer. */
const round = (nth: number, lines: number): readonly ApiMessage[] => [
  { role: "user", content: `Question ${nth}.` },
  { role: "assistant", content: [toolUse(`t${nth}`, "Read", { file_path: `/project/${nth}.ts` })] },
  { role: "user", content: [toolResult(`t${nth}`, `line ${nth} of the tide table\n`.repeat(lines))] },
  { role: "assistant", content: `Answer ${nth}.` },
];

describe("token count after a snip", () => {
  it("counts the remaining messages correctly when a snip removes most of the conversation", async () => {
    const compactor = engine();
    const rest = [...round(1, 300), { role: "user", content: "Next." } as const];
    const whole = [...round(0, 10_000), ...rest];
    const { tokens } = await compactor.before(whole);
    // The provider counts slightly less than the estimate. A plain subtraction would apply the whole
    // estimation error to the remaining messages.
    const usage = { input_tokens: Math.round(tokens * 0.95), output_tokens: 5 };
    compactor.after({ id: "msg_1", usage });
    const list = [...whole, { role: "assistant", content: "Done." } as const];
    const snipped = await compactor.snip(list, { from: 0, to: 3 });
    const alone = await engine().before(rest);
    expect(snipped.tokens).toBeGreaterThan(alone.tokens * 0.9);
    expect(snipped.tokens).toBeLessThan(alone.tokens * 1.5);
  });

  it("the token count after a snip does not include the estimation error of the removed messages", async () => {
    const compactor = engine();
    const rest = [...round(1, 300), { role: "user", content: "Next." } as const];
    const whole = [...round(0, 10_000), ...rest];
    const { tokens } = await compactor.before(whole);
    compactor.after({ id: "msg_1", usage: { input_tokens: Math.round(tokens * 1.2), output_tokens: 5 } });
    const list = [...whole, { role: "assistant", content: "Done." } as const];
    const snipped = await compactor.snip(list, { from: 0, to: 3 });
    const alone = await engine().before(rest);
    expect(snipped.tokens).toBeGreaterThan(alone.tokens);
    expect(snipped.tokens).toBeLessThan(alone.tokens * 1.5);
  });

  it("a snip does not subtract tokens that the provider has already cleared", async () => {
    const compactor = engine();
    const rounds = [0, 1, 2, 3].flatMap((nth) => round(nth, 1_500));
    const whole = [...rounds, ...round(4, 4_000), { role: "user", content: "Next." } as const];
    const { tokens } = await compactor.before(whole);
    const cleared = Math.round(tokens * 0.7);
    compactor.after({
      id: "msg_1",
      usage: { input_tokens: tokens - cleared, output_tokens: 5 },
      appliedEdits: [
        { type: "clear_tool_uses_20250919", cleared_tool_uses: 5, cleared_input_tokens: cleared },
      ],
    } as Parameters<Compactor["after"]>[0]);
    const list = [...whole, { role: "assistant", content: "Done." } as const];
    const snipped = await compactor.snip(list, { from: 0, to: 3 });
    const alone = await engine().before([...whole.slice(4)]);
    expect(snipped.tokens).toBeGreaterThan(alone.tokens * 0.9);
  });
});

const folder = temporaryFolder();

describe("token count in a resumed session that is rewound to a point before a snip", () => {
  it("a resumed session ignores usage reports from before a snip, which include the removed messages", async () => {
    const path = join(folder, "session.jsonl");
    const writer = await openTranscript(path);
    let seconds = 0;
    const ports = { now: () => new Date(++seconds * 1_000), newUuid: () => randomUUID() };
    const compactor = createCompactor({ ...OPTIONS, transcript: writer, ports });
    let list: readonly Message[] = [...round(0, 10_000)];
    for (const nth of [1, 2, 3]) {
      list = [...list, { role: "user", content: `More ${nth}.` }];
      const { tokens } = await compactor.before(list);
      compactor.after({ id: `msg_${nth}`, usage: { input_tokens: tokens, output_tokens: 5 } });
      list = [...list, { role: "assistant", content: `Said ${nth}.` }];
    }
    const { tokens: left } = await compactor.snip(list, { from: 0, to: 3 });
    await compactor.close();
    await writer.close();
    const { conversation } = await resumeSession(path);
    const end = conversation.findIndex((entry) => JSON.stringify(entry).includes("Said 2."));
    const next = { type: "user", uuid: "next", message: { role: "user", content: "Next." } };
    const { tokens } = await createCompactor(OPTIONS).before([
      ...conversation.slice(0, end + 1),
      { ...next, parentUuid: conversation[end]?.uuid } as unknown as Entry,
    ]);
    expect(tokens).toBeLessThan(left * 2);
  });
});

/**
 * Ports that give all messages and entries the same timestamp. The timestamp then does not show which list a
 * report belongs to.
 */
const sameTime = { now: () => new Date(1_000), newUuid: () => randomUUID() };

const EDITS: Readonly<Record<string, (list: readonly Message[]) => readonly Message[]>> = {
  "replaced a message": ([first, ...rest]) => [inFormOf(first as Message, "Never mind."), ...rest],
  "removed messages": ([first, , , ...rest]) => [first as Message, ...rest],
};

/** Returns the same message with another text. */
function inFormOf(message: Message, content: string): Message {
  if ("role" in message) return { role: "user", content };
  return { ...message, message: { role: "user", content } } as Message;
}

/** A host that appends messages in one form. */
class Host {
  list: readonly Message[] = [];
  readonly #form: string;

  constructor(form: string) {
    this.#form = form;
  }

  say(content: ApiMessage["content"]): void {
    this.add({ role: "user", content } as ApiMessage);
  }

  add(message: ApiMessage): void {
    this.#append(message, {});
  }

  /** Makes one call whose report has the size that the engine expects. */
  async call(compactor: Compactor, id: string): Promise<number> {
    const { tokens } = await compactor.before(this.list);
    this.answer(compactor, id, { usage: { input_tokens: tokens, output_tokens: 5 } });
    return tokens;
  }

  answer(
    compactor: Compactor,
    id: string,
    facts: { readonly usage: Usage; readonly appliedEdits?: unknown },
  ): void {
    const model = "claude-haiku-4-5";
    compactor.after({ id, model, ...facts } as Parameters<Compactor["after"]>[0]);
    this.#append({ role: "assistant", content: `Said ${id}.` }, { id, model, usage: facts.usage });
  }

  #append(message: ApiMessage, facts: object): void {
    const last = this.list.at(-1);
    const parentUuid = last !== undefined && "uuid" in last ? last.uuid : null;
    const link = { uuid: randomUUID(), parentUuid, timestamp: sameTime.now().toISOString() };
    const entry = { ...link, type: message.role, message: { ...message, ...facts } } as unknown as Message;
    this.list = [...this.list, this.#form === "entries" ? entry : message];
  }
}

describe("token count in a resumed session after the host changed its messages", () => {
  const cases = Object.keys(EDITS).flatMap((edit) =>
    ["messages", "entries"].map((form) => [edit, form] as const),
  );

  it.each(cases)(
    "ignores usage reports from before the host %s, for a host that passes %s",
    async (edit, form) => {
      const path = join(folder, `${edit} ${form}.jsonl`);
      const writer = await openTranscript(path);
      const compactor = createCompactor({ ...OPTIONS, transcript: writer, ports: sameTime });
      const host = new Host(form);
      host.say(edit === "removed messages" ? "Begin." : "page ".repeat(20_000));
      await host.call(compactor, "msg_1");
      host.say(edit === "removed messages" ? "page ".repeat(20_000) : "More.");
      await host.call(compactor, "msg_2");
      host.say("More.");
      const large = await host.call(compactor, "msg_3");
      host.list = EDITS[edit]?.(host.list) ?? [];
      host.say("Go on.");
      const small = await host.call(compactor, "msg_4");
      await compactor.close();
      await writer.close();
      expect(large).toBeGreaterThan(20_000);
      expect(small).toBeLessThan(2_000);
      const { conversation } = await resumeSession(path);
      const end = conversation.findIndex((entry) => JSON.stringify(entry).includes("Said msg_4."));
      const { tokens } = await engine().before(conversation.slice(0, end));
      expect(tokens).toBeLessThan(small * 2);
    },
  );
});

/** Options of an engine whose estimate is low. The provider's tokenizer counts two thirds more tokens. */
const counting: CompactorOptions = { ...OPTIONS, ports: { countText: (text) => Math.ceil(text.length / 4) } };
const trueTokens = (list: readonly Message[]): number =>
  Math.round((5 / 3) * list.reduce((sum, message) => sum + charactersIn(message) / 4, 0));

function charactersIn(message: Message): number {
  const { content } = ("role" in message ? message : (message as { message: unknown }).message) as ApiMessage;
  if (typeof content === "string") return content.length;
  return content.reduce(
    (sum, block) => sum + (block.type === "tool_result" ? String(block.content).length : 0),
    0,
  );
}

describe("token count while the provider clears one result after another", () => {
  /**
   * Runs a conversation. Each response reports that more was cleared, so its figure grows by less than the
   * added content.
   */
  async function converse(compactor: Compactor, host: Host): Promise<void> {
    host.say("Begin.");
    for (let nth = 0; nth < 8; nth++) {
      for (const message of round(nth, 100 + nth * 20).slice(1, 3)) host.add(message);
      await compactor.before(host.list);
      const cleared = Math.round(trueTokens(host.list) * 0.4);
      const edit = {
        type: "clear_tool_uses_20250919",
        cleared_tool_uses: nth,
        cleared_input_tokens: cleared,
      };
      host.answer(compactor, `msg_${nth}`, {
        usage: { input_tokens: trueTokens(host.list) - cleared, output_tokens: 5 },
        appliedEdits: [edit],
      });
    }
    host.say("Next.");
  }

  it.each(["messages", "entries"])(
    "the token count is correct after a manual clearing, for a host that passes %s",
    async (form) => {
      const compactor = createCompactor({ ...counting, ports: sameTime });
      const host = new Host(form);
      await converse(compactor, host);
      // The manual clearing empties the results that the provider had cleared. The engine then estimates all
      // tokens.
      const cleared = await compactor.clear(host.list, { keep: 2 });
      expect(cleared.tokens).toBeGreaterThan(trueTokens(host.list.slice(-7)) * 0.8);
      expect(cleared.tokens).toBeLessThan(trueTokens(host.list.slice(-7)) * 1.3);
    },
  );

  it.each(["messages", "entries"])(
    "the token count is correct after a manual clearing in a resumed session, for a host that passes %s",
    async (form) => {
      const path = join(folder, `cleared ${form}.jsonl`);
      const writer = await openTranscript(path);
      const compactor = createCompactor({ ...counting, transcript: writer, ports: sameTime });
      const host = new Host(form);
      await converse(compactor, host);
      await compactor.before(host.list);
      await compactor.close();
      await writer.close();
      const { conversation } = await resumeSession(path);
      const cleared = await createCompactor(counting).clear(conversation, { keep: 2 });
      expect(cleared.tokens).toBeGreaterThan(trueTokens(host.list.slice(-7)) * 0.8);
      expect(cleared.tokens).toBeLessThan(trueTokens(host.list.slice(-7)) * 1.3);
    },
  );
});
