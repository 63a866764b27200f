import { basename } from "node:path";
import { flatten } from "@longhaul/core/request";
import { loadSession } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import { refusalOf } from "./rule-bench.case.ts";

describeRecorded("recorded conversations", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "the simulator accepts the recorded session %s",
    async (_, path = "") => {
      const messages = flatten((await loadSession(path)).conversation);
      for (const version of ["2023-06-01", "2026-10-21"] as const) {
        for (const consecutiveRoles of ["merged", "refused"] as const) {
          expect(refusalOf({ messages }, { version, switches: { consecutiveRoles } })).toBe("accepted");
        }
      }
    },
  );
});
