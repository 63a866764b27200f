import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTEXT_TEXTS } from "./context-texts.ts";
import { FIELD_TEXTS } from "./field-texts.ts";
import { MESSAGE_TEXTS } from "./message-texts.ts";
import { refusal, textOf } from "./refuse.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";
import { STATUS_TEXTS } from "./status-texts.ts";
import { TEXTS, type TextRow, UNVERIFIED_TEXTS, WITHOUT_SOURCE } from "./texts.ts";

const ROWS: Readonly<Record<string, TextRow>> = TEXTS;

/** A page of the documentation, types of the SDK, or issues. A note in parentheses may follow. */
const SOURCE =
  /^(?:docs: [A-Z]|SDK 1\.\d+\.\d+: \w|[\w.-]+\/[\w.-]+#\d+(?:, (?:[\w.-]+\/[\w.-]+)?#\d+)*(?= \(|$))/;

/** A page that a text can be quoted from, or an issue that shows the answer. */
const QUOTE = /^docs: |^[\w.-]+\/[\w.-]+#\d+/;

const sourcesOf = ({ source = "" }: TextRow): readonly string[] => source.split("; ");

/** Names of types in sources such as `SDK 1.8.0: BetaThinkingConfigEnabled (budget_tokens), ModelListParams`. */
function sdkTypesIn(row: TextRow): readonly string[] {
  return sourcesOf(row)
    .filter((source) => source.startsWith("SDK "))
    .flatMap((source) =>
      source
        .replace(/^SDK \S+: /, "")
        .replaceAll(/ \([^)]*\)/g, "")
        .split(", "),
    )
    .map((name) => name.split(".")[0] ?? "");
}

/** All type files of the official SDK. */
function sdkDeclarations(): string {
  const root = dirname(createRequire(import.meta.url).resolve("@anthropic-ai/sdk"));
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
}

describe("the error texts and placeholders of the simulator", () => {
  it("UNVERIFIED_TEXTS lists every text that is not verified, including placeholders and single sentences", () => {
    for (const { name, text } of UNVERIFIED_TEXTS)
      expect({ verified: false, ...ROWS[name] }).toMatchObject({ verified: false, text });
    const listed = new Set<string>(UNVERIFIED_TEXTS.map(({ name }) => name));
    for (const [name, { verified }] of Object.entries(ROWS)) expect(listed.has(name)).toBe(!verified);
    for (const name of ["clearedResult", "olderMessageDiffers", "compactionMisplaced", "threadNotFound"])
      expect(listed).toContain(name);
  });

  it("each text of the simulator has a unique name and a unique wording", () => {
    const rules = [SHAPE_TEXTS, FIELD_TEXTS, MESSAGE_TEXTS, CONTEXT_TEXTS].flatMap((part) =>
      Object.entries(part),
    );
    expect(new Set(rules.map(([, { text }]) => text)).size).toBe(rules.length);
    expect(Object.keys(ROWS).length).toBe(rules.length + Object.keys(STATUS_TEXTS).length);
  });

  it("every text names a page, a type of the SDK or an issue as its source, except those without a public source", () => {
    const unsourced = Object.entries(ROWS).filter(
      ([, row]) => !sourcesOf(row).every((part) => SOURCE.test(part)),
    );
    expect(unsourced.map(([name]) => name).sort()).toEqual([...WITHOUT_SOURCE].sort());
  });

  it("the source of each verified text is a page that a reader can open, or an issue with the captured answer", () => {
    const verified = Object.entries(ROWS).filter(([, row]) => row.verified === true);
    expect(verified.length).toBeGreaterThan(70);
    const unquoted = verified.filter(([, row]) => !sourcesOf(row).some((part) => QUOTE.test(part)));
    expect(unquoted.map(([name]) => name)).toEqual([]);
  });

  it("the official SDK has every type that a source names", () => {
    const declarations = sdkDeclarations();
    const names = Object.values(ROWS).flatMap(sdkTypesIn);
    expect(names.length).toBeGreaterThan(30);
    const isDeclared = (name: string): boolean =>
      new RegExp(`(?:interface|type|class) ${name}\\b`).test(declarations);
    expect(names.filter((name) => !isDeclared(name))).toEqual([]);
  });

  it("creates an error with the status, type and code of its text", () => {
    const { status, type, message, details } = refusal("threadNotFound", { id: "msg_1" });
    expect([status, type, details]).toEqual([404, "not_found_error", { error_code: "thread_not_found" }]);
    expect(message).toContain("previous_message_id msg_1.");
    expect(refusal("compactionUnavailable")).toMatchObject({ status: 529, type: "overloaded_error" });
    expect(refusal("tooLong", { tokens: 2, window: 1 })).toMatchObject({ status: 400, details: undefined });
  });

  it("fills in the placeholder of a text", () => {
    expect(textOf("olderMessageDiffers", { path: "messages.3" })).toBe(
      "A message older than `messages.3` differs from when this block was created.",
    );
  });
});
