import { describe, expect, it, vi } from "vitest";
import {
  ConversationBuilder,
  image,
  thinking,
  toolResult,
  toolUse,
} from "../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import { CLEARED_RESULT_TEXT } from "../messages/stand-ins.ts";
import type { CompactorEvent } from "./events.ts";

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `word${(at * 7 + seed * 13) % 997}`).join(" ");

const round = (turn: number, name = "Ask"): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(`t${turn}`, name, { turn })] },
  { role: "user", content: [toolResult(`t${turn}`, words(300, turn))] },
];

const tokensOf = (messages: readonly ApiMessage[]): number =>
  Math.round(JSON.stringify(messages).length / 3.6);

function engine(options: CompactorOptions = {}): { compactor: Compactor; events: CompactorEvent[] } {
  const events: CompactorEvent[] = [];
  const compactor = createCompactor({
    model: "claude-haiku-4-5",
    request: { system: "be brief", max_tokens: 2_000 },
    ...options,
    settings: { environment: {}, ...options.settings },
    host: { ...options.host, onEvent: (event) => void events.push(event) },
  });
  return { compactor, events };
}

const typesOf = (events: readonly CompactorEvent[]): readonly string[] => events.map(({ type }) => type);

describe("a host that rebuilds its messages for every turn", () => {
  it.each(["as they were", "with a moving cache mark"])(
    "does not serialize known messages again if the host rebuilds their objects %s",
    async (form) => {
      const { compactor } = engine({ clearing: { form: "off" } });
      const own: ApiMessage[] = [{ role: "user", content: "Find the fault." }];
      const given = (): readonly ApiMessage[] => {
        const copies = structuredClone(own);
        const last = copies.at(-1)?.content.at(-1);
        if (form !== "as they were" && typeof last === "object")
          Object.assign(last, { cache_control: { type: "ephemeral" } });
        return copies;
      };
      let written = 0;
      for (let turn = 0; turn < 60; turn++) {
        own.push(...round(turn));
        const messages = given();
        const stringify = vi.spyOn(JSON, "stringify");
        await compactor.before(messages);
        written = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
        stringify.mockRestore();
      }
      expect(written).toBeLessThan(JSON.stringify(own).length / 3);
    },
  );

  it("counts and writes each message once, even if the host passes new copies every turn", async () => {
    let lines = 0;
    const append = async (entries: readonly unknown[]): Promise<void> => {
      lines += entries.length;
    };
    const { compactor, events } = engine({ transcript: { path: "/t", append } });
    let own: readonly ApiMessage[] = [{ role: "user", content: "go" }];
    for (let turn = 0; turn < 12; turn++) {
      const { request, tokens } = await compactor.before(structuredClone(own) as readonly ApiMessage[]);
      const truth = tokensOf(request.messages);
      if (turn > 2) expect(Math.abs(tokens / truth - 1)).toBeLessThan(0.2);
      compactor.after({ id: `m${turn}`, usage: { input_tokens: truth, output_tokens: 40 } });
      own = [...own, ...round(turn)];
    }
    await compactor.close();
    expect(lines).toBe(own.length - 2);
    expect(typesOf(events)).not.toContain("usage-distrusted");
  });
});

describe("a provider whose usage reports are far too low", () => {
  it("far too low usage reports neither lower the count below 40% of the true size nor prevent compact()", async () => {
    for (const reported of [400, 3_000, 9_000]) {
      const { compactor } = engine({ window: { tokens: 400_000 } });
      let messages: readonly ApiMessage[] = [{ role: "user", content: "go" }];
      for (let turn = 0; turn < 60; turn++) {
        const { request, tokens } = await compactor.before(messages);
        if (turn > 10) expect(tokens).toBeGreaterThan(tokensOf(request.messages) * 0.4);
        compactor.after({ id: `m${turn}`, usage: { input_tokens: reported, output_tokens: 40 } });
        messages = [...messages, ...round(turn)];
      }
      expect((await compactor.compact(messages)).compaction).toBeDefined();
    }
  });
});

