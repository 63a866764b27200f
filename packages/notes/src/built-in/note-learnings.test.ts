import { describe, expect, it } from "vitest";
import { bodyOf, noted } from "../../../../test/support/noting.ts";

describe("the Learnings section of built-in notes", () => {
  it("lists each cause that the assistant names only once, verbatim, and without the sentences around it", () => {
    const cause = "The root cause is that the cache key leaves out the locale of the user.";
    const notes = noted(
      (session) => session.assistant(`Let me look at the cache. ${cause} The problem is X.`),
      (session) => session.assistant(`As I said: nothing new. ${cause}`),
    );
    expect(bodyOf(notes, "Learnings")).toBe(`- ${cause}`);
  });

  it("writes each learning on one line, whatever line ends the assistant used", () => {
    const notes = noted((session) =>
      session.assistant("The root cause is that the cache\rkey leaves out the `locale`."),
    );
    expect(bodyOf(notes, "Learnings")).toBe(
      "- The root cause is that the cache key leaves out the `locale`.",
    );
  });
});
