// node --import ./report-usage.mjs PROGRAM: prints the CPU time and the peak memory of the program as the
// last line of stderr.
import { peakBytes } from "./peak-memory.mjs";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakBytes: peakBytes() };
  process.stderr.write(`${JSON.stringify(usage)}\n`);
});
