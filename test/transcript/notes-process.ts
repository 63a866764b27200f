/**
 * A separate process that keeps notes. Tests kill it or run several of them. Arguments: path, name, number of
 * writes. Each write adds a line. The process prints the line after the write succeeded. Prints
 * synchronously, so that no output waits in a buffer.
 */
import { writeSync } from "node:fs";
import { notesFile } from "@longhaul/sessions";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
/** Large enough that a torn write is noticed. */
const FILLING = `${"=".repeat(99)}\n`.repeat(500);

const file = notesFile(path);
for (let nth = 0; nth < Number(count); nth++) {
  const line = `${name}-${nth}`;
  for (;;) {
    const before = await file.read();
    const lines = before?.slice(0, before.indexOf("=")) ?? "";
    if (await file.write(`${lines}${line}\n${FILLING}`, before)) break;
  }
  writeSync(1, `${line}\n`);
}
