import { scriptedModel } from "@longhaul/simulator";
import { expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { CompactorEvent } from "../../engine/events.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { isCollapsedSpan } from "../../messages/stand-ins.ts";
import { asCondensed } from "./summarize-span.ts";

const round = (nth: number): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(`t${nth}`, "Bash", { command: `run ${nth}` })] },
  { role: "user", content: [toolResult(`t${nth}`, `word${nth} `.repeat(120))] },
];

it("a span that was summarized during a transcript write is not summarized again", async () => {
  const events: CompactorEvent[] = [];
  const countEvents = (type: CompactorEvent["type"]): number =>
    events.filter((event) => event.type === type).length;
  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  let isWriting = false;
  const summaryModel = scriptedModel(async (_, index) => {
    while (index === 1 && !isWriting) await soon();
    return asCondensed("- Work was done.");
  });
  const compactor = createCompactor({
    settings: { environment: {} },
    window: { tokens: 20_000 },
    clearing: { form: "off" },
    compaction: { model: summaryModel },
    collapse: {},
    host: { onEvent: (event) => events.push(event) },
    transcript: {
      path: "/t.jsonl",
      append: async (entries) => {
        if (!entries.some(isCollapsedSpan) || countEvents("span-staged") > 1) return;
        isWriting = true;
        while (countEvents("span-staged") < 2) await soon();
      },
    },
  });
  let messages: readonly ApiMessage[] = [{ role: "user", content: "go" }];
  for (let nth = 0; countEvents("spans-committed") < 2; nth++) {
    ({ messages } = await compactor.before([...messages, ...round(nth)]));
    compactor.after({});
    await soon();
  }
  const begunAt = summaryModel.requests.map(
    (request) => /run \d+/.exec(JSON.stringify(request.messages))?.[0],
  );
  expect(begunAt.length).toBeGreaterThan(2);
  expect(new Set(begunAt).size).toBe(begunAt.length);
  await compactor.close();
});
