import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { searchesOf } from "./ask.ts";
import { NATURAL_QUESTIONS } from "./natural-questions.ts";

/** Minimum share of questions whose answer is on the first page. */
const MIN_RATE = 0.95;
/** Minimum lead over plain BM25. With fewer questions than this, a lead says nothing. */
const MIN_LEAD = 0.1;
const ENOUGH_QUESTIONS = 60;
const TIMEOUT_MS = 60_000;

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

describeRecorded("recall and natural questions about the recorded sessions", () => {
  const folder = temporaryFolder();

  it("the first page of recall answers at least 95 of 100 natural questions, clearly more than plain BM25", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const missed: string[] = [];
    let [ours, plain] = [0, 0];
    const count = NATURAL_QUESTIONS.length;
    for (const session of new Set(NATURAL_QUESTIONS.map((one) => one.session))) {
      // A copy, because recall writes its index beside the session.
      const path = join(folder, session);
      copyFileSync(realSessionPath(session), path);
      const { recall, plain: plainly, isAnswered } = await searchesOf(path);
      for (const { question, answers } of NATURAL_QUESTIONS.filter((one) => one.session === session)) {
        if (isAnswered(plainly(question), answers)) plain++;
        if (isAnswered(await recall(question), answers)) ours++;
        else missed.push(`${session}: ${question}`);
      }
    }
    const rates = `recall ${percent(ours / count)}, plain BM25 ${percent(plain / count)}`;
    console.log(
      [`${count} natural questions: ${rates}`, ...missed.map((one) => `  missed: ${one}`)].join("\n"),
    );
    expect(ours / count).toBeGreaterThanOrEqual(MIN_RATE);
    if (count >= ENOUGH_QUESTIONS) expect((ours - plain) / count).toBeGreaterThanOrEqual(MIN_LEAD);
  });
});
