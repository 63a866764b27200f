import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  continuationAfterwords,
  continuationMessage,
  isContinuation,
  isNotesContinuation,
  unwrapSummary,
} from "./summary-message.ts";

const base = { summary: "Summary:\nfacts", keptRecent: false, trigger: "manual" } as const;

describe("continuationMessage", () => {
  it("a continuation message says that the conversation continues an earlier one, then adds the summary", () => {
    expect(continuationMessage(base)).toMatch(
      /^This conversation continues an earlier one.*\n\nSummary:\nfacts$/s,
    );
  });

  it("introduces notes as notes, in a message that readers still recognize as a continuation", () => {
    const notes = continuationMessage({ ...base, summary: "# Current State\nfacts", isNotes: true });
    expect(notes).toMatch(
      /^This conversation continues an earlier one.* The notes below.*\n\n# Current State\nfacts$/s,
    );
    expect(notes).not.toContain("summary");
    expect(isContinuation(notes)).toBe(true);
  });

  it("names the transcript for exact details only when a transcript exists", () => {
    expect(continuationMessage({ ...base, transcriptPath: "/a/b.jsonl" })).toContain(
      "transcript: /a/b.jsonl",
    );
    expect(continuationMessage(base)).not.toContain("transcript");
  });

  it("mentions the recall tool only when the agent has one", () => {
    const text = continuationMessage({ ...base, recallTool: "recall" });
    expect(text).toMatch(/Call the tool `recall` with words.* Its results are old/);
    expect(continuationMessage(base)).not.toContain("recall");
    expect(unwrapSummary(text)).toBe("Summary:\nfacts");
  });

  it("says that recent messages follow verbatim only when recent messages were kept", () => {
    expect(continuationMessage({ ...base, keptRecent: true })).toContain("verbatim");
    expect(continuationMessage(base)).not.toContain("verbatim");
  });

  it("tells the agent to ask no question and write no recap only after an automatic compaction", () => {
    expect(continuationMessage({ ...base, trigger: "auto" })).toMatch(
      /Do not start with a question to the user, a recap, or a remark/,
    );
    expect(continuationMessage(base)).not.toContain("recap");
  });

  it("tells an autonomous agent that it continues and does not start for the first time", () => {
    expect(continuationMessage({ ...base, autonomous: true })).toContain("not a first start");
  });

  it("a continuation message orders its parts: summary, transcript, kept messages, order to continue, autonomy", () => {
    const text = continuationMessage({
      summary: "THE SUMMARY",
      transcriptPath: "/THE/PATH",
      keptRecent: true,
      trigger: "auto",
      autonomous: true,
    });
    const order = [
      "earlier one",
      "THE SUMMARY",
      "/THE/PATH",
      "follow this one verbatim",
      "a recap",
      "autonomously",
    ];
    const positions = order.map((part) => text.indexOf(part));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions).not.toContain(-1);
  });

  it("says that the messages above are unchanged when the earlier messages were kept", () => {
    const text = continuationMessage({ ...base, keptEarlier: true });
    expect(text).toMatch(/^The messages above are unchanged.*\n\nSummary:\nfacts$/s);
    expect(isContinuation(text)).toBe(true);
    expect(isContinuation(continuationMessage(base))).toBe(true);
  });

  it("writes longhaul's text around a signed summary separately, because the summary cannot be edited", () => {
    const { summary: _, ...rest } = base;
    expect(continuationAfterwords(rest)).toBe("");
    const words = continuationAfterwords({ ...rest, transcriptPath: "/a/b.jsonl", trigger: "auto" });
    expect(words).toMatch(/^If you need an exact detail.*\/a\/b.jsonl\n\nContinue the work.*$/s);
  });

  it.each([{ isNotes: true }, { keptEarlier: true }, {}])(
    "extracts the summary from a continuation message that was written with the options %o",
    (options) => {
      const text = continuationMessage({
        ...base,
        ...options,
        transcriptPath: "/p",
        recallTool: "recall",
        keptRecent: true,
        trigger: "auto",
        autonomous: true,
      });
      expect(unwrapSummary(text)).toBe(base.summary);
    },
  );

  it("recognizes the paragraphs that earlier versions wrote around a summary", () => {
    const afterwords = [
      "Where an exact detail matters (a code snippet, an error text, something you wrote), read it in the full transcript: /p",
      "Everything that was said and done before can be searched, and read word for word: call the tool `recall` with words, an exact text, a file or an id before you guess or do work again. What it gives is old: the present state may differ.",
      "The most recent messages follow verbatim after this one.",
      "The most recent messages follow after this one.",
      "The conversation ends with results of your last tool calls that you have not read yet. Read them first.",
      "Go on with the work from where it stopped, as if there had been no break: no questions to the user, no recap, no word about this summary.",
      "You are working autonomously. This is not a first start: the work loop is under way, so take it up again and do not greet or set up anew.",
    ];
    const earlier =
      "This conversation goes on from an earlier one that no longer fitted into the context window. ";
    const notes = `${earlier}The notes below, taken while the session went on, stand for its earlier part.`;
    const openings = [
      `${earlier}The summary below stands for its earlier part.`,
      notes,
      "The messages above stand as they were. What followed them was taken out to make room, and the summary below stands for it.",
    ];
    for (const opening of openings) {
      const text = [opening, base.summary, ...afterwords].join("\n\n");
      expect(isContinuation(text)).toBe(true);
      expect(unwrapSummary(text)).toBe(base.summary);
      expect(isNotesContinuation(text)).toBe(opening === notes);
    }
  });

  it("keeps phrases of a continuation message when they are in the middle of a summary", () => {
    const quoted = [
      "Summary:",
      "6. All User Messages:",
      "Please continue the conversation from where we left it off",
      "The most recent messages follow this one verbatim.",
      "7. Pending Tasks: the tides",
    ].join("\n");
    const text = continuationMessage({ ...base, summary: quoted, keptRecent: true, trigger: "auto" });
    expect(unwrapSummary(text)).toBe(quoted);
    expect(unwrapSummary(quoted)).toBe(quoted);
  });
});

