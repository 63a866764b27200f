import { LonghaulError } from "@longhaul/core/errors";
import type { Model, ModelRequest } from "@longhaul/core/models";
import { ModelError } from "@longhaul/core/models";
import { checkRequest, flatten } from "@longhaul/core/request";
import { type Script, type ScriptedModel, scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkOf, NOTES, PATH, request, sampleConversation } from "../../../test/notes/extraction.case.ts";
import { arbitraryEntries } from "../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolUse } from "../../../test/support/builders.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { contentBlocks } from "../../core/src/messages/message.ts";
import { type ExtractionRequest, extractNotes } from "./extract-notes.ts";
import { isNotesRequest, NOTES_SYSTEM_PROMPT } from "./notes-prompt.ts";

const note = (words: string, section = "Worklog"): string =>
  `<note section="${section}" mode="append">\n${words}\n</note>`;
const GOOD = note("- counted the boats");
const UNKNOWN = note("rain", "Weather");
const usage = (input: number, output: number, read = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: read,
});
const overloaded = (): ModelError => new ModelError({ kind: "other", retry: false }, "broken");
const tooLong = (tokens = 12_000, limit = 10_000): ModelError =>
  new ModelError({ kind: "too-long", tokens, limit }, "too long");

const forking = (script: Script, more: Partial<ExtractionRequest> = {}): Forking => {
  const model = scriptedModel(script, { capabilities: { promptCache: true } });
  return { model, request: request({ fork: forkOf(model), ...more }) };
};
interface Forking {
  readonly model: ScriptedModel;
  readonly request: ExtractionRequest;
}

const longConversation = (): ConversationBuilder => {
  const built = new ConversationBuilder();
  for (let round = 0; round < 12; round++) {
    built.user(`wish-${round} please`);
    built.tool(`t${round}`, "Read", { file_path: `/f-${round}.ts` }, `line-${round}\n`.repeat(200));
  }
  return built;
};

const lastText = (sent: ModelRequest | undefined): string => {
  const last = contentBlocks(sent?.messages.at(-1)?.content).at(-1);
  return last?.type === "text" ? last.text : "";
};

describe("extractNotes in a fork of the conversation", () => {
  it("extractNotes sends the conversation followed by the notes request, and applies the edits of the answer", async () => {
    const { model, request: asked } = forking([{ content: GOOD, usage: usage(7, 3, 90) }]);
    const outcome = await extractNotes(asked);
    expect(outcome).toMatchObject({ by: "fork", edits: 1, refused: 0, calls: 1, isComplete: true });
    expect(outcome.usage).toMatchObject(usage(7, 3, 90));
    expect(outcome.notes.sections.at(-1)?.body).toBe("- counted the boats");
    expect(outcome.notes.coveredUuid).toBe(NOTES.coveredUuid);
    const [sent] = model.requests;
    expect(sent?.messages.slice(0, -1)).toEqual(flatten(sampleConversation().entries));
    expect(isNotesRequest(lastText(sent))).toBe(true);
    expect(sent?.system).toBe("You count.");
  });

  it("extractNotes sends the reason for a refused edit to the model, keeps good edits, and adds up the usage", async () => {
    const { model, request: asked } = forking([
      { content: `${GOOD}\n${UNKNOWN}`, usage: usage(7, 3, 90) },
      { content: note("rain", "Learnings"), usage: usage(20, 2, 90) },
    ]);
    const outcome = await extractNotes(asked);
    expect(outcome).toMatchObject({ edits: 2, refused: 1, calls: 2, isComplete: true });
    expect(outcome.usage).toMatchObject(usage(27, 5, 180));
    const [first, second] = model.requests;
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(second?.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: [{ text: `${GOOD}\n${UNKNOWN}` }] },
      { role: "user", content: [{ text: expect.stringContaining('The note for "Weather"') }] },
    ]);
  });

  it("extractNotes gives up after three answers with refused edits and reports the notes as incomplete", async () => {
    const { model, request: asked } = forking((_, index) => (index === 0 ? `${GOOD}${UNKNOWN}` : UNKNOWN));
    expect(await extractNotes(asked)).toMatchObject({ edits: 1, refused: 3, calls: 3, isComplete: false });
    expect(model.requests).toHaveLength(3);
  });

  it("reports incomplete notes if the model ignores a refused edit, but complete notes if it withdraws the edit", async () => {
    const silent = forking([`${GOOD}${UNKNOWN}`, "Fine."]);
    expect(await extractNotes(silent.request)).toMatchObject({ calls: 2, edits: 1, isComplete: false });
    const withdrawn = forking([`${GOOD}${UNKNOWN}`, "NOTHING TO NOTE"]);
    expect(await extractNotes(withdrawn.request)).toMatchObject({ calls: 2, edits: 1, isComplete: true });
  });

  it("extractNotes keeps the good edits of an answer when a later call fails", async () => {
    const { request: asked } = forking([`${GOOD}${UNKNOWN}`, overloaded()]);
    expect(await extractNotes(asked)).toMatchObject({ edits: 1, refused: 1, calls: 2, isComplete: false });
  });

  it("extractNotes fails with the error of a failed call if no edit was applied before that call", async () => {
    await expect(extractNotes(forking([overloaded()]).request)).rejects.toMatchObject({
      code: "model-other",
    });
    await expect(extractNotes(forking([UNKNOWN, overloaded()]).request)).rejects.toMatchObject({
      code: "model-other",
    });
  });

  it("extractNotes leaves the notes unchanged when the model answers NOTHING TO NOTE", async () => {
    const outcome = await extractNotes(forking(["NOTHING TO NOTE"]).request);
    expect(outcome).toMatchObject({ edits: 0, refused: 0, calls: 1, isComplete: true });
    expect(outcome.notes).toBe(NOTES);
  });

  it.each([
    ["contains no edit", ["I will remember."], /contains no edit/],
    ["is empty", [""], /contains no edit/],
    ["was cut off", [{ content: "", stopReason: "max_tokens" as const }], /output limit/],
    ["is refused three times", [UNKNOWN, UNKNOWN, UNKNOWN], /could not apply any of its edits/],
  ])(
    "extractNotes fails with the reason and the usage when the model's answer %s",
    async (_, script, reason) => {
      const failure: unknown = await extractNotes(forking(script).request).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(LonghaulError);
      expect(failure).toMatchObject({
        code: "notes-reply-unusable",
        message: expect.stringMatching(reason),
        usage: { input_tokens: expect.any(Number) },
      });
    },
  );

  it("extractNotes makes no further call when the context window has no room for another call", async () => {
    const { model, request: asked } = forking([
      { content: `${GOOD}${UNKNOWN}`, stopReason: "model_context_window_exceeded" },
    ]);
    expect(await extractNotes(asked)).toMatchObject({ by: "fork", edits: 1, calls: 1, isComplete: false });
    expect(model.requests).toHaveLength(1);
  });
});

