import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeIn } from "./support/markdown.ts";
import { parse, sitesIn, type ThrowSite, throwSites } from "./support/throw-sites.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), "utf8");

interface Entry {
  readonly code: string;
  /** First words of every message with this code. `…` replaces any value. */
  readonly opening: string;
  readonly meaning: string;
  readonly remedy: string;
}

const page = read("docs", "reference", "errors.md");
const entries = page
  .slice(page.indexOf("## Codes"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line): Entry => {
    const [code, opening = "", meaning = "", remedy = ""] = line
      .split(/(?<!\\)\|/)
      .slice(1)
      .map((cell) => cell.trim());
    return { code: codeIn(code)[0] ?? "", opening, meaning, remedy };
  });
const declared = [
  ...read("packages", "core", "src", "messages", "errors.ts").matchAll(/\| "([a-z-]+)"/g),
].map(([, code = ""]) => code);
const sites = throwSites();
const entryOf = (code: string | undefined): Entry | undefined => entries.find((entry) => entry.code === code);

/** Returns true if the place only passes on the message of another error. */
const isPassedOn = (message: string): boolean => message === "…";

function opens({ opening }: Entry, message: string): boolean {
  const escaped = opening.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}`).test(message);
}

const NOTHING_TO_DO = /^nothing\b/;

/** Returns descriptions of the contradictions between a place and the reference entry of its code. */
function problemsOf({ file, code, messages, hasRemedy }: ThrowSite): readonly string[] {
  const entry = entryOf(code);
  if (entry === undefined) return code === undefined ? [] : [`${file}: ${code} has no entry`];
  const others = messages.filter((message) => !isPassedOn(message) && !opens(entry, message));
  const fragments = messages.filter(
    (message) => !isPassedOn(message) && !/^[\p{Lu}…/].*[.…]$|^(?:longhaul|messages|after)/u.test(message),
  );
  return [
    ...(messages.every(isPassedOn) ? [`${file}: ${code} has a message that this test cannot read`] : []),
    ...others.map((message) => `${file}: ${code} means "${entry.opening}", but this says "${message}"`),
    ...fragments.map((message) => `${file}: "${message}" is not a sentence`),
    ...(hasRemedy || NOTHING_TO_DO.test(entry.remedy) ? [] : [`${file}: ${code} has no remedy`]),
  ];
}

describe("the reference page of errors", () => {
  it("the page of errors has exactly one row for each error code", () => {
    expect(entries.map(({ code }) => code).sort()).toEqual([...declared].sort());
  });

  it("the page of errors states the first words, the meaning and the remedy of each error code", () => {
    const poor = ({ opening, meaning, remedy }: Entry): boolean =>
      opening.length < 8 || meaning.length < 10 || remedy.length < 5;
    expect(entries.filter(poor)).toEqual([]);
  });
});

describe("the places in the code that create errors", () => {
  it("each error code is thrown somewhere", () => {
    const thrown = new Set(sites.map(({ code }) => code));
    expect(declared.filter((code) => !thrown.has(code))).toEqual([]);
  });

  it("each place that throws an error fits the reference entry of its code", () => {
    expect(sites.flatMap(problemsOf)).toEqual([]);
  });

  it("no error message starts like the reference entry of another code", () => {
    const alike = sites.flatMap(({ code, messages }) =>
      messages
        .filter((message) => code !== undefined && !isPassedOn(message))
        .flatMap((message) =>
          entries
            .filter((entry) => entry.code !== code && opens(entry, message))
            .map((entry) => `"${message}" of ${code} opens like ${entry.code}`),
        ),
    );
    expect(alike).toEqual([]);
  });

  it("only the listed places take the error code from a caller or from another error", () => {
    const files = sites.filter(({ code }) => code === undefined).map(({ file }) => file);
    expect(files).toEqual([
      // Replaces the remedy.
      "packages/core/src/engine/recover.ts",
      // Repeats a failure of the summary model as a notice.
      "packages/core/src/engine/reporter.ts",
      // Creates the message for every kind of failed call. The adapters choose the kind.
      "packages/core/src/models/model-error.ts",
      // Replaces the remedy.
      "packages/longhaul/src/hints.ts",
    ]);
  });
});

describe("the check of the places that create errors", () => {
  const problemsIn = (code: string): readonly string[] =>
    sitesIn([parse("packages/core/src/a.ts", code)]).flatMap(problemsOf);

  it("problemsOf finds an error code with the message of another code", () => {
    const wrong =
      'throw new LonghaulError("nothing-to-undo", "No message found: " + why + ".", { remedy: "Try." });';
    expect(problemsIn(wrong)).toEqual([
      'packages/core/src/a.ts: nothing-to-undo means "Nothing to undo", but this says "No message found: …."',
    ]);
  });

  it("problemsOf finds a wrong error code in a subclass and in a choice between two codes", () => {
    const subclass =
      'class AnError extends LonghaulError { constructor() { super("query-empty", "Nothing to undo.", { remedy }); } }';
    expect(problemsIn(subclass)).toHaveLength(1);
    const choice =
      'const error = new LonghaulError(is ? "query-empty" : "nothing-to-undo", "Empty query.", { remedy });';
    expect(problemsIn(choice)).toHaveLength(1);
  });

  it("problemsOf finds an error without a remedy and a message that is not a sentence", () => {
    expect(problemsIn('new LonghaulError("query-empty", "Empty query");')).toHaveLength(2);
    expect(problemsIn('new LonghaulError("model-aborted", "The call was aborted.");')).toEqual([]);
  });

  it("problemsOf reports an error whose message is not readable from the source code", () => {
    expect(problemsIn('new LonghaulError("query-empty", text(), { remedy });')).toHaveLength(1);
  });

  it("problemsOf finds a wrong message for the kind of a failed model call", () => {
    const wrong = 'new ModelError({ kind: "refused" }, "The model is overloaded.", { remedy });';
    const base = "class ModelError extends LonghaulError {}";
    expect(problemsIn(`${base} ${wrong}`)).toHaveLength(1);
  });
});
