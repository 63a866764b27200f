import { describe, expect, it } from "vitest";
import { refusal, textOf } from "./refuse.ts";
import {
  CONTEXT_TEXTS,
  MESSAGE_TEXTS,
  REQUEST_TEXTS,
  TEXTS,
  type TextRow,
  UNVERIFIED_TEXTS,
} from "./texts.ts";

describe("the error texts and placeholders of the simulator", () => {
  it("UNVERIFIED_TEXTS lists every text that is not verified, including placeholders and single sentences", () => {
    const rows: Readonly<Record<string, TextRow>> = TEXTS;
    for (const { name, text } of UNVERIFIED_TEXTS)
      expect({ verified: false, ...rows[name] }).toMatchObject({ verified: false, text });
    const listed = new Set<string>(UNVERIFIED_TEXTS.map(({ name }) => name));
    for (const [name, { verified }] of Object.entries(rows)) expect(listed.has(name)).toBe(!verified);
    for (const name of ["clearedResult", "olderMessageDiffers", "compactionMisplaced", "threadNotFound"])
      expect(listed).toContain(name);
  });

  it("each text of the simulator has a unique name and a unique wording", () => {
    const parts = [REQUEST_TEXTS, MESSAGE_TEXTS, CONTEXT_TEXTS].flatMap((part) => Object.entries(part));
    expect(new Set(parts.map(([name]) => name)).size).toBe(parts.length);
    expect(new Set(parts.map(([, { text }]) => text)).size).toBe(parts.length);
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
