import { describe, expect, it } from "vitest";
import { type CallItem, type Expectation, examine, type Item } from "./examine.ts";
import { type CellResult, isRed, matrixText } from "./matrix.ts";
import { recordedCompaction } from "./session-file.ts";
import type { Json } from "./wire.ts";

const SUMMARY = "Summary: the user asked for mk0001prompt.";

const said = (role: "user" | "assistant", marker: string): Item => ({
  kind: "said",
  role,
  markers: [marker],
  text: `Words of ${marker}.`,
});

const call = (id: string, marker: string, result: string): CallItem => ({
  kind: "call",
  id,
  name: "Bash",
  input: { command: marker },
  markers: [marker, result],
  result: `Shows ${result}`,
  shows: result,
  signature: "signed",
});

/** A summary, then a prompt, two parallel calls and an answer. One file was restored. */
const EXPECTED: Expectation = {
  items: [
    { kind: "summary", text: SUMMARY, facts: ["mk0001prompt"], lasting: ["mk0001prompt"] },
    said("user", "mk0003prompt"),
    said("assistant", "mk0004text"),
    call("toolu_1", "mk0005call", "mk0006result"),
    call("toolu_2", "mk0007call", "mk0008result"),
    said("user", "mk0010typed"),
    said("assistant", "mk0009text"),
  ],
  restored: ["mk0002file"],
  everyMarker: ["mk0001prompt", "mk0002file", "mk0003prompt", "mk0004text", "mk0005call", "mk0006result"],
  everySummary: [SUMMARY, "Summary: an older one with mk0000fact."],
};

const text = (value: string): Json => ({ type: "text", text: value });
const reminder = (value: string): Json => text(`<system-reminder>\n${value}\n</system-reminder>`);
const use = (id: string, marker: string): Json => ({
  type: "tool_use",
  id,
  name: "Bash",
  input: { command: marker },
});
const result = (id: string, marker: string): Json => ({
  type: "tool_result",
  tool_use_id: id,
  content: `Shows ${marker}`,
});

/** Returns a request that meets the expectation. Each test damages a copy of it. */
function wholeRequest(): { role: string; content: Json[] }[] {
  return [
    {
      role: "user",
      content: [text(SUMMARY), reminder("Result of reading: mk0002file"), text("Words of mk0003prompt.")],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "signed" },
        text("Words of mk0004text."),
        use("toolu_1", "mk0005call"),
        use("toolu_2", "mk0007call"),
      ],
    },
    {
      role: "user",
      content: [
        result("toolu_2", "mk0008result"),
        result("toolu_1", "mk0006result"),
        reminder("The user says: Words of mk0010typed."),
      ],
    },
    { role: "assistant", content: [text("Words of mk0009text.")] },
    { role: "user", content: [text("Continue.")] },
  ];
}

function faultsAfter(spoil: (messages: { role: string; content: Json[] }[]) => void): readonly string[] {
  const messages = wholeRequest();
  spoil(messages);
  return examine(messages, EXPECTED).faults;
}

