import { describe, expect, it } from "vitest";
import { continuationMessage } from "../summary-message.ts";
import { earlierItems, parseEarlierSummary } from "./earlier-summary.ts";

const NOTES = `[These notes were cut. The whole of them is in /n/s.notes.md.]

# Session Title
Tides in the harbour

# Current State
- dredging berth 4
- Pending Tasks: the crane

# Task Specification
- "make the harbour deeper"
- (2 lines)
\`\`\`text
and mind
the tides
\`\`\`
- Asked: "all of it?" → "yes"

# Files and Functions
- \`src/tide.ts\`: tideAt()

# Workflow
\`\`\`sh
# build first
npm run build
\`\`\`

# Errors & Corrections
- the pump was off by one

# Codebase and System Documentation
- berths are numbered from 1

# Harbour Rules
- no work at night

# Learnings
- None

# Key Results
- depth: 12 m

# Worklog
- surveyed`;

const notes = parseEarlierSummary(
  continuationMessage({
    summary: NOTES,
    isNotes: true,
    keptRecent: true,
    trigger: "auto",
    transcriptPath: "/t.jsonl",
  }),
);

describe("notes as an earlier summary", () => {
  it("sorts notes into the sections of a summary", () => {
    expect(notes.isNotes).toBe(true);
    expect(earlierItems(notes, "Current Work")).toEqual(["- dredging berth 4", "- Pending Tasks: the crane"]);
    expect(earlierItems(notes, "Files and Code Sections")).toEqual(["- `src/tide.ts`: tideAt()"]);
    expect(earlierItems(notes, "Errors and Fixes")).toEqual(["- the pump was off by one"]);
  });

  it("reads the user's requests in notes as messages, and the newest one as the current request", () => {
    const lines = "- (2 lines)\n```text\nand mind\nthe tides\n```";
    expect(earlierItems(notes, "All User Messages")).toEqual(['- "make the harbour deeper"', lines]);
    expect(earlierItems(notes, "Primary Request and Intent")).toEqual([
      "[These notes were cut. The whole of them is in /n/s.notes.md.]",
      "Tides in the harbour",
      lines,
      '- Asked: "all of it?" → "yes"',
    ]);
  });

  it("lists the worklog and then the key results of notes under Problem Solving", () => {
    expect(earlierItems(notes, "Problem Solving")).toEqual(["- surveyed", "- depth: 12 m"]);
  });

  it("lists other notes under Key Technical Concepts, keeps code together and names custom sections", () => {
    expect(earlierItems(notes, "Key Technical Concepts")).toEqual([
      "```sh\n# build first\nnpm run build\n```",
      "Harbour Rules:",
      "- no work at night",
      "- berths are numbered from 1",
    ]);
  });

  it("removes the text that longhaul wrote around notes", () => {
    const all = JSON.stringify([...notes.items]);
    expect(all).not.toContain("This conversation goes on");
    expect(all).not.toContain("/t.jsonl");
  });
});
