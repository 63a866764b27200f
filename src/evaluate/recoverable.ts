import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "../conversation/entry.ts";
import type { RecallQuery } from "../recall/query.ts";
import { openRecall, type Recall } from "../recall/recall.ts";
import { writeNewSession } from "../transcript/new-session.ts";
import { haystackOf } from "./probes/held.ts";
import type { Probe } from "./probes/probe.ts";

/** Where an agent that has the recall tool can look. */
export interface Recoverable {
  /** Whether searching the transcript for it brings it back, word for word. */
  finds(probe: Probe): Promise<boolean>;
}

/** Recall over a transcript of what was said. It lies in a folder of its own for as long as it is used. */
export async function withTranscript<T>(
  said: readonly Entry[],
  use: (recoverable: Recoverable) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-eval-"));
  try {
    const path = join(folder, "session.jsonl");
    if (said.length > 0) await writeNewSession(path, said);
    return await use(searching(openRecall(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function searching(recall: Recall): Recoverable {
  const known = new Map<string, Promise<boolean>>();
  return {
    finds: (probe) => {
      const found = known.get(probe.id) ?? findsAll(recall, probe);
      known.set(probe.id, found);
      return found;
    },
  };
}

async function findsAll(recall: Recall, probe: Probe): Promise<boolean> {
  for (const needle of probe.needles) {
    if (!(await findsOne(recall, { ...probe, needles: [needle] }, needle))) return false;
  }
  return true;
}

/** An agent turns a page or two before it asks otherwise. */
const PAGES_LOOKED_AT = 3;

/** By its words, as an agent would; else by its very text, however the transcript breaks it into lines. */
async function findsOne(recall: Recall, asked: Probe, needle: string): Promise<boolean> {
  const queries: readonly RecallQuery[] = [
    ...Array.from({ length: PAGES_LOOKED_AT }, (_, index) => ({ words: needle, page: index + 1 })),
    { pattern: patternOf(needle), ignoreCase: true },
  ];
  for (const query of queries) {
    const { hits } = await recall.search({ ...query, all: true });
    const texts = hits.flatMap(({ text, file }) => (file === undefined ? [text] : [text, file]));
    if (haystackOf(texts).holds(asked)) return true;
  }
  return false;
}

const patternOf = (needle: string): string =>
  needle
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\//g, "[\\\\/]+")
    .replace(/\s+/g, "\\s+");
