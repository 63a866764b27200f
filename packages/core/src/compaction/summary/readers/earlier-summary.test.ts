import { describe, expect, it } from "vitest";
import { summarize } from "../builtin/summarize.ts";
import { continuationMessage } from "../summary-message.ts";
import { earlierItems, listedMessages, parseEarlierSummary, splitItems } from "./earlier-summary.ts";
import { LABELS, SEE_CURRENT_REQUEST } from "./list-items.ts";

const modelSummary = `This session is being continued from a previous conversation.

Analysis:
1. scratchpad words

Summary:
1. Primary Request and Intent:
   The user wants a parser.
   - fast
   - small

6. All user messages:
   - "write a parser"
   - "no, in Rust"

7. Pending Tasks:
   - None at the moment

8. Current Work:
   Editing \`lexer.rs\`:
   \`\`\`rust
   fn next() {}

   # not an item
   \`\`\`

If you need specific details from before compaction, read the full transcript at: /x.jsonl
Please continue the conversation from where we left it off (end of the frame).`;

describe("parseEarlierSummary", () => {
  const earlier = parseEarlierSummary(modelSummary);

  it("splits an earlier summary into the items of its sections", () => {
    expect(earlierItems(earlier, "All User Messages")).toEqual(['- "write a parser"', '- "no, in Rust"']);
    expect(earlierItems(earlier, "Primary Request and Intent")).toEqual([
      "The user wants a parser.",
      "- fast",
      "- small",
    ]);
  });

  it("keeps a code block with the summary item that contains it", () => {
    expect(earlierItems(earlier, "Current Work")).toHaveLength(1);
    expect(earlierItems(earlier, "Current Work")[0]).toContain("# not an item\n```");
  });

  it("removes the scratchpad before an earlier summary and the instructions after it", () => {
    const all = [...earlier.items.values()].flat().join("\n");
    expect(all).not.toContain("scratchpad");
    expect(all).not.toContain("transcript");
    expect(all).not.toContain("without asking");
  });

  it("removes Claude Code's text around a summary even when the instruction to continue is reworded", () => {
    const reworded = modelSummary.replace("where we left it off", "where we left off");
    expect(reworded).not.toBe(modelSummary);
    expect(parseEarlierSummary(reworded)).toEqual(earlier);
  });

  it("removes the opening of a continuation message when its summary has no headings", () => {
    const wrapped = "This session is being continued from a previous conversation.\n\nJust prose.";
    expect(earlierItems(parseEarlierSummary(wrapped), "Primary Request and Intent")).toEqual(["Just prose."]);
    const ours = continuationMessage({ summary: "Just prose.", keptRecent: true, trigger: "auto" });
    expect(earlierItems(parseEarlierSummary(ours), "Primary Request and Intent")).toEqual(["Just prose."]);
  });

  it("reads no item from a summary section that says that there is nothing", () => {
    expect(earlierItems(earlier, "Pending Tasks")).toEqual([]);
  });

  it("reads all of a summary without headings as the user's request", () => {
    expect(earlierItems(parseEarlierSummary("Just prose."), "Primary Request and Intent")).toEqual([
      "Just prose.",
    ]);
  });

  it("skips longhaul's labels and remarks about left-out items, and keeps bold lines of other authors", () => {
    const leftOut = "(3 more files left out: see the transcript)";
    const text = `${LABELS.changedFiles}\n- a\n${leftOut}\n**Harbor side:**\n- b\n  c`;
    expect(splitItems(text)).toEqual(["- a", "**Harbor side:**", "- b\n  c"]);
  });

  it.each([
    "**What the user wants, as the earlier summary has it:**",
    "**Latest request (from the earlier summary):**",
    "**The last longer request before it, verbatim:**",
    "**Requests before it, oldest first, and what came of each:**",
    "**Earlier requests and their outcomes, oldest first:**",
    "**Only looked at:**",
    "**From before:**",
    "**From before the last summary, as it was then:**",
    "**The user stepped in:**",
    "**Decided by the user, when asked:**",
    "**Open at the last summary:**",
    "**Open at the last summary (may have been done since; see 1 and 8):**",
    "**Open at the last summary (may be done by now: see 1 and 8):**",
    "**Steps since the current request, oldest first:**",
    "**Where things stood at the end of this part; newer messages follow:**",
    "(3 more user messages left out here; see the transcript)",
  ])("skips the line %s that earlier longhaul versions wrote into summaries", (line) => {
    expect(splitItems(`- a\n${line}\n- b`)).toEqual(["- a", "- b"]);
    expect(Object.values<string>(LABELS)).not.toContain(line);
  });

  it.each([SEE_CURRENT_REQUEST, "- (the current request: see 1)"])(
    "reads the current request from the first section when the message list has the line %s",
    (line) => {
      const text = `1. Primary Request and Intent:\n- "Write a parser."\n\n6. All User Messages:\n${line}\n`;
      const earlier = parseEarlierSummary(text);
      expect(listedMessages(earlier)).toEqual(["Write a parser."]);
    },
  );

  it("counts the items that a summary of an earlier longhaul version left out", () => {
    const text = "6. All user messages:\n(3 more user messages left out here; see the transcript)\n";
    expect(parseEarlierSummary(text).leftOut.get("All User Messages")).toBe(3);
    expect(parseEarlierSummary(text.replace(" here; see", ": see")).leftOut.get("All User Messages")).toBe(3);
  });

  it("keeps a statement that begins with a word such as 'None' or 'Nothing'", () => {
    const text = [
      "4. Errors and fixes:\n- Nothing compiled until the flag was set.",
      "5. Problem Solving:\n- No explicit lock guards the queue.",
      "7. Pending Tasks:\n- Nothing tests the crane: write a test.\n- None explicitly, all work is done",
      "8. Current Work:\nNone of the berths is deep enough.",
    ].join("\n\n");
    expect([...parseEarlierSummary(text).items.values()].flat()).toEqual([
      "- Nothing compiled until the flag was set.",
      "- No explicit lock guards the queue.",
      "- Nothing tests the crane: write a test.",
      "None of the berths is deep enough.",
    ]);
  });

  it("reads no items from the empty sections of a built-in summary", () => {
    const empty = summarize([], { countTokens: (text) => text.length / 3 }).text;
    expect([...parseEarlierSummary(empty).items.values()].flat()).toEqual([]);
  });

  it("keeps the sections above a line that looks like the summary heading", () => {
    const text = "7. Pending Tasks:\n- dredge\n\n8. Current Work:\nThe report says:\nSummary:\nall is well";
    expect(earlierItems(parseEarlierSummary(text), "Pending Tasks")).toEqual(["- dredge"]);
  });
});
