import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { type Compactor, createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { CompactorEvent } from "../../engine/events.ts";
import type { Message } from "../../engine/options.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { isCollapsedSpan } from "../../messages/stand-ins.ts";

const START: ApiMessage = { role: "user", content: "go" };

const round = (nth: number): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(`t${nth}`, "Bash", { command: `run ${nth}` })] },
  { role: "user", content: [toolResult(`t${nth}`, `word${nth} `.repeat(120))] },
];

/** Changes the newest message for one call, like a host that adds a reminder to it. */
const withReminder = (message: ApiMessage, words: string): ApiMessage => ({
  role: message.role,
  content: [...(message.content as readonly never[]), { type: "text", text: words }],
});

class Host {
  readonly events: CompactorEvent[] = [];
  readonly compactor: Compactor = createCompactor({
    settings: { environment: {} },
    window: { tokens: 20_000 },
    clearing: { form: "off" },
    collapse: { summarizer: "built-in" },
    host: { onEvent: (event) => this.events.push(event) },
  });
  messages: readonly ApiMessage[] = [START];

  spans(type: "span-staged" | "spans-committed"): number {
    return this.events.filter((event) => event.type === type).length;
  }

  async turn(nth: number, words?: string): Promise<void> {
    const [call, result] = round(nth) as [ApiMessage, ApiMessage];
    const sent = words === undefined ? result : withReminder(result, words);
    const { messages } = await this.compactor.before([...this.messages, call, sent]);
    this.compactor.after({});
    // The engine summarizes spans in the background.
    await new Promise((resolve) => setImmediate(resolve));
    this.messages = words === undefined ? messages : messages.with(-1, result);
  }
}

async function hostAfter(turns: number, words?: (nth: number) => string): Promise<Host> {
  const host = new Host();
  for (let nth = 0; nth < turns; nth++) await host.turn(nth, words?.(nth));
  return host;
}

describe("span collapse for a host that changes its messages", () => {
  it("does not summarize the same spans again when the host changes its newest message", async () => {
    const usual = await hostAfter(50);
    const changing = await hostAfter(50, (nth) => `reminder ${nth}`);
    expect(usual.spans("span-staged")).toBeGreaterThan(2);
    expect(changing.spans("span-staged")).toBeLessThanOrEqual(usual.spans("span-staged") + 1);
  });

  it("does not replace messages with a prepared summary if the host has since changed those messages", async () => {
    const { compactor, events } = new Host();
    const isThere = (type: string): boolean => events.some((event) => event.type === type);
    const asEntry = (message: ApiMessage, at: number): Message =>
      ({ uuid: `e${at}`, parentUuid: null, timestamp: "", type: message.role, message }) as unknown as Entry;
    let messages: readonly Message[] = [START].map(asEntry);
    const work = async (): Promise<void> => {
      const next = round(messages.length).map((message, at) => asEntry(message, messages.length + at));
      ({ messages } = await compactor.before([...messages, ...next]));
      compactor.after({});
      await new Promise((resolve) => setImmediate(resolve));
    };
    while (!isThere("span-staged")) await work();
    messages = messages.with(0, asEntry({ role: "user", content: "go elsewhere" }, 0));
    while (!isThere("spans-committed")) await work();
    const [summary] = messages.filter((message) => isCollapsedSpan(message as Entry));
    expect(JSON.stringify(summary)).toContain("go elsewhere");
  });

  it("expands collapsed spans after the host drops its newest messages, even without a transcript", async () => {
    const host = new Host();
    for (let nth = 0; host.spans("spans-committed") < 1; nth++) await host.turn(nth);
    const back = host.messages.slice(0, -2);
    expect(JSON.stringify(back)).not.toContain("word0");
    await host.compactor.before(back);
    const { messages } = await host.compactor.expand(back);
    expect(JSON.stringify(messages)).toContain("word0 word0");
  });
});
