import { continuationMessage, type SummaryPromptOptions, summaryPrompt } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";

// The rules for a summary. Each rule is written out here and must occur in the prompt exactly once. The test
// copies no text from the modules of the prompts.

const POINT = { description: `the user's message that begins with "Now the ledger"`, messages: 7 };
const VARIANTS: Readonly<Record<string, SummaryPromptOptions>> = {
  "the whole conversation": {},
  "an incremental summary": { hasEarlierSummary: true },
  "a summary from a message": { variant: "from", point: POINT },
  "a summary up to a message": { variant: "up-to", point: POINT },
};
const EVERY = Object.keys(VARIANTS);
const NOT_UP_TO = EVERY.filter((name) => name !== "a summary up to a message");

const timesIn = (text: string, sentence: string): number => text.split(sentence).length - 1;

/** Expects each sentence once and in this order in these variants, and never in the other variants. */
function expectOnce(sentences: readonly string[], variants: readonly string[] = EVERY): void {
  for (const [name, options] of Object.entries(VARIANTS)) {
    const prompt = summaryPrompt(options);
    const times = variants.includes(name) ? 1 : 0;
    for (const sentence of sentences)
      expect([name, sentence, timesIn(prompt, sentence)]).toEqual([name, sentence, times]);
    const places = sentences.map((sentence) => prompt.indexOf(sentence));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
}

describe("the request to a model for a summary", () => {
  it("the summary request starts and ends with the rule to answer in plain text and to call no tools", () => {
    const rule =
      "Answer with plain text only. Do not call any tool. If you call a tool, the call is not executed and your answer is lost.";
    for (const options of [...Object.values(VARIANTS), { instructions: "Keep the ports." }]) {
      const prompt = summaryPrompt(options);
      expect(prompt.startsWith(rule)).toBe(true);
      expect(prompt.endsWith(`Reminder: ${rule}`)).toBe(true);
      expect(timesIn(prompt, rule)).toBe(2);
    }
  });

  it("the summary request asks for an analysis block and then a summary block", () => {
    expectOnce([
      "First, think in an <analysis> block.",
      "The <analysis> block is a scratchpad and is discarded.",
      "Then write a <summary> block with these nine numbered sections, in this order and with these names.",
      "\n<analysis>\n",
      "\n</analysis>\n\n<summary>\n",
      "\n</summary>\n",
    ]);
  });

  it("the summary request lists the topics of the analysis in order, from requests to user feedback", () => {
    expectOnce([
      "Go through the messages to summarize in order. For each step, note:",
      "\n- what the user requested\n",
      "\n- how the assistant approached it\n",
      "\n- which decisions were made, and why\n",
      "\n- which code and files were involved\n",
      "\n- which errors occurred, and how they were fixed\n",
      "\n- which feedback the user gave, above all where the user wanted something done differently\n",
    ]);
  });

  it("the summary request lists the nine sections of a summary in order, each with its rule", () => {
    expectOnce([
      "\n1. Primary Request and Intent: Everything the user requested, in detail, with the purpose of each request.\n",
      "\n2. Key Technical Concepts: Technologies, frameworks, conventions, and ideas that matter for the work.\n",
      "\n3. Files and Code Sections: Every file that was examined, changed, or created. For each file, give the full path, why it matters, what was done to it, and the code needed to continue.",
      "\n4. Errors and Fixes: Every error, with its exact text and how it was fixed.",
      "\n5. Problem Solving: Problems that were solved, and how. Problems that are still under investigation.\n",
      "\n6. All User Messages: Every message that the user wrote, in order and in the user's own words. Tool results do not count. Do not leave any message out.\n",
      "\n7. Pending Tasks: Requested work that is not finished. Do not add work that nobody requested.\n",
    ]);
    expectOnce(
      [
        "\n8. Current Work: Exactly what was in progress when this summary was requested, with file names and code,",
        "\n9. Optional Next Step: The one next step, only if it follows directly from the user's latest request. Quote verbatim from the newest messages what the user requested and how far the work was.",
      ],
      NOT_UP_TO,
    );
  });

  it("the summary request repeats the nine section titles in order in its example of an answer", () => {
    expectOnce([
      "\n1. Primary Request and Intent:\n   …\n2. Key Technical Concepts:\n   …\n3. Files and Code Sections:\n   …\n4. Errors and Fixes:\n   …\n5. Problem Solving:\n   …\n6. All User Messages:\n   …\n7. Pending Tasks:\n   …\n8. ",
    ]);
  });

  it("the summary request asks to update an earlier summary only in the incremental variant", () => {
    expectOnce(
      [
        "The messages to summarize start with an earlier summary of the messages before them.",
        "Carry that summary over and update it with what is new.",
        "Do not rewrite the summary from scratch.",
      ],
      ["an incremental summary"],
    );
  });

  it("the summary request forbids repeating earlier messages only in the variant `from`", () => {
    expectOnce(
      [
        'Summarize only the later part of the conversation. It starts with the user\'s message that begins with "Now the ledger" (message 7 when you count back from the end of the conversation).',
        "The messages before it stay in the conversation unchanged, in front of your summary.",
        "Use them to understand the later part, but do not repeat them.",
      ],
      ["a summary from a message"],
    );
  });

  it("the summary request renames sections 8 and 9 only in the variant `up-to`", () => {
    expectOnce(
      [
        'Summarize only the earlier part of the conversation. It ends right before the user\'s message that begins with "Now the ledger"',
        "That message and all messages after it stay verbatim after your summary.",
        "\n8. Work Completed: Work that was done by the end of this part, with file names and code.\n",
        "\n9. Context for Continuing Work: What the agent must know to understand the newer messages and to continue after them:",
        "\n8. Work Completed:\n   …\n9. Context for Continuing Work:\n   …\n",
      ],
      ["a summary up to a message"],
    );
  });

  it("the summary request puts custom instructions last, under their own heading", () => {
    const instructions = "Keep the ports.";
    for (const options of Object.values(VARIANTS)) {
      const plain = summaryPrompt(options);
      const prompt = summaryPrompt({ ...options, instructions });
      const reminder = plain.slice(plain.indexOf("Reminder: "));
      const added = `Additional instructions from the user for this summary:\n${instructions}\n\n`;
      expect(prompt).toBe(plain.replace(reminder, () => `${added}${reminder}`));
      expect(timesIn(plain, "Additional instructions")).toBe(0);
    }
  });
});

describe("the message that continues a conversation after a compaction", () => {
  const base = { summary: "THE SUMMARY", keptRecent: false, trigger: "manual" } as const;
  const PARAGRAPHS = [
    "This conversation continues an earlier one that no longer fit into the context window. The summary below replaces its earlier part.",
    "THE SUMMARY",
    "If you need an exact detail (a code snippet, an error text, something you wrote), read it in the full transcript: /t.jsonl",
    "The most recent messages follow this one verbatim.",
    "Continue the work at the point where it stopped, as if there had been no break. Do not start with a question to the user, a recap, or a remark about this message.",
    "You are working autonomously. This is not a first start. The work loop is already running, so continue it. Do not greet anyone, and do not set up anything again.",
  ];

  it("the continuation message has each of its parts once and in order", () => {
    const message = continuationMessage({
      ...base,
      transcriptPath: "/t.jsonl",
      keptRecent: true,
      trigger: "auto",
      autonomous: true,
    });
    expect(message.split("\n\n")).toEqual(PARAGRAPHS);
  });

  it.each([
    ["a transcript", { transcriptPath: "/t.jsonl" }, 2],
    ["kept messages", { keptRecent: true }, 3],
    ["an automatic compaction", { trigger: "auto" }, 4],
    ["autonomous mode", { autonomous: true }, 5],
  ] as const)(
    "the continuation message has the paragraph for %s only if that applies",
    (_, options, index) => {
      expect(continuationMessage(base).split("\n\n")).toEqual(PARAGRAPHS.slice(0, 2));
      const message = continuationMessage({ ...base, ...options });
      expect(message.split("\n\n")).toEqual([...PARAGRAPHS.slice(0, 2), PARAGRAPHS[index]]);
    },
  );
});