describe("the examiner of requests that a real client sends", () => {
  it("the examiner finds no fault in a request that has everything once, and counts its comparisons", () => {
    expect(examine(wholeRequest(), EXPECTED)).toEqual({ faults: [], messages: 5, pairs: 2, markers: 10 });
  });

  it("the examiner accepts restored files and typed input as system messages", () => {
    const messages = wholeRequest();
    const [typed] = messages[2]?.content.splice(2, 1) ?? [];
    const [file] = messages[0]?.content.splice(1, 1) ?? [];
    if (typed !== undefined) messages.splice(3, 0, { role: "system", content: [typed] });
    if (file !== undefined) messages.splice(1, 0, { role: "system", content: [text("Shows mk0002file")] });
    expect(examine(messages, EXPECTED).faults).toEqual([]);
  });

  it("the examiner finds that one of two parallel calls is missing together with its result", () => {
    const faults = faultsAfter((messages) => {
      messages[1]?.content.pop();
      messages[2]?.content.shift();
    });
    expect(faults).toEqual(["call Bash toolu_2 is sent 0 times", "result of Bash toolu_2 is sent 0 times"]);
  });

  it("the examiner finds a call whose result is missing", () => {
    const faults = faultsAfter((messages) => messages[2]?.content.shift());
    expect(faults).toContain("result of Bash toolu_2 is sent 0 times");
    expect(faults).toContain("tool_use toolu_2 has 0 partners");
  });

  it("the examiner finds a result that is not in the message after its call", () => {
    const faults = faultsAfter((messages) => {
      const moved = messages[2]?.content.shift();
      if (moved !== undefined) messages[4]?.content.unshift(moved);
    });
    expect(faults).toContain("tool_use toolu_2 has 0 partners");
    expect(faults).toContain("tool_result toolu_2 has 0 partners");
  });

  it("the examiner finds a summary that is sent twice", () => {
    const faults = faultsAfter((messages) => messages[4]?.content.unshift(text(SUMMARY)));
    expect(faults).toEqual([`summary is sent 2 times: ${JSON.stringify(SUMMARY)}`]);
  });

  it("the examiner finds that the summary is missing", () => {
    const faults = faultsAfter((messages) => messages[0]?.content.shift());
    expect(faults).toContain(`summary is sent 0 times: ${JSON.stringify(SUMMARY)}`);
  });

  it("the examiner finds that a fact is missing in the summary", () => {
    const expected = { ...EXPECTED, items: [{ ...EXPECTED.items[0], facts: ["mk0011fact"] } as Item] };
    expect(examine(wholeRequest().slice(0, 1), expected).faults).toContain("summary lacks mk0011fact");
  });

  it("the examiner finds a summary that comes after the messages that should follow it", () => {
    const faults = faultsAfter((messages) => {
      const summary = messages[0]?.content.shift();
      if (summary !== undefined) messages[0]?.content.push(summary);
    });
    expect(faults).toEqual(["mk0003prompt is out of order"]);
  });

  it("the examiner finds a summarized message that is sent again", () => {
    const faults = faultsAfter((messages) => messages[0]?.content.unshift(text("Words of mk0001prompt.")));
    expect(faults).toEqual(["old mk0001prompt is sent again as text"]);
  });

  it("the examiner finds a summarized message that comes back in a reminder", () => {
    const faults = faultsAfter((messages) =>
      messages[4]?.content.unshift(reminder("Words of mk0001prompt.")),
    );
    expect(faults).toEqual(["old mk0001prompt is sent again as reminder"]);
  });

  it("the examiner finds an old summary that a newer one has replaced", () => {
    const old = text(EXPECTED.everySummary[1] ?? "");
    const faults = faultsAfter((messages) => messages[0]?.content.unshift(old));
    expect(faults).toEqual([`old summary is sent again: ${JSON.stringify(old.text)}`]);
  });

  it.each(["mk0003prompt", "mk0004text", "mk0009text"])(
    "the examiner finds that the text with the marker %s is missing",
    (marker) => {
      const faults = faultsAfter((messages) => {
        for (const message of messages) {
          message.content = message.content.filter((block) => !JSON.stringify(block).includes(marker));
        }
      });
      expect(faults).toContain(`${marker} is sent 0 times`);
    },
  );

  it("the examiner finds that input typed during a turn is missing", () => {
    const faults = faultsAfter((messages) => messages[2]?.content.pop());
    expect(faults).toEqual(["mk0010typed is sent 0 times"]);
  });

  it("the examiner finds a message that is sent twice", () => {
    const faults = faultsAfter((messages) => messages[4]?.content.unshift(text("Words of mk0003prompt.")));
    expect(faults).toContain("mk0003prompt is sent 2 times");
  });

  it("the examiner finds a message or a tool result with changed words", () => {
    const faults = faultsAfter((messages) => {
      messages[3]?.content.splice(0, 1, text("Fewer mk0009text."));
      messages[2]?.content.splice(1, 1, { ...result("toolu_1", "mk0006result"), content: "mk0006result" });
    });
    expect(faults).toEqual([
      'result of Bash toolu_1 has other words: "mk0006result"',
      'mk0009text is sent with other words: "Fewer mk0009text."',
    ]);
  });

  it("the examiner finds a tool call with changed input", () => {
    const faults = faultsAfter((messages) =>
      messages[1]?.content.splice(2, 1, use("toolu_1", "mk0005call more")),
    );
    expect(faults).toEqual(["Bash toolu_1 has other input"]);
  });

  it("the examiner finds missing thinking and thinking with another signature", () => {
    const lost = faultsAfter((messages) => messages[1]?.content.shift());
    expect(lost).toEqual(["thinking before Bash toolu_1 is lost", "thinking before Bash toolu_2 is lost"]);
  });

  it("the examiner finds a restored file that is missing or sent twice", () => {
    const missing = faultsAfter((messages) => messages[0]?.content.splice(1, 1));
    expect(missing).toEqual(["restored file mk0002file is sent 0 times"]);
    const twice = faultsAfter((messages) => messages[4]?.content.unshift(reminder("mk0002file")));
    expect(twice).toEqual(["restored file mk0002file is sent 2 times"]);
  });

  it("the examiner finds a file that comes back as a tool result although its call was summarized", () => {
    const faults = faultsAfter((messages) => {
      messages[1]?.content.push(use("toolu_0", "old"));
      messages[2]?.content.unshift(result("toolu_0", "mk0002file"));
    });
    expect(faults).toEqual(["old mk0002file is sent again as tool_result"]);
  });

  it("the examiner finds a failed tool call when the script expects output", () => {
    const failed = { ...call("toolu_1", "mk0005call", "mk0006result"), result: "No such file" };
    const items = EXPECTED.items.map((item) =>
      item.kind === "call" && item.id === "toolu_1" ? failed : item,
    );
    const messages = wholeRequest();
    messages[2]?.content.splice(1, 1, { ...result("toolu_1", ""), content: "No such file" });
    expect(examine(messages, { ...EXPECTED, items }).faults).toEqual([
      "result of Bash toolu_1 lacks mk0006result",
    ]);
  });
});

