import type { Entry } from "../conversation/entry.ts";
import type { StepBack } from "../conversation/undo-rewind.ts";
import { indexWithoutDuplicates, readEntries } from "./load.ts";
import { withQueuedMessages } from "./message-queue.ts";
import { withSessionFile } from "./session-file.ts";
import { type StepChoice, stepBack } from "./steps.ts";

/** Entries of a session file by their ids, as their last lines have them. What is not there is left out. */
export async function readWritten(path: string, uuids: readonly string[]): Promise<readonly Entry[]> {
  const wanted = new Set(uuids);
  return await withSessionFile(path, async ({ readAt, bytes }) => {
    const read = await readEntries(readAt, { from: 0, to: bytes }, path);
    const { entries } = withQueuedMessages(read.entries, true);
    const found = new Map<string, Entry>();
    for (const entry of entries) {
      if (typeof entry.uuid === "string" && wanted.has(entry.uuid)) found.set(entry.uuid, entry);
    }
    return [...found.values()];
  });
}

/** A step of the conversation that a session file holds, and what was before it. */
export async function readStepBack(path: string, choice: StepChoice): Promise<StepBack | undefined> {
  return await withSessionFile(path, async ({ readAt, bytes }) => {
    const read = await readEntries(readAt, { from: 0, to: bytes }, path);
    const { index, lines } = indexWithoutDuplicates(read);
    return stepBack(index, choice, lines);
  });
}
