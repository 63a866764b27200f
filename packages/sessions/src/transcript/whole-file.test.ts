import { describe, expect, it } from "vitest";
import { notWritten } from "./whole-file.ts";

describe("notWritten", () => {
  it.each([
    [
      "a text for a known system error code",
      Object.assign(new Error("write"), { code: "ENOSPC" }),
      "the disk is full",
    ],
    ["the message of an error without a known code", new Error("the pipe broke"), "the pipe broke"],
    ["an unknown error for any other value", "?", "an unknown error occurred"],
  ])("reports %s as the reason why a session was not written", (_, cause, reason) => {
    expect(notWritten("a.jsonl", cause).message).toBe(
      `The session a.jsonl was not written: ${reason}. Nothing was changed.`,
    );
  });
});
