import { join } from "node:path";
import type { ApiMessage } from "@longhaul/core";
import { openTranscript } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { collectGarbage, Traces } from "../engine/garbage.case.ts";
import { createCompactor } from "../support/full-compactor.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();

const task = (): readonly ApiMessage[] => [
  { role: "user", content: "the task" },
  ...Array.from({ length: 30 }, (_, nth): readonly ApiMessage[] => [
    { role: "assistant", content: [{ type: "text", text: `round ${nth} ${"word ".repeat(100)}` }] },
    { role: "user", content: `and then ${nth}` },
  ]).flat(),
];

it("the engine keeps only the current conversation in memory after an undo or a redo", async () => {
  const transcript = await openTranscript(join(folder, "session.jsonl"));
  const engine = createCompactor({ settings: { environment: {} }, window: { tokens: 12_000 }, transcript });
  const traces = new Traces();
  let { messages } = await engine.compact(task());
  for (let times = 0; times < 3; times++) {
    ({ messages } = await engine.undo(messages));
    traces.add(messages);
    ({ messages } = await engine.redo(messages));
    traces.add(messages);
  }
  ({ messages } = await engine.before(messages));
  collectGarbage();
  expect(traces.count).toBeGreaterThan(60);
  expect(traces.retainedOutside(messages)).toBeLessThan(5);
  await engine.close();
  await transcript.close();
});
