import { describe, expect, it } from "vitest";
import { continuationMessage } from "../../continuation.ts";
import { earlierItems, parseEarlierSummary, splitItems } from "./earlier.ts";

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

describe("an earlier summary", () => {
  const earlier = parseEarlierSummary(modelSummary);

  it("is taken apart into the items of its sections", () => {
    expect(earlierItems(earlier, "All User Messages")).toEqual(['- "write a parser"', '- "no, in Rust"']);
    expect(earlierItems(earlier, "Primary Request and Intent")).toEqual([
      "The user wants a parser.",
      "- fast",
      "- small",
    ]);
  });

  it("keeps the code of an item with it", () => {
    expect(earlierItems(earlier, "Current Work")).toHaveLength(1);
    expect(earlierItems(earlier, "Current Work")[0]).toContain("# not an item\n```");
  });

  it("loses the scratchpad in front and the orders at its end", () => {
    const all = [...earlier.items.values()].flat().join("\n");
    expect(all).not.toContain("scratchpad");
    expect(all).not.toContain("transcript");
    expect(all).not.toContain("without asking");
  });

  it("has nothing of the message around it when the order to continue has other words", () => {
    const reworded = modelSummary.replace("where we left it off", "where we left off");
    expect(reworded).not.toBe(modelSummary);
    expect(parseEarlierSummary(reworded)).toEqual(earlier);
  });

  it("without headings loses the opening of the message too", () => {
    const wrapped = "This session is being continued from a previous conversation.\n\nJust prose.";
    expect(earlierItems(parseEarlierSummary(wrapped), "Primary Request and Intent")).toEqual(["Just prose."]);
    const ours = continuationMessage({ summary: "Just prose.", keptRecent: true, trigger: "auto" });
    expect(earlierItems(parseEarlierSummary(ours), "Primary Request and Intent")).toEqual(["Just prose."]);
  });

  it("has no item where it says that there is none", () => {
    expect(earlierItems(earlier, "Pending Tasks")).toEqual([]);
  });

  it("without headings is kept whole as the intent", () => {
    expect(earlierItems(parseEarlierSummary("Just prose."), "Primary Request and Intent")).toEqual([
      "Just prose.",
    ]);
  });

  it("gives labels and remarks about what was left out to nobody", () => {
    expect(
      splitItems("**Label:**\n- a\n(3 more files left out here; see the transcript)\n**Next:**\n- b\n  c"),
    ).toEqual(["- a", "- b\n  c"]);
  });
});
