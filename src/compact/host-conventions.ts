/** What the agent that wrote a session understands when it reads the session again. */
export interface HostConventions {
  /** Re-links kept messages by the boundary's `preservedSegment`; otherwise they are written again. */
  readonly preservedSegments: boolean;
  /** Reads `attachment` lines; otherwise what is put back is written as an injected user message. */
  readonly attachments: boolean;
}

/** The first Claude Code versions in whose files each thing was seen. */
const FIRST_WITH_SEGMENTS = [2, 1, 217] as const;
const FIRST_WITH_ATTACHMENTS = [2, 1, 90] as const;

/** Of a session that we write ourselves. */
export const CURRENT_CONVENTIONS: HostConventions = Object.freeze({
  preservedSegments: true,
  attachments: true,
});

/** A session without a version is our own. */
export function conventionsOf(version: string | undefined): HostConventions {
  if (version === undefined) return CURRENT_CONVENTIONS;
  return {
    preservedSegments: isAtLeast(version, FIRST_WITH_SEGMENTS),
    attachments: isAtLeast(version, FIRST_WITH_ATTACHMENTS),
  };
}

function isAtLeast(version: string, least: readonly [number, number, number]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    // What is no number is greater than none.
    if (part !== wanted) return part > wanted;
  }
  return true;
}
