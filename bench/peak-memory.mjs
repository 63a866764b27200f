// Reads the peak memory of this process without loading anything else.
import { readFileSync } from "node:fs";

/**
 * Returns the peak memory. `getrusage` may return the parent's figure from before the exec. The kernel's own
 * figure is always right.
 */
export function peakBytes() {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "latin1"));
    return Number(kilobytes) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