describe("extractNotes in a separate call with only the new messages", () => {
  it("a separate notes call sends only the new messages and asks for note blocks instead of tool calls", async () => {
    const model = scriptedModel([GOOD]);
    const { entries } = sampleConversation();
    const outcome = await extractNotes(request({ model, fresh: entries.slice(-1) }));
    expect(outcome).toMatchObject({ by: "direct", edits: 1, calls: 1 });
    const [sent] = model.requests;
    expect(sent).toMatchObject({
      system: NOTES_SYSTEM_PROMPT,
      thinking: { type: "disabled" },
      max_tokens: 13_000,
    });
    expect(JSON.stringify(sent?.messages)).not.toContain("Count the boats.");
    expect(lastText(sent)).toMatch(/conversation above is not complete.*<note section=/s);
  });

  it("a separate notes call continues after refused edits, as a fork does", async () => {
    const model = scriptedModel([[toolUse("x", "look", {})], UNKNOWN, GOOD].map((content) => ({ content })));
    expect(await extractNotes(request({ model }))).toMatchObject({ edits: 1, refused: 2, calls: 3 });
    for (const sent of model.requests) expect(checkRequest(sent).findings).toEqual([]);
    expect(model.requests.at(-1)?.tools?.map(({ name }) => name)).toEqual(["look"]);
  });

  it.each([
    ["forces a tool call", { frame: { tool_choice: { type: "any" as const } } }, 0],
    ["leaves too few output tokens", { frame: { max_tokens: 500 } }, 0],
    ["is too long", {}, 1],
  ])("extractNotes makes a separate call when the request of the fork %s", async (_, more, forks) => {
    const fork = scriptedModel([tooLong()]);
    const model = scriptedModel([GOOD], { name: "small" });
    const outcome = await extractNotes(request({ model, fork: { ...forkOf(fork), ...more } }));
    expect(outcome).toMatchObject({ by: "direct", edits: 1, calls: forks + 1 });
    expect(fork.requests).toHaveLength(forks);
  });

  it("if the fork filled the window and no other model is set, makes the separate notes call with the fork's model", async () => {
    const full = { content: "", stopReason: "model_context_window_exceeded" as const, usage: usage(100, 0) };
    const { model, request: asked } = forking([full, { content: GOOD, usage: usage(9, 2) }]);
    const outcome = await extractNotes(asked);
    expect(outcome).toMatchObject({ by: "direct", edits: 1, calls: 2 });
    expect(outcome.usage).toMatchObject(usage(109, 2));
    expect(model.requests.at(-1)?.system).toBe(NOTES_SYSTEM_PROMPT);
  });

  it("sends the newest messages and a digest of the older ones when the new messages are too long", async () => {
    const { entries } = longConversation();
    const model = scriptedModel([tooLong(), GOOD]);
    const outcome = await extractNotes(request({ model, entries, fresh: entries }));
    expect(outcome).toMatchObject({ by: "direct", edits: 1, calls: 2 });
    const sent = model.requests[1];
    const [digest] = contentBlocks(sent?.messages[0]?.content);
    expect(digest?.type === "text" && digest.text).toMatch(/^\[The oldest part of the new messages.*wish-0/s);
    expect(JSON.stringify(sent?.messages)).not.toContain("line-0\\n");
    expect(JSON.stringify(sent?.messages)).toContain("line-11\\n");
    expect(checkRequest(sent ?? { messages: [] }).findings).toEqual([]);
  });

  it("lets the model correct refused edits even after several notes calls failed because they were too long", async () => {
    const { entries } = longConversation();
    const answers = [`${GOOD}${UNKNOWN}`, note("rain", "Learnings")];
    const { request: asked } = forking([tooLong(), tooLong(), ...answers], { entries, fresh: entries });
    expect(await extractNotes(asked)).toMatchObject({ by: "direct", edits: 2, calls: 4, isComplete: true });
  });

  it("leaves cleared tool results out of the notes request", async () => {
    const model = scriptedModel([GOOD]);
    await extractNotes(request({ model, clearedToolUseIds: new Set(["t1"]) }));
    expect(JSON.stringify(model.requests[0])).not.toContain("nine boats");
  });

  it("extractNotes fails with model-too-long when even the shortened request is too long", async () => {
    const model = scriptedModel(() => tooLong());
    await expect(extractNotes(request({ model }))).rejects.toMatchObject({ code: "model-too-long" });
  });
});

describe("an abort of the notes extraction", () => {
  const hanging = { content: GOOD, hangs: true };
  it.each([
    ["before anything was sent", 0, []],
    ["during the fork's first call", 1, [hanging]],
    ["during a later call, even after a good edit", 2, [`${GOOD}${UNKNOWN}`, hanging]],
    ["during the last call", 3, [UNKNOWN, UNKNOWN, hanging]],
    ["during the direct call", 2, [tooLong(), hanging]],
  ] as const)("ends the notes extraction at once on an abort %s", async (_, calls, script) => {
    const controller = new AbortController();
    const { model, request: asked } = forking(
      (_request, index) => {
        if (index === calls - 1) setTimeout(() => controller.abort());
        return script[index] ?? overloaded();
      },
      { signal: controller.signal },
    );
    if (calls === 0) controller.abort();
    await expect(extractNotes(asked)).rejects.toMatchObject({ code: "model-aborted" });
    expect(model.requests).toHaveLength(calls);
  });

  it("extractNotes reports an abort even if the model ignores the signal and answers or fails", async () => {
    for (const answer of [GOOD, overloaded()]) {
      const controller = new AbortController();
      const { model, request: asked } = forking(() => {
        controller.abort();
        return answer;
      });
      const deaf: Model = { ...model, stream: (sent) => model.stream(sent) };
      const extraction = extractNotes({ ...asked, fork: forkOf(deaf), signal: controller.signal });
      await expect(extraction).rejects.toMatchObject({ code: "model-aborted" });
    }
  });
});

describe("extractNotes, for any conversation and any answers", () => {
  const answers = fc.array(
    fc.constantFrom(
      GOOD,
      UNKNOWN,
      `${GOOD}${UNKNOWN}`,
      "talk",
      { content: [toolUse("x", "look", {})] },
      { content: [toolUse("x", "Edit", { file_path: PATH, old_string: "# Worklog", new_string: "#" })] },
      { content: `${GOOD}<note section="Work`, stopReason: "max_tokens" as const },
      { content: [] },
      tooLong(),
    ),
    { minLength: 8, maxLength: 8 },
  );

  it("extractNotes sends only valid requests, and a fork contains the unchanged conversation", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), answers, fc.boolean(), async (entries, script, forks) => {
        const model = scriptedModel(script);
        const fork = forks ? forkOf(model) : undefined;
        const asked = request({ model, fork, entries: deepFreeze(entries), fresh: entries.slice(-3) });
        const outcome = await extractNotes(asked).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(LonghaulError);
        const shared = flatten(entries).slice(0, -1);
        for (const sent of model.requests) {
          expect(checkRequest({ ...sent, model: "m" }).findings).toEqual([]);
          if (sent.system !== NOTES_SYSTEM_PROMPT)
            expect(sent.messages.slice(0, shared.length)).toEqual(shared);
        }
      }),
    );
  });
});
