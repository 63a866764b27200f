import { loadSession } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";
import { recordedText } from "../support/recorded-text.ts";
import { NATURAL_QUESTIONS } from "./natural-questions.ts";

/** Number of questions that the search has to answer at least, and of sessions they are about. */
const MIN_QUESTIONS = 72;
const MIN_SESSIONS = 9;

describeRecorded("natural questions about the recorded sessions", () => {
  it("there are enough different questions about enough sessions", () => {
    expect(new Set(NATURAL_QUESTIONS.map(({ question }) => question)).size).toBe(NATURAL_QUESTIONS.length);
    expect(NATURAL_QUESTIONS.length).toBeGreaterThanOrEqual(MIN_QUESTIONS);
    expect(new Set(NATURAL_QUESTIONS.map(({ session }) => session)).size).toBeGreaterThanOrEqual(
      MIN_SESSIONS,
    );
  });

  const sessions = [...new Set(NATURAL_QUESTIONS.map(({ session }) => session))];
  it.each(sessions)("every passage that answers a question exists exactly once in %s", async (name) => {
    const { entries } = await loadSession(realSessionPath(name));
    const asked = NATURAL_QUESTIONS.filter(({ session }) => session === name);
    for (const { uuid, start, length } of asked.flatMap(({ answers }) => answers)) {
      const texts = entries.filter((entry) => entry.uuid === uuid).map(recordedText);
      expect(texts, uuid).toHaveLength(1);
      expect(start >= 0 && length > 0 && start + length <= Number(texts[0]?.length), uuid).toBe(true);
    }
  });
});
