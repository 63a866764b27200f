import { describe, expect, it } from "vitest";
import {
  continuationAfterwords,
  continuationMessage,
  isContinuation,
  withoutAfterwords,
} from "./continuation.ts";

const base = { summary: "Summary:\nfacts", keptRecent: false, trigger: "manual" } as const;

describe("the message that stands in for what was summarised", () => {
  it("says that the conversation goes on from an earlier one, then gives the summary", () => {
    expect(continuationMessage(base)).toMatch(
      /^This conversation goes on from an earlier one.*\n\nSummary:\nfacts$/s,
    );
  });

  it("says of notes that they are notes, in words by which it is known again", () => {
    const notes = continuationMessage({ ...base, summary: "# Current State\nfacts", isNotes: true });
    expect(notes).toMatch(
      /^This conversation goes on from an earlier one.* The notes below.*\n\n# Current State\nfacts$/s,
    );
    expect(notes).not.toContain("summary");
    expect(isContinuation(notes)).toBe(true);
  });

  it("tells where exact details can be read only when there is a transcript", () => {
    expect(continuationMessage({ ...base, transcriptPath: "/a/b.jsonl" })).toContain(
      "transcript: /a/b.jsonl",
    );
    expect(continuationMessage(base)).not.toContain("transcript");
  });

  it("tells of the tool for searching what was summarised only where the agent has one", () => {
    const text = continuationMessage({ ...base, recallTool: "recall" });
    expect(text).toMatch(/call the tool `recall` with words.* What it gives is old/);
    expect(continuationMessage(base)).not.toContain("recall");
    expect(withoutAfterwords(text)).toMatch(/facts$/);
  });

  it("says that recent messages follow verbatim only when some were kept", () => {
    expect(continuationMessage({ ...base, keptRecent: true })).toContain("verbatim");
    expect(continuationMessage(base)).not.toContain("verbatim");
  });

  it("orders to go on without questions or recap only when nobody asked for the compaction", () => {
    expect(continuationMessage({ ...base, trigger: "auto" })).toMatch(/no questions.*no recap/);
    expect(continuationMessage(base)).not.toContain("recap");
  });

  it("says in autonomous mode that this is not a first start", () => {
    expect(continuationMessage({ ...base, autonomous: true })).toContain("not a first start");
  });

  it("says things in this order: summary, transcript, kept messages, going on, autonomy", () => {
    const text = continuationMessage({
      summary: "THE SUMMARY",
      transcriptPath: "/THE/PATH",
      keptRecent: true,
      trigger: "auto",
      autonomous: true,
    });
    const order = ["earlier one", "THE SUMMARY", "/THE/PATH", "follow verbatim", "no recap", "autonomously"];
    const positions = order.map((part) => text.indexOf(part));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions).not.toContain(-1);
  });

  it("says where the earlier messages were kept that the summary stands for what followed them", () => {
    const text = continuationMessage({ ...base, keptEarlier: true });
    expect(text).toMatch(/^The messages above stand as they were.*\n\nSummary:\nfacts$/s);
    expect(isContinuation(text)).toBe(true);
    expect(isContinuation(continuationMessage(base))).toBe(true);
  });

  it("gives what goes with a summary also without one, for a summary that cannot hold our words", () => {
    const { summary: _, ...rest } = base;
    expect(continuationAfterwords(rest)).toBe("");
    const words = continuationAfterwords({ ...rest, transcriptPath: "/a/b.jsonl", trigger: "auto" });
    expect(words).toMatch(/^Where an exact detail.*\/a\/b.jsonl\n\nGo on with the work.*$/s);
  });

  it("gives the summary back without what was written around it", () => {
    const text = continuationMessage({
      ...base,
      transcriptPath: "/p",
      keptRecent: true,
      trigger: "auto",
      autonomous: true,
    });
    expect(withoutAfterwords(text)).toMatch(/Summary:\nfacts$/);
    expect(
      withoutAfterwords(
        "Summary:\nfacts\n\nIf you need specific details from before compaction (x), read: /p",
      ),
    ).toBe("Summary:\nfacts");
  });

  it("takes the same words in the middle of a summary for a quotation", () => {
    const quoted = [
      "Summary:",
      "6. All User Messages:",
      "Please continue the conversation from where we left it off",
      "The most recent messages follow verbatim after this one.",
      "7. Pending Tasks: the tides",
    ].join("\n");
    const text = continuationMessage({ ...base, summary: quoted, keptRecent: true, trigger: "auto" });
    expect(withoutAfterwords(text)).toMatch(/7\. Pending Tasks: the tides$/);
    expect(withoutAfterwords(quoted)).toBe(quoted);
  });
});
