// Compacts a session file in place. Only appends lines to the file. The agent that wrote the session can
// still resume it.
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
// Restores files from this folder only, whatever the session claims.
const result = await compactSession(session, { project: process.cwd() });
const written = await writeCompaction(result, { mode: "in-place" });
console.log(`${written.mode}: ${result.compaction.tokensBefore} → ${result.compaction.tokensAfter} tokens`);

// A resume reads the file from its end, however long the file is.
const resumed = await resumeSession(path);
console.log(`${session.conversation.length} entries before, ${resumed.conversation.length} after`);
