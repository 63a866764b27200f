import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { openRecall, type Recall, writeNewSession } from "@longhaul/sessions";
import { answersProbe, type Probe } from "./probes/exam.ts";

/** Resolves to true if the first page of recall results for the probe's question contains its answer. */
export type AnswerByRecall = (probe: Probe) => Promise<boolean>;

/** Runs `use` with recall over a temporary transcript of these entries. */
export async function withTranscript<T>(
  said: readonly Entry[],
  use: (answers: AnswerByRecall) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-eval-"));
  try {
    const path = join(folder, "session.jsonl");
    if (said.length > 0) await writeNewSession(path, said);
    return await use(createAsker(openRecall(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Asks each question once, because several policies can miss the same probe. */
function createAsker(recall: Recall): AnswerByRecall {
  const known = new Map<string, Promise<boolean>>();
  return (probe) => {
    const found = known.get(probe.id) ?? isAnswered(recall, probe);
    known.set(probe.id, found);
    return found;
  };
}

async function isAnswered(recall: Recall, probe: Probe): Promise<boolean> {
  const { hits } = await recall.search({ words: probe.question, all: true });
  const page = hits.map(({ text, file }) => (file === undefined ? text : `${file}\n${text}`)).join("\n\n");
  return answersProbe(probe, page);
}
