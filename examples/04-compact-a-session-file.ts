// A session file, compacted in place: appended to, never rewritten, and resumable by the agent that wrote it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  compactSession,
  loadSession,
  resumeSession,
  writeCompaction,
  writeNewSession,
} from "@longhaul/sessions";
import { conversation } from "./conversation.ts";

const path = join(await mkdtemp(join(tmpdir(), "longhaul-example-")), "session.jsonl");
await writeNewSession(path, conversation);

const session = await loadSession(path);
// Files are put back from this folder only, whatever the session says about its own.
const result = await compactSession(session, { project: process.cwd() });
const written = await writeCompaction(result, { mode: "in-place" });
console.log(`${written.mode}: ${result.compaction.tokensBefore} → ${result.compaction.tokensAfter} tokens`);

// Resuming reads the file from its end, however long it is.
const resumed = await resumeSession(path);
console.log(`${session.conversation.length} entries before, ${resumed.conversation.length} after`);
