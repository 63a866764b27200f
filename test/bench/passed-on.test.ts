import { contentText } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { passedOn } from "../../bench/fidelity/passed-on.ts";
import { sourceMessages } from "../../bench/fidelity/source-messages.ts";
import { ConversationBuilder, toolResult, toolUse } from "../support/builders.ts";

const textOf = (entry: Entry): string =>
  "message" in entry ? contentText((entry.message as { content: unknown }).content) : "";

const textsIn = (prompt: string, entries: readonly Entry[], earlier: readonly string[] = []): string[] =>
  passedOn(prompt, sourceMessages(entries), earlier).map(textOf);

function conversationOf(texts: readonly string[]): readonly Entry[] {
  const builder = new ConversationBuilder();
  for (const [at, text] of texts.entries()) at % 2 === 0 ? builder.user(text) : builder.assistant(text);
  return builder.entries;
}

/** Texts that are long enough to be distinguished. */
const texts = (): fc.Arbitrary<string[]> =>
  fc
    .array(fc.string({ maxLength: 120 }), { minLength: 1, maxLength: 8 })
    .map((list) =>
      list.map(
        (text, at) => `message number ${at}: ${text.replace(/\s+/g, " ").trim()} (end of number ${at})`,
      ),
    );

describe("what a library passed on for summarization", () => {
  it("finds exactly the messages that the prompt contains, in their order", () => {
    fc.assert(
      fc.property(texts(), fc.infiniteStream(fc.boolean()), (list, coin) => {
        const shown = list.filter(() => coin.next().value);
        const prompt = `Summarize this.\n${shown.map((text) => `[Speaker]: ${text}`).join("\n\n")}\nBe brief.`;
        expect(textsIn(prompt, conversationOf(list))).toEqual(shown);
      }),
      { numRuns: 300 },
    );
  });

  it("finds the part of a text that truncation left, whichever end it cut", () => {
    const sentence = "This sentence makes every text long enough to be recognized by one of its two ends.";
    fc.assert(
      fc.property(texts(), fc.nat(40), fc.boolean(), ([first = ""], cut, isStart) => {
        const text = `${sentence} ${first} ${sentence.toUpperCase()}`;
        const left = isStart ? text.slice(0, text.length - cut) : text.slice(cut);
        const prompt = `<conversation>\0${left}\0 [truncated]`;
        expect(textsIn(prompt, conversationOf([text]))).toEqual([left]);
      }),
      { numRuns: 200 },
    );
  });

  it("finds a short message between its neighbors", () => {
    const list = ["Please rename the parser to reader.", "ok", "Which of the two should I rename first?"];
    const prompt = list.map((text) => `Human: ${text}`).join("\n");
    expect(textsIn(`Is this ok?\n${prompt}`, conversationOf(list))).toEqual(list);
  });

  it("keeps the lines of a text that the library changed in places", () => {
    const text = "the first line of the message\nthe cost is $$5 in this line\nthe last line of the message";
    const changed = text.replace("$$5", "$5");
    const [found = ""] = textsIn(`Human: ${changed}`, conversationOf([text]));
    expect(found).toContain("the first line of the message\n");
    expect(found).toContain("\nthe last line of the message");
  });

  it("keeps the arguments of a call and the shown start of its result", () => {
    const builder = new ConversationBuilder();
    const output = "line of the output that is long enough\n".repeat(20);
    builder.assistant([toolUse("toolu_1", "Bash", { command: 'grep -n "parse" src/reader.ts' })]);
    builder.user([toolResult("toolu_1", output)]);
    const command = JSON.stringify('grep -n "parse" src/reader.ts');
    const prompt = `[calls]: Bash(command=${command})\n\n[result]: ${output.slice(0, 100)}\n[... truncated]`;
    const seen = passedOn(prompt, sourceMessages(builder.entries), []);
    expect(JSON.stringify(seen[0])).toContain(JSON.stringify({ command: 'grep -n "parse" src/reader.ts' }));
    expect(JSON.stringify(seen[1])).toContain("line of the output");
    expect(JSON.stringify(seen[1]).length).toBeLessThan(500);
  });

  it("returns an earlier summary without the words of the library around it", () => {
    const summary = "# Summary\n## 1. Primary Request and Intent\nRename the parser to reader everywhere.";
    const entries: Entry[] = [
      {
        ...{ type: "user", uuid: "s", parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" },
        isCompactSummary: true,
        message: { role: "user", content: `Here is a summary:\n\n${summary}` },
      },
    ];
    const seen = passedOn(`Human: Here is a summary:\n\n${summary}\nHuman: go on`, sourceMessages(entries), [
      summary.replace("everywhere", "in src"),
      summary,
    ]);
    expect(seen.map((entry) => [textOf(entry), entry.type === "user" && entry.isCompactSummary])).toEqual([
      [summary, true],
    ]);
  });

  it("leaves out fields that repeat a result without its truncation", () => {
    const builder = new ConversationBuilder();
    builder.assistant([toolUse("toolu_1", "Read", { file_path: "/project/src/reader.ts" })]);
    builder.user([toolResult("toolu_1", "export const reader = 1;")]);
    const entries = builder.entries.map((entry) => ({ ...entry, toolUseResult: "the whole file" }) as Entry);
    const prompt = 'Read(file_path="/project/src/reader.ts") export const reader = 1;';
    expect(JSON.stringify(passedOn(prompt, sourceMessages(entries), []))).not.toContain("the whole file");
  });
});
