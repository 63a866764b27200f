/**
 * A process of its own that keeps notes, for tests that kill it or run several of them. Arguments: path, name, how
 * many writes. Each adds a line to what is there; it is printed once the write went through, by a write that does
 * not wait in a buffer of this process.
 */
import { writeSync } from "node:fs";
import { notesFile } from "@longhaul/sessions";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
/** Large enough that a write torn in the middle would show. */
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
