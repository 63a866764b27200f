/**
 * A separate process that searches a session for a word. Tests run several such processes or kill one.
 * Arguments: path, word, number of searches. Prints each answer at once.
 */
import { writeSync } from "node:fs";
import { openRecall } from "@longhaul/sessions";

const [path = "", words = "", count = "0"] = process.argv.slice(2);
const recall = openRecall(path);
for (let nth = 0; nth < Number(count); nth++) {
  const { total } = await recall.search({ words });
  writeSync(1, `${total}\n`);
}
