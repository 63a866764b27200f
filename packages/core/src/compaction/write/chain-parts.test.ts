import { type ScriptedAnswer, scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BROKEN,
  conversation,
  failing,
  forkOf,
  GOOD,
  named,
  run,
  task,
} from "../../../../../test/summary/scripted-chain.ts";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import type { ModelRequest } from "../../models/port.ts";
import { checkRequest } from "../../request/check/check.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { presentSections, SECTION_NAMES } from "../summary/summary-message.ts";

describe("summaries of a part of a conversation", () => {
  const { entries } = conversation();
  const from = task({ variant: "from", kept: entries.slice(0, 4), summarized: entries.slice(4) });
  const upTo = task({ variant: "up-to", summarized: entries.slice(0, 4), kept: entries.slice(4) });
  const texts = ({ messages }: ModelRequest): string => JSON.stringify(messages);

  it("a fork sends the whole conversation and names the message that starts the later part", async () => {
    for (const part of [from, upTo]) {
      const model = named("m", GOOD);
      await run({ model, fork: forkOf(model) }, part);
      const [request = { messages: [] }] = model.requests;
      expect(request.messages.slice(0, -1)).toEqual(flatten(entries));
      expect(texts(request)).toContain(String.raw`begins with \"request-2\" (message 8 when you count back`);
    }
  });

  it("a direct call sends kept messages only if they come before the summarized part", async () => {
    const later = named("m", GOOD);
    await run({ model: later }, from);
    expect(texts(later.requests[0] ?? { messages: [] })).toMatch(/request-0.*request-5.*do not repeat them/s);
    const earlier = named("m", GOOD);
    await run({ model: earlier }, upTo);
    const sent = texts(earlier.requests[0] ?? { messages: [] });
    expect(sent).toMatch(/request-1.*which you do not see.*Work Completed/s);
    expect(sent).not.toContain("request-2");
  });

  it("the built-in summarizer summarizes only the given part of a conversation", async () => {
    const later = await run({}, from);
    expect(later.text).not.toContain("request-1");
    expect(later.text).toContain("request-5");
    const earlier = await run({}, upTo);
    expect(earlier.text).not.toContain("request-2");
    expect(earlier.text).toMatch(/## 8\. Work Completed.*## 9\. Context for Continuing Work/s);
    expect(presentSections(earlier.text)).toEqual(SECTION_NAMES);
  });

  it("asks the model to update an earlier summary only if the summarized part starts with it", async () => {
    const ours = conversation();
    const [first] = ours.entries;
    const marks = [
      [ours.summary("Summary: sheep"), true],
      [{ ...ours.assistant("sheep"), isCompactSummary: true }, true],
      [first ?? ours.user("x"), false],
    ] as const;
    for (const [begin, isEarlier] of marks) {
      const model = named("m", BROKEN, GOOD);
      await run({ model, fork: forkOf(model) }, task({ summarized: [begin, ...entries] }));
      const asked = model.requests.map((request) => texts(request).includes("start with an earlier summary"));
      expect(asked).toEqual([isEarlier, isEarlier]);
    }
    const model = named("m", GOOD);
    await run({ model, fork: forkOf(model) }, { ...from, kept: [ours.summary("sheep"), ...from.kept] });
    expect(texts(model.requests[0] ?? { messages: [] })).not.toContain("start with an earlier summary");
  });

  it("a summary of the whole conversation also covers the newest messages, which stay verbatim", async () => {
    const whole = task({ summarized: entries.slice(0, 8), kept: entries.slice(8) });
    const model = named("m", GOOD);
    await run({ model }, whole);
    expect(texts(model.requests[0] ?? { messages: [] })).toMatch(/request-5.*stay verbatim after your/s);
    expect((await run({}, whole)).text).toContain("request-5");
    const forked = named("m", GOOD);
    await run({ model: forked, fork: forkOf(forked) }, whole);
    expect(texts(forked.requests[0] ?? { messages: [] })).toMatch(/stay verbatim after your/);
  });
});

describe("summaries of any conversation after any failures", () => {
  it("writes a summary of any part of a conversation after any failures, with only valid requests", async () => {
    const tooLong = failing({ kind: "too-long", tokens: 1_100, limit: 1_000 });
    const answer = fc.constantFrom<ScriptedAnswer>(GOOD, tooLong, BROKEN, "", "noise");
    const variant = fc.constantFrom("whole", "from", "up-to");
    await fc.assert(
      fc.asyncProperty(
        arbitraryEntries(),
        variant,
        fc.nat(20),
        fc.array(answer, { maxLength: 6 }),
        async (list, part, at, answers) => {
          const [older, newer] = [list.slice(0, at), list.slice(at)];
          const [summarized, kept] = part === "from" ? [newer, older] : [older, newer];
          const model = scriptedModel(answers);
          const of = task({ variant: part, summarized: deepFreeze(summarized), kept: deepFreeze(kept) });
          const { text, attempts } = await run({ model, fork: forkOf(model) }, of);
          expect(presentSections(text)).toEqual(SECTION_NAMES);
          expect(attempts.at(-1)?.outcome).toBe("written");
          for (const request of model.requests) expect(checkRequest(request).findings).toEqual([]);
        },
      ),
    );
  });
});
