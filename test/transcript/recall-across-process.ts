/**
 * A separate process that searches all sessions of a home folder for a word. Tests kill it.
 * Arguments: home folder, word, number of searches. Prints each answer at once, and a line for each progress.
 */
import { writeSync } from "node:fs";
import { recallAcrossSessions } from "@longhaul/sessions";

const [home = "", words = "", count = "0"] = process.argv.slice(2);
const options = {
  places: { home, env: {} },
  scope: "machine",
  onProgress: (done: number): unknown => writeSync(1, `read ${done}\n`),
} as const;
for (let nth = 0; nth < Number(count); nth++) {
  const { total } = await recallAcrossSessions({ words }, options);
  writeSync(1, `${total}\n`);
}
