import { describe, expect, it } from "vitest";
import { CURRENT_CONVENTIONS, conventionsOf } from "./session-lines.ts";

const BOTH = { preservedSegments: true, attachments: true };
const ATTACHMENTS_ONLY = { preservedSegments: false, attachments: true };
const NEITHER = { preservedSegments: false, attachments: false };

describe("session file conventions that an agent version supports", () => {
  it("treats a session without an agent version as longhaul's own session, and enables every convention", () => {
    expect(conventionsOf(undefined)).toBe(CURRENT_CONVENTIONS);
    expect(CURRENT_CONVENTIONS).toEqual(BOTH);
  });

  it("enables each session file convention from the first agent version that is known to use it", () => {
    expect(conventionsOf("2.1.89")).toEqual(NEITHER);
    expect(conventionsOf("2.1.90")).toEqual(ATTACHMENTS_ONLY);
    expect(conventionsOf("2.1.216")).toEqual(ATTACHMENTS_ONLY);
    expect(conventionsOf("2.1.217")).toEqual(BOTH);
    expect(conventionsOf("2.1.217-beta.1")).toEqual(BOTH);
  });

  it("compares agent versions by major, then minor, then patch", () => {
    for (const later of ["3.0.0", "2.2.0", "10.0.0", "3"]) expect(conventionsOf(later)).toEqual(BOTH);
    for (const earlier of ["1.9.999", "2.0.999", "2.1", "2"]) expect(conventionsOf(earlier)).toEqual(NEITHER);
  });

  it("enables no session file convention for an agent version that cannot be parsed", () => {
    for (const odd of ["", "next", "2.x.500", "2.1.x"]) expect(conventionsOf(odd)).toEqual(NEITHER);
  });
});
