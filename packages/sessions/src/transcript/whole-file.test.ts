import { describe, expect, it } from "vitest";
import { notWritten } from "./whole-file.ts";

describe("the error of a session that could not be written", () => {
  it.each([
    ["the system's code", Object.assign(new Error("write"), { code: "ENOSPC" }), "the disk is full"],
    ["the message of an error without a known code", new Error("the pipe broke"), "the pipe broke"],
    ["an unknown error where nothing is known", "?", "an unknown error occurred"],
  ])("gives %s as the reason", (_, cause, reason) => {
    expect(notWritten("a.jsonl", cause).message).toBe(
      `a.jsonl was not written: ${reason}. Nothing was changed.`,
    );
  });
});