describe("a response that arrives after the user compacts", () => {
  it("ignores the usage of a response to a request that was sent before a compaction", async () => {
    const { compactor, events } = engine();
    let messages: readonly ApiMessage[] = [{ role: "user", content: "go" }];
    for (let turn = 0; turn < 30; turn++) {
      const { request } = await compactor.before(messages);
      compactor.after({ usage: { input_tokens: tokensOf(request.messages), output_tokens: 40 } });
      messages = [...messages, ...round(turn)];
    }
    const long = await compactor.before(messages);
    const compacted = await compactor.compact(messages);
    compactor.after({ usage: { input_tokens: tokensOf(long.request.messages), output_tokens: 40 } });
    const next = await compactor.before([...compacted.messages, { role: "user", content: "next" }]);
    expect(next.tokens).toBeLessThan(tokensOf(next.request.messages) * 1.3);
    expect(typesOf(events)).not.toContain("cache-break");
    expect(typesOf(events)).not.toContain("usage-distrusted");
  });
});

describe("a resumed session with cleared results", () => {
  it("after a resume, sends results marked as cleared without their text, and no thinking from before the mark", async () => {
    const c = new ConversationBuilder();
    c.user("go");
    c.assistant([thinking("before"), toolUse("a", "Read", { file_path: "/f" })]);
    c.user([toolResult("a", words(500, 1))]);
    c.assistant([thinking("after"), { type: "text", text: "read" }]);
    c.push({
      ...c.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["a"] },
    });
    c.user("continue");
    c.assistant([thinking("since"), { type: "text", text: "continued" }]);
    c.user("and on");
    const { compactor } = engine({ model: "claude-opus-5-5" });
    const { request } = await compactor.before(c.entries);
    const sent = JSON.stringify(request.messages);
    expect(sent).toContain(CLEARED_RESULT_TEXT);
    expect(sent).not.toContain("sig:after");
    expect(sent).toContain("sig:before");
    expect(sent).toContain("sig:since");
  });
});

describe("a host that passes entries and changes its request fields", () => {
  it.each([0, 1])(
    "returns entries to a host that passes entries and changes its request fields after %i turns",
    async (turns) => {
      const c = new ConversationBuilder();
      c.user("go");
      const { compactor } = engine();
      const disabled = { system: "be brief", max_tokens: 2_000 };
      const enabled = { ...disabled, thinking: { type: "enabled", budget_tokens: 1_024 } };
      for (let turn = 0; turn < 3; turn++) {
        const request = turn < turns ? disabled : enabled;
        const { messages } = await compactor.before([...c.entries], { request });
        expect(messages).toEqual(c.entries);
        c.assistant(`answer ${turn}`);
        c.user(`question ${turn}`);
      }
    },
  );
});

describe("more images than the provider accepts", () => {
  it("replaces surplus images in one batch, so that later turns do not change earlier messages again", async () => {
    const { compactor, events } = engine({ settings: { values: { autoCompactEnabled: false } } });
    let messages: readonly ApiMessage[] = [{ role: "user", content: "look" }];
    const sent: string[] = [];
    for (let turn = 0; turn < 112; turn++) {
      const turnResult = await compactor.before(messages);
      sent.push(JSON.stringify(turnResult.messages).slice(0, -1));
      const shown: ApiMessage = { role: "user", content: [toolResult(`t${turn}`, [image()])] };
      const call: ApiMessage = { role: "assistant", content: [toolUse(`t${turn}`, "Look", {})] };
      messages = [...turnResult.messages, call, shown];
    }
    const replaced = events.filter((event) => event.type === "media-replaced");
    expect(replaced).toMatchObject([{ left: 75 }]);
    const rewrites = sent.filter((text, at) => at > 0 && !text.startsWith(sent[at - 1] ?? ""));
    expect(rewrites).toHaveLength(1);
  });
});
