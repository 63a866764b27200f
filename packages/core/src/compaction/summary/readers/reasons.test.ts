import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OMISSION, reasonsIn } from "./reasons.ts";

const typesOf = (text: string, by: "user" | "assistant" = "assistant"): readonly string[] =>
  reasonsIn(text, by).map(({ type }) => type);
const textsOf = (text: string, by: "user" | "assistant" = "assistant"): readonly string[] =>
  reasonsIn(text, by).map(({ text: said }) => said);

describe("reasonsIn", () => {
  it.each([
    ["The root cause is a stale lock file in the build cache.", "root-cause"],
    ["The cause was the missing index on the orders table.", "root-cause"],
    ["The problem was that the parser drops the last line.", "root-cause"],
    ["It turns out that the worker never receives the signal.", "root-cause"],
    ["The login test failed because the clock of the container is in UTC.", "root-cause"],
    ["The upload was broken - the proxy buffers the whole body.", "root-cause"],
    ["This failure is pre-existing and has nothing to do with the change.", "reason"],
    ["We decided to keep SQLite because the tests run offline.", "decision"],
    ["We use a stack instead of recursion in the parser.", "decision"],
    ["I'll put the lock into Redis because two servers share it.", "decision"],
    ["The right approach is to validate the token in the gateway.", "decision"],
    ["I was wrong: the invoices are rounded by the printer.", "correction"],
    ["I assumed the queue was ordered, but it delivers at random.", "correction"],
    ["Wait, that's wrong - the flag must be false for tests.", "correction"],
    ["The retry is capped at five, so that a dead server cannot block the queue.", "reason"],
    ["The header is read twice, so the second reader gets nothing.", "reason"],
    ["Die Ursache war, dass der Puffer zu klein ist, weil der Treiber ihn teilt.", "root-cause"],
    ["测试失败的原因是数据库连接没有关闭。", "root-cause"],
    ["The reset fails if the folder has only new files, because nothing matches.", "root-cause"],
    ["The reviewer's comment is wrong: the sender escapes the text.", "correction"],
    ["This case is already covered by the parser test.", "reason"],
    ["Skip this finding, the list has at most ten rows.", "decision"],
    ["I won't cache the rows, the list is short.", "decision"],
    ["A second index is not worth the disk space.", "decision"],
    ["Don't tag the nightly build.", "decision"],
    ["I'd suggest the second option - it works in every language.", "reason"],
    ["Rounding must happen in the printer, not the parser.", "decision"],
    ["The export stops early, as the reader closes the pipe.", "reason"],
    ["I can see that `printRow` escapes the text.", "reason"],
  ])("recognizes a statement with its reason: %s", (sentence, type) => {
    expect(typesOf(sentence)).toEqual([type]);
  });

  it.each([
    "Maybe the cause is the cache of the browser.",
    "The cause could be the cache, because the file is old.",
    "The timeout is probably caused by the proxy.",
    "Is the problem that the index is missing?",
    "Should I use SQLite instead of Postgres?",
    "Would you like me to use SQLite because it is smaller?",
    "Let me check the cache because the file is old.",
    "I'll look at the parser, since it drops lines.",
    "Let me find it because of that.",
    "Now I will add the test for the parser.",
    "The tests should now pass because the index exists.",
    "Nothing changed in the parser since version 4.",
    "Because.",
    "The parser uses a stack instead of recursion.",
    "You could use a stack instead of recursion.",
    "The new player will sound like a real organ instead of beeps.",
    "The build will fail due to the missing import.",
    "Wait, that's not right either.",
    "The import is not used yet because the page is old.",
    "The nightly job is still running because the queue is long.",
    "But I need to confirm the row count rather than trusting the report.",
    "I checked each row against the source rather than trusting the report.",
    "I have two options: skip the hook or repair the warnings.",
    'The notice says "use SQLite instead of Postgres for all tests".',
  ])("ignores a guess, a question, a plan, a passing state, a proposal or filler: %s", (sentence) => {
    expect(reasonsIn(sentence, "assistant")).toEqual([]);
  });

  it("takes the cause from the sentence after an announcement", () => {
    expect(textsOf("Found the problem! Line 18 of the config forbids nested tables.")).toEqual([
      "Line 18 of the config forbids nested tables.",
    ]);
    expect(typesOf("You're right! The importer reads every row twice.")).toEqual(["correction"]);
  });

  it("keeps the list below a sentence that ends with a colon", () => {
    const [reason] = reasonsIn(
      "The build failed because:\n1. **The cache** was stale\n2. The lock was held\n\nDone.",
      "assistant",
    );
    expect(reason?.text).toBe("The build failed because: The cache was stale The lock was held");
  });

  it("keeps the sentence that continues a statement", () => {
    expect(textsOf("The problem is the shared buffer. This means that two readers race.")).toEqual([
      "The problem is the shared buffer. This means that two readers race.",
    ]);
  });

  it("keeps the sentence that a conclusion or a pronoun refers to", () => {
    expect(textsOf("The rows are stored as escape codes. So a `red` row never reaches the parser.")).toEqual([
      "The rows are stored as escape codes. So a `red` row never reaches the parser.",
    ]);
    expect(textsOf("Which rows? So the parser skips them because they are empty.")).toEqual([
      "So the parser skips them because they are empty.",
    ]);
  });

  it("keeps the list item that a conclusion after the list refers to", () => {
    expect(
      textsOf("1. The rows are stored as escape codes.\n\nSo a `red` row never reaches the parser."),
    ).toEqual(["The rows are stored as escape codes. So a `red` row never reaches the parser."]);
  });

  it("keeps the sentences of the same paragraph that say how things are", () => {
    const paragraph = "The problem is the shared buffer. It never gets flushed. The tests ran twice today.";
    expect(textsOf(paragraph)).toEqual(["The problem is the shared buffer. It never gets flushed."]);
    expect(textsOf("The problem is the shared buffer.\n\nThe timer never fires.")).toEqual([
      "The problem is the shared buffer.",
    ]);
  });

  it("keeps the reason in the sentence after a decision", () => {
    const decision = "So don't ship the second printer. Ship it later.";
    const reason = "The second printer would have cost us another driver for each printer.";
    expect(textsOf(`${decision}\n\n${reason}`)).toEqual([`${decision} ${reason}`]);
    expect(textsOf(`${decision}\n\nThe clock drifts, so the export starts late.`)).toHaveLength(2);
  });

  it("takes an observation about code with the change that it leads to as a decision", () => {
    const said = "`parseRow` is not called by any printer. Let me remove it from the row module.";
    expect(reasonsIn(said, "assistant")).toMatchObject([{ type: "decision", text: said }]);
    expect(textsOf("`parseRow` is not called by any printer. Let me look for it.")).toEqual([]);
    expect(textsOf("The tests are not done. Let me remove it.")).toEqual([]);
  });

  it("takes a list of limits as reasons, and skipped findings as decisions", () => {
    expect(typesOf("## Limitations\n\n- Plain printers fall back to the first color.")).toEqual(["reason"]);
    expect(reasonsIn("**Skipped:**\n- **Row cache** - the rows fit into memory", "assistant")).toMatchObject([
      { type: "decision", text: "Skipped: Row cache - the rows fit into memory" },
    ]);
  });

  it("takes advice to skip findings as advice, not as a decision", () => {
    expect(
      reasonsIn("**Questionable/Skip:**\n- **Row cache** - the rows fit into memory", "assistant"),
    ).toMatchObject([{ type: "reason", text: "Questionable/Skip: Row cache - the rows fit into memory" }]);
  });

  it("keeps the heading of things that are not done with each of them", () => {
    const text = "## Out of scope\n\nPrinters for labels and maps.\n\n## Result\n\nAll rows are printed.";
    expect(textsOf(text)).toEqual(["Out of scope: Printers for labels and maps."]);
    expect(textsOf("**Skipped items (per your request):**\n- #5: the slow lookup of rows")).toEqual([
      "Skipped items (per your request): #5: the slow lookup of rows",
    ]);
  });

  it("takes no item of a list of possibilities as a decision", () => {
    const items = "1. Use a stack instead of recursion\n2. Keep the recursion because it is short";
    expect(textsOf(`Your options:\n${items}\n\nWhich one?`)).toEqual([]);
    expect(textsOf(`## Your options for the parser\n\n${items}`)).toEqual([]);
    expect(textsOf(`There are two ways:\n${items}`)).toEqual([]);
  });

  it("takes no finding, plan or open question as a decision", () => {
    const item = "- The right fix is a stack instead of recursion";
    for (const heading of ["Review findings", "Issues", "Next steps", "Open questions"])
      expect(typesOf(`## ${heading}\n\n${item}`)).toEqual([]);
    expect(typesOf(item)).toEqual(["decision"]);
  });

  it("leaves out a statement whose subject is in a sentence that it does not have", () => {
    expect(textsOf("Let me remove it since the printer has its own.")).toEqual([]);
    expect(textsOf("This makes the test pass because nothing is checked.")).toEqual([]);
    expect(textsOf("Perfect! That explains the failure of the export completely.")).toEqual([]);
    expect(textsOf("`rowMap` has no reader. Let me remove it since the printer has its own.")).toEqual([
      "`rowMap` has no reader. Let me remove it since the printer has its own.",
    ]);
  });

  it("takes no guess as a cause, even after an announcement", () => {
    expect(textsOf("Found the issue! The server is probably reading the old folder.")).toEqual([]);
  });

  it("reads a user's sentence as a decision only if it is an instruction or a choice", () => {
    const isDecision = (text: string): boolean => typesOf(text, "user").includes("decision");
    expect(isDecision("yes, let's keep the table because the report needs it")).toBe(true);
    expect(isDecision("Use pnpm instead of npm for all packages.")).toBe(true);
    expect(isDecision("The page feels wrong because it has a large header instead of a card.")).toBe(false);
    expect(isDecision("Alternatively we could write a new printer instead of a module.")).toBe(false);
    expect(isDecision("Why do we use npm instead of pnpm?")).toBe(false);
  });

  it.each([
    "Rows can be lost\n\nMedium Severity\n\nUse a stack instead of recursion, because deep rows fail.",
    "In src/rows/print.ts around lines 7 to 9, the stack fails because it is small; use a list instead.",
    "review feedback:\n\n1. Recursion\nUse a stack instead of recursion.\n\n2. Tests\nNo tests found.",
    "Implement this plan:\n\n# Rows\n\n- We decided to use a stack instead of recursion.",
  ])("takes no decision of the user from a pasted text: %j", (message) => {
    expect(reasonsIn(message, "user")).toEqual([]);
  });

  it("takes the statements below a heading about decisions in a user's document as the user's", () => {
    const plan =
      "Implement this plan:\n\n# Rows\n\nRows overflow the stack.\n\n## Design decisions\n\n- **Rows**: lists of cells (not tables)\n\n## Steps\n\n1. Read all rows because they are few.";
    expect(reasonsIn(plan, "user")).toMatchObject([
      { type: "decision", by: "user", text: "Rows: lists of cells (not tables)" },
    ]);
  });

  it("reads what a user says beside a pasted review", () => {
    const review = "Deep rows fail\n\nLow Severity\n\nThe stack overflows because of the recursion.";
    expect(textsOf(`${review}\n\nLet's use a list instead of the recursion, I think.`, "user")).toEqual([
      "Let's use a list instead of the recursion, I think.",
    ]);
  });

  it("needs the reason of each sentence of a long paragraph, and never only an empty opening", () => {
    const [reason] = reasonsIn(
      `The issue is clear. The printer \`edge-3\` drops the last row because the buffer holds only 512 rows. ${"It printed the same page again and again. ".repeat(6)}`,
      "assistant",
    );
    expect(reason?.needed.join(" ")).toContain("because the buffer holds only 512 rows.");
    expect(reason?.needed).not.toContain("clear.");
  });

  it("takes the statements below a heading about causes or decisions", () => {
    expect(
      typesOf("## Root Cause\n\nThe driver closes idle sockets.\n\n## Status\n\nAll files are saved."),
    ).toEqual(["root-cause"]);
  });

  it("ignores code, quoted lines and tables", () => {
    const text = [
      "```ts",
      "// The cause was the missing index on the table.",
      "```",
      "> The cause was the missing index on the table.",
      "| The cause was | the missing index on the table |",
    ].join("\n");
    expect(reasonsIn(text, "assistant")).toEqual([]);
  });

  it("ignores what a user pasted from a program", () => {
    const text =
      "Please fix it.\n  The cause was the missing index.\n    at load because of the missing file\n[error] failed because of the missing file";
    expect(reasonsIn(text, "user").filter(({ text: said }) => said.includes("missing file"))).toEqual([]);
  });

  it("reads a user's choice with its reason as a decision of the user", () => {
    expect(reasonsIn("Let's use pnpm, since npm hoists too much.", "user")).toEqual([
      {
        type: "decision",
        by: "user",
        text: "Let's use pnpm, since npm hoists too much.",
        needed: ["Let's use pnpm, since npm hoists too much."],
      },
    ]);
  });

  it("keeps the start of a long statement and its reason as needed pieces", () => {
    const sentence = `The nightly export of ${"all the invoices and ".repeat(8)}receipts failed because the disk quota of the container is 512 MB.`;
    const [reason] = reasonsIn(sentence, "assistant");
    expect(reason?.needed).toHaveLength(2);
    expect(reason?.needed[1]).toMatch(/^because the disk quota .* 512 MB\.$/);
  });

  it("invents nothing: each needed piece of a statement is verbatim in the text", () => {
    const word = fc.constantFrom(
      "The",
      "cause",
      "was",
      "because",
      "the",
      "cache",
      "`a.ts`",
      "is",
      "not",
      "12",
      "**stale**",
      "so",
      "we",
      "decided",
      "instead of",
      "lock.",
      "Found it!",
      "failed",
      "\n- ",
      "\n\n",
      "```\n",
      ":",
      "I was wrong:",
      "since",
      "…",
      "“x”",
    );
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 120 }),
        fc.constantFrom("user" as const, "assistant" as const),
        (words, by) => {
          const text = words.join(" ");
          const plain = text.replaceAll("**", "").replace(/\s+/g, " ");
          for (const { needed, text: whole } of reasonsIn(text, by)) {
            for (const piece of needed) expect(plain).toContain(piece);
            expect(needed.length).toBeGreaterThan(0);
            for (const said of whole.replace(OMISSION, " ").split(" ")) expect(plain).toContain(said);
          }
        },
      ),
    );
  });

  it.each([
    ["spaces", " ".repeat(20_000)],
    ["words without an end", "because ".repeat(5_000)],
    ["a long word", "a".repeat(20_000)],
    ["failures", "fails ".repeat(5_000)],
    ["dashes", "- ".repeat(10_000)],
    ["bold marks", "**".repeat(10_000)],
    ["exclamation marks", "found it !".repeat(3_000)],
  ])("reads hostile text in linear time: %s", (_name, text) => {
    expect(reasonsIn(`x${text}x`, "assistant").length).toBeLessThanOrEqual(12);
    expect(reasonsIn(`x${text}x`, "user").length).toBeLessThanOrEqual(12);
  });
});