describe("continuation message of Claude Code", () => {
  const opening = "This session is being continued from a previous conversation that ran out of room.";
  const path = "If you need specific details from before compaction (such as code), read it at: /t.jsonl";
  const summary =
    "Summary:\n8. Current Work:\n   The lock gate.\n\n9. Optional Next Step:\n   Paint the gate.";

  it.each([
    ["the path alone", `\n\n${path}`],
    ["an order to continue without a path", "\nPlease continue the conversation from where we left it off."],
    [
      "the path and an order in one version's words",
      `\n\n${path}\nPlease continue the conversation from where we left off now.`,
    ],
    [
      "the path and an order in another version's words",
      `\n\n${path}\nContinue the conversation from where it left off now.`,
    ],
    ["the path and an order in unknown words", `\n\n${path}\n\nCarry on.\nAsk nobody.`],
    [
      "the path and a note on kept messages",
      `\n\n${path}\n\nRecent messages are preserved verbatim.\nContinue the conversation from where it left off.`,
    ],
  ])("extracts the summary from a Claude Code message that ends with %s", (_closing, closing) => {
    expect(unwrapSummary(`${opening} It is summarized below:\n\n${summary}${closing}`)).toBe(summary);
  });

  it("keeps a list that follows a quotation of Claude Code's closing words", () => {
    const quoting = `7. Pending Tasks:\n\n${path}\n- explain that line\n\n9. Optional Next Step:\nPaint.`;
    expect(unwrapSummary(`${opening}\n\n${quoting}\n\n${path}\nGo.`)).toBe(quoting);
    expect(unwrapSummary(`${opening}\n\n${quoting}`)).toBe(quoting);
  });

  it("extracts all of a summary that does not end with Claude Code's closing words", () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(path, "", "- item", "7. Pending Tasks:", "Recent messages are preserved verbatim."),
    );
    const closings = ["", `\n\n${path}`, `\n\n${path}\nContinue the conversation from where it left off.`];
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom(...closings), (lines, closing) => {
        const body = ["Summary:", ...lines, "- the end"].join("\n");
        expect(unwrapSummary(`${opening}\n\n${body}${closing}`)).toBe(body);
        expect(unwrapSummary(continuationMessage({ ...base, summary: body, trigger: "auto" }))).toBe(body);
      }),
    );
  });
});
