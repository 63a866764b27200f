/**
 * A separate process that appends to a session. Tests kill it or run several of them. Arguments: path, name,
 * number of lines, number of lines per append. Prints each uuid after its write is acknowledged. Prints
 * synchronously, so that no output waits in a buffer.
 */
import { writeSync } from "node:fs";
import type { Entry } from "@longhaul/core";
import { openTranscript } from "@longhaul/sessions";

const [path = "", name = "", count = "0", together = "1"] = process.argv.slice(2);

function entry(nth: number): Entry {
  const content = `${name} says ${"something ".repeat(1 + (nth % 200))}`;
  const link = { uuid: `${name}-${nth}`, parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" };
  return { ...link, type: "user", message: { role: "user", content } };
}

// If a write exceeds a limit on file sizes, this signal would end the process. With a listener, the write
// fails instead.
process.on("SIGXFSZ", () => {});

const writer = await openTranscript(path);
try {
  for (let nth = 0; nth < Number(count); nth += Number(together)) {
    const group = Array.from({ length: Math.min(Number(together), Number(count) - nth) }, (_, at) =>
      entry(nth + at),
    );
    await Promise.all(group.map((one) => writer.append([one])));
    writeSync(1, group.map(({ uuid }) => `${uuid}\n`).join(""));
  }
  await writer.close();
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  writeSync(2, `failed: ${code}: ${error instanceof Error ? error.message : ""}\n`);
  process.exitCode = 3;
}
