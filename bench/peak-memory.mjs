// The peak memory of this process, without loading anything else.
import { readFileSync } from "node:fs";

/** The figure that `getrusage` gives may be the parent's, from before the exec; the kernel's own one never is. */
export function peakBytes() {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "latin1"));
    return Number(kilobytes) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
