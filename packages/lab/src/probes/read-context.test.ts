import { describe, expect, it } from "vitest";
import { readContext } from "./exam.ts";

const stancesOf = (text: string, part: string): string[] => {
  const passage = readContext(text).find((one) => one.text.includes(part));
  return [...(passage?.stances ?? [])].sort();
};

describe("reading a context into passages", () => {
  it.each([
    ["1. Primary Request and Intent:\n- Build a boat", "goal"],
    ["## Goal\nBuild a boat", "goal"],
    ["**Primary Request and Intent**\nBuild a boat", "goal"],
    ["7. Pending Tasks:\n- Build a boat", "pending"],
    ["### Remaining work\n- Build a boat", "pending"],
    ["8. Current Work:\nBuild a boat", "current"],
    ["### In Progress\n- Build a boat", "current"],
    ["9. Optional Next Step:\nBuild a boat", "next"],
    ["## Next Steps\n1. Build a boat", "next"],
    ["6. All user messages:\n- Build a boat", "quote"],
    ["Next: Build a boat", "next"],
    ["The user asked to Build a boat", "goal"],
    ["- [ ] Build a boat", "pending"],
    ["- ~~Build a boat~~", "cancelled"],
    ["Cancelled: Build a boat", "cancelled"],
    ["Build a boat: superseded by the raft", "cancelled"],
  ])("the item of %j has the stance %s", (text, stance) => {
    expect(stancesOf(text, "Build a boat")).toContain(stance);
  });

  it("a mark on the line wins over the heading of a list of open work", () => {
    const text = "7. Pending Tasks:\n- [x] Build a boat\n- Paint the boat";
    expect(stancesOf(text, "Build")).toEqual(["done"]);
    expect(stancesOf(text, "Paint")).toEqual(["pending"]);
  });

  it("a section ends at the next heading of the same level, and continues under deeper ones", () => {
    const text = "## Pending\n### Boats\n- Build a boat\n## Harbor\n- Dig a basin";
    expect(stancesOf(text, "Build")).toEqual(["pending"]);
    expect(stancesOf(text, "Dig")).toEqual([]);
  });

  it("a section with an unknown title does not inherit the stance of the section before it, also below a common title", () => {
    const text = "# Summary\n## Pending\n- Build a boat\n## Harbor\n- Dig a basin\n### Depth\n- Nine meters";
    expect(stancesOf(text, "Build")).toEqual(["pending"]);
    expect(stancesOf(text, "Dig")).toEqual([]);
    expect(stancesOf(text, "Nine")).toEqual([]);
  });

  it.each([
    ["All tests passed", ["passed"]],
    ["84 tests, 0 failures", ["passed"]],
    ["The suite did not pass", ["failed"]],
    ["The test was not seen to pass", ["failed", "pending"]],
    ["The error is not resolved", ["failed"]],
    ["The test should now pass", ["pending"]],
  ])("the outcome of %j is read as %j", (text, stances) => {
    expect(stancesOf(text, text)).toEqual(stances);
  });

  it("fenced code is read as code, and fenced text as prose", () => {
    const text = "```ts\nbuild(boat);\n```\n```text\nBuild a boat\n```";
    expect(readContext(text).map(({ isCode }) => isCode)).toEqual([true, false]);
  });

  it("a passage names the headings above it, outermost first", () => {
    const [passage] = readContext("## Progress\n### Done\n- Build a boat");
    expect(passage?.headings).toEqual(["progress", "done"]);
  });
});
