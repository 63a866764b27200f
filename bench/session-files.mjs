// Writes session files of any size without holding them in memory.
import { closeSync, openSync, writeSync } from "node:fs";
import { longSession } from "./session.mjs";

const WRITE_CHARACTERS = 1 << 20;

export function writeLines(path, entries, mostCharacters = Number.POSITIVE_INFINITY) {
  const file = openSync(path, "w");
  let pending = [];
  let characters = 0;
  let written = 0;
  const flush = () => {
    if (pending.length > 0) writeSync(file, `${pending.join("\n")}\n`);
    pending = [];
    written += characters;
    characters = 0;
  };
  for (const entry of entries) {
    const line = JSON.stringify(entry);
    pending.push(line);
    characters += line.length;
    if (characters > WRITE_CHARACTERS) flush();
    if (written > mostCharacters) break;
  }
  flush();
  closeSync(file);
}

export function writeSession(path, bytes) {
  writeLines(path, longSession(bytes));
}

/** Writes the same messages in the format of pi. pi would overwrite a file of any other format. */
export async function writePiSession(path, bytes) {
  const { entryOf, messageOf } = await import("./peers/pi.mjs");
  const { turnsOf } = await import("./peers/turns.mjs");
  function* lines() {
    yield {
      type: "session",
      version: 3,
      id: "bench",
      timestamp: "2026-04-01T08:00:00.000Z",
      cwd: "/project",
    };
    let index = 0;
    // pi keeps no second copy of the results, so more messages are needed to fill the file.
    for (const entry of longSession(bytes * 4)) {
      const turns = entry.message ? turnsOf([entry]) : [];
      for (const turn of turns) yield entryOf(messageOf(turn, NO_USAGE), index++);
    }
  }
  writeLines(path, lines(), bytes);
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
