import { describe, expect, it } from "vitest";
import { deriveExam, gradeText } from "./exam.ts";
import { inventedSession, SessionBuilder } from "./invented-session.case.ts";
import { contentStems, isContentToken, sentencesOf, tokensOf } from "./words.ts";

const exam = deriveExam(inventedSession());
const texts = exam.probes.map(({ text }) => text);
const words = texts.flatMap(tokensOf).filter(isContentToken);
const literals = exam.probes.flatMap(({ answer }) =>
  answer.needles.flat().map((form) => form.replaceAll(" ", ".")),
);
/** Nonsense may hold a fact by chance, but hardly more. */
const CHANCE = 0.05;

describe("texts that state nothing", () => {
  it.each([
    ["literals, one per line", [...literals, ...words].join("\n")],
    ["literals in one line", [...literals, ...words].join(" ")],
    ["words under a heading", `## 1. Primary Request and Intent\n${[...new Set(words)].join(", ")}`],
    [
      "the words of each sentence without grammar",
      texts
        .flatMap(sentencesOf)
        .map((one) => contentStems(tokensOf(one)).join(" "))
        .join("\n"),
    ],
    ["each fact denied", texts.map((one) => `This is false and was never the case: ${one}`).join("\n")],
  ])("a text that states nothing scores near zero: %s", (_, text) => {
    expect(gradeText(exam, text).score).toBeLessThanOrEqual(CHANCE);
  });

  it("a name alone holds no probe, and a name with a word of its sentences does", () => {
    const { entries } = new SessionBuilder().user(
      "Let `CraneDriver` lift the boats, and `CraneDriver` counts them.",
    );
    const held = (text: string): readonly string[] => gradeText(deriveExam(entries), text).held;
    expect(held("- `CraneDriver`")).toEqual([]);
    expect(held("- `CraneDriver`, for the boats")).toEqual(["name-1"]);
  });

  it("every second changed file needs a word that says that it was changed", () => {
    const session = new SessionBuilder();
    for (const name of ["crane", "mast"]) session.call("Edit", { file_path: `/repo/${name}.ts` }, "ok");
    const held = (text: string): readonly string[] => gradeText(deriveExam(session.entries), text).held;
    expect(held("- /repo/crane.ts\n- /repo/mast.ts")).toEqual(["file-2"]);
    expect(held("- /repo/crane.ts was changed\n- /repo/mast.ts")).toEqual(["file-1", "file-2"]);
  });

  it("a passage that calls a changed file unchanged or gone does not hold the file", () => {
    const session = new SessionBuilder();
    for (const name of ["crane", "mast"]) session.call("Edit", { file_path: `/repo/${name}.ts` }, "ok");
    const held = (text: string): readonly string[] => gradeText(deriveExam(session.entries), text).held;
    expect(held("- `mast.ts`: deleted, because nobody needs it")).toEqual([]);
    expect(held("- `mast.ts` was left unchanged.")).toEqual([]);
    expect(held("- `mast.ts`: removed the old sail")).toEqual(["file-2"]);
  });

  it("a file that a later command may have removed may be called deleted", () => {
    const session = new SessionBuilder();
    for (const name of ["crane", "mast"]) session.call("Edit", { file_path: `/repo/${name}.ts` }, "ok");
    session.call("Bash", { command: "rm /repo/mast.ts" }, "");
    expect(gradeText(deriveExam(session.entries), "- `mast.ts`: deleted.").held).toEqual(["file-2"]);
  });

  it("a passage that denies its source lends no name to the next passage", () => {
    const { entries } = new SessionBuilder().user("Let `CraneDriver` lift the heavy boats of the harbor.");
    const { held } = gradeText(
      deriveExam(entries),
      "- No `CraneDriver` exists.\n- Heavy boats in the harbor.",
    );
    expect(held).not.toContain("name-1");
  });
});
