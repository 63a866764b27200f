import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../test/support/builders.ts";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import type { CollapseMark, Entry, MicrocompactBoundaryEntry } from "../messages/entry.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { CollapsedSpan } from "../messages/stand-ins.ts";
import type { CompactorEvent } from "./events.ts";
import type { Message, Turn } from "./options.ts";

const WINDOW_TOKENS = 200_000;
/** Input tokens that the last response of the long conversation reports. */
const REPORTED_TOKENS = 165_000;

/** Creates the last rounds of a long conversation. Each round reports the usage of the whole conversation. */
function endOfLongWork(): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let round = 8; round >= 0; round--) {
    c.tool(`t${round}`, "Read", { file_path: `/project/${round}.ts` }, "text ".repeat(800), {
      usage: usage(1_000, 50, REPORTED_TOKENS - round * 1_000),
    });
  }
  return c;
}

/** Runs the first turn of a process that resumes the conversation. */
async function resume(conversation: readonly Entry[]): Promise<Turn & { events: readonly CompactorEvent[] }> {
  const events: CompactorEvent[] = [];
  const compactor = createCompactor({
    model: "claude-sonnet-5",
    window: { tokens: WINDOW_TOKENS },
    request: { system: "You are careful.", max_tokens: 1_000 },
    clearing: { form: "off" },
    settings: { environment: {} },
    host: { onEvent: (event) => events.push(event) },
  });
  return { ...(await compactor.before(conversation)), events };
}

const typesOf = (events: readonly CompactorEvent[]): readonly string[] => events.map(({ type }) => type);

describe("token count of a resumed session", () => {
  it("after a compaction, a resumed session ignores the usage reports on the messages that were kept", async () => {
    const c = endOfLongWork();
    const kept = [...c.entries];
    const [boundary, summary, next] = [c.boundary(), c.summary("earlier work"), c.user("continue")];
    const { tokens, skipped, events } = await resume([boundary, summary, ...kept, next]);
    expect(tokens).toBeLessThan(20_000);
    expect(skipped).toBe("below-threshold");
    expect(typesOf(events)).toEqual(["window-checked"]);
  });

  it("after a collapse, a resumed session subtracts the collapsed tokens from the last usage report", async () => {
    const c = endOfLongWork();
    const span: CollapsedSpan = {
      ...c.link(),
      type: "user",
      isMeta: true,
      message: { role: "user", content: "earlier work" },
      collapsed: { spanId: "s", messages: 90, uuids: ["gone"], tokensBefore: 140_100, tokensAfter: 100 },
    };
    const mark: CollapseMark = {
      ...c.link(),
      type: "system",
      subtype: "collapse_committed",
      collapse: { spanIds: ["s"], tokensSaved: 140_000 },
    };
    const { tokens, events } = await resume([span, ...c.entries, mark, c.user("continue")]);
    const left = REPORTED_TOKENS + 1_000 - 140_000;
    expect(tokens).toBeGreaterThan(left);
    expect(tokens).toBeLessThan(left + 3_000);
    expect(typesOf(events)).toEqual(["window-checked"]);
  });

  it("does not calibrate its estimate by usage reports on tool results that were cleared later", async () => {
    const c = new ConversationBuilder();
    let reported = 0;
    for (let round = 0; round < 12; round++) {
      reported += 4_000;
      const facts = { usage: usage(1_000, 50, reported - 1_000) };
      c.tool(`t${round}`, "Read", { file_path: `/project/${round}.ts` }, "text ".repeat(3_200), facts);
    }
    const whole = await resume(c.entries);
    const cleared = Array.from({ length: 8 }, (_, round) => `t${round}`);
    const mark: MicrocompactBoundaryEntry = {
      ...c.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: cleared, preTokens: reported, tokensSaved: 30_000 },
    };
    const news = c.user("text ".repeat(8_000));
    const { tokens } = await resume([...c.entries.slice(0, -1), mark, news]);
    expect(whole.tokens).toBeGreaterThan(reported);
    // The new text counts as 8,000 provider tokens, plus at most the usual margin of a third.
    expect(tokens - (whole.tokens - 30_000)).toBeLessThan(8_000 * 1.4);
  });

  it("does not treat the error of one usage report as tokens of the system prompt and tools", async () => {
    const c = new ConversationBuilder();
    for (let round = 0; round < 12; round++) {
      const words = `word${round} `.repeat(1_000);
      c.tool(`t${round}`, "Read", { file_path: `/project/${round}.ts` }, words);
    }
    const compactor = createCompactor({
      model: "claude-mythos-5-2",
      window: { tokens: WINDOW_TOKENS },
      request: { system: "You are careful. ".repeat(100), max_tokens: 1_000 },
      compaction: { summarizer: "built-in", keepRecentTokens: 0 },
      settings: { environment: {} },
    });
    const first = await compactor.before(c.entries);
    compactor.after({ usage: { input_tokens: Math.round(first.tokens * 1.25), output_tokens: 10 } });
    const { tokens } = await compactor.compact(c.entries, { force: true });
    expect(first.tokens).toBeGreaterThan(14_000);
    expect(tokens).toBeLessThan(5_000);
  });
});

describe("a usage report on a list that the host changes afterwards", () => {
  it.each(["entries", "messages"])(
    "does not apply a usage report to a list of %s that the host changed after the request",
    async (form) => {
      const compactor = createCompactor({ model: "claude-haiku-4-5", settings: { environment: {} } });
      const c = new ConversationBuilder();
      c.user("Put the books in order.");
      c.assistant("Which books?");
      c.user(`These: ${"page ".repeat(20_000)}`);
      const inForm = (entries: readonly Entry[]): readonly Message[] =>
        form === "entries"
          ? entries
          : entries.flatMap((entry) => ("message" in entry ? [bodyOf(entry)] : []));
      const list = inForm([...c.entries]);
      await compactor.before(list);
      const report = usage(26_000, 50);
      const reply = c.assistant("Done.", { id: "msg_1", usage: report });
      compactor.after({ id: "msg_1", usage: report });
      const next = c.user("Thank you.");
      const short = { role: "user", content: "None." } as const;
      const changed = form === "entries" ? { ...c.entries[2], message: short } : short;
      const { tokens } = await compactor.before([
        ...list.slice(0, 2),
        changed as Message,
        ...inForm([reply, next]),
      ]);
      expect(tokens).toBeLessThan(5_000);
    },
  );
});

const bodyOf = (entry: Entry): ApiMessage => {
  const { role, content } = (entry as { message: ApiMessage }).message;
  return { role, content } as ApiMessage;
};