describe("recordedCompaction, which reads a compaction from the lines of a session file", () => {
  const line = (uuid: string, content: string, more: Json = {}): Json => ({
    type: "user",
    uuid,
    message: { role: "user", content },
    ...more,
  });
  const boundary = (compactMetadata: Json): Json => ({
    type: "system",
    subtype: "compact_boundary",
    uuid: "b",
    compactMetadata,
  });
  const summary = (uuid: string, content: string): Json => line(uuid, content, { isCompactSummary: true });

  it("recordedCompaction starts the kept lines at the head of the segment, and skips lines without an id", () => {
    const request = { type: "api-request-blob", message: { content: "mk0001prompt" } };
    const lines = [
      line("1", "mk0001prompt"),
      line("2", "mk0002prompt"),
      request,
      boundary({ preservedSegment: { headUuid: "2" } }),
      summary("s", "the summary"),
    ];
    const record = recordedCompaction(lines, 3, new Set());
    expect(record?.kept).toEqual([lines[1]]);
    expect(record?.summary).toBe("the summary");
  });

  it("recordedCompaction returns the new summary when the lines also repeat an earlier summary", () => {
    const lines = [boundary({}), summary("1", "old"), line("2", "mk0001prompt"), summary("3", "new")];
    expect(recordedCompaction(lines, 0, new Set(["old"]))?.summary).toBe("new");
  });

  it("recordedCompaction names the files that the compaction restored", () => {
    const file = {
      type: "attachment",
      uuid: "f",
      attachment: { type: "file", content: "mk0003file mk0004edit" },
    };
    const lines = [boundary({}), summary("1", "the summary"), file];
    expect(recordedCompaction(lines, 0, new Set())?.restored).toEqual(["mk0003file"]);
  });

  it("recordedCompaction returns undefined when nothing was compacted since the given line", () => {
    expect(recordedCompaction([boundary({}), summary("1", "the summary")], 1, new Set())).toBeUndefined();
  });
});

describe("the table of results for real clients", () => {
  const cell: CellResult = { row: "compact", column: "1.0", messages: 3, pairs: 2, markers: 9, faults: [] };

  it("the table of real clients shows how many comparisons each cell made", () => {
    expect(matrixText([cell])).toBe("messages/pairs/markers  1.0\ncompact                 ok  3/2/9");
  });

  it("the table of real clients marks a cell that compared nothing as failed", () => {
    const empty = { ...cell, messages: 0, pairs: 0, markers: 0 };
    expect(isRed(empty)).toBe(true);
    expect(matrixText([empty])).toContain("nothing was compared");
  });

  it("the table of real clients marks a cell with a fault as failed, and names the fault", () => {
    const lost = { ...cell, faults: ["call Bash toolu_2 is sent 0 times"] };
    expect(isRed(lost)).toBe(true);
    expect(matrixText([lost])).toContain("RED 3/2/9");
    expect(matrixText([lost])).toContain("compact, 1.0:\n    call Bash toolu_2 is sent 0 times");
  });

  it("the table of real clients prints notes without marking a cell as failed", () => {
    const noted = { ...cell, notes: ["refused: bound thinking"] };
    expect(isRed(noted)).toBe(false);
    expect(matrixText([noted])).toContain("note: refused: bound thinking");
  });
});
