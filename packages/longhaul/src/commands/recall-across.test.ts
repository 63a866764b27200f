import { stripVTControlCharacters } from "node:util";
import type { SessionsRecallHit } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { textWidth } from "../view/text-width.ts";
import { type SessionsRecallReport, sessionsRecallView } from "./recall-across.ts";

const hit: SessionsRecallHit = {
  id: "1f0c9d2e-aaaa-bbbb-cccc-000000000001",
  timestamp: "2026-03-30T09:46:18.156Z",
  kind: "user",
  who: "user",
  tool: undefined,
  toolUseId: undefined,
  file: undefined,
  isError: false,
  isInContext: false,
  text: "The zebra lives in the north house.",
  from: 0,
  to: 35,
  length: 35,
  matches: [[4, 9]],
  session: {
    id: "70d782f7-aaaa-bbbb-cccc-000000000002",
    path: "/home/me/.claude/projects/-home-me-lighthouse/70d782f7.jsonl",
    agent: "claude-code",
    project: "/home/me/lighthouse",
    modifiedAt: new Date(0),
  },
  isOld: true,
};

const report = (over: Partial<SessionsRecallReport> = {}): SessionsRecallReport => ({
  scope: "project",
  query: { words: "zebra", limit: 8 },
  hits: [hit],
  page: 1,
  total: 3,
  hasMore: true,
  notSearched: 0,
  searched: 12,
  read: 1,
  skipped: [],
  ...over,
});

describe("output of longhaul recall over several sessions", () => {
  it("shows text, session, project and id of a match, how many sessions were searched, and that it is old", () => {
    const plain = stripVTControlCharacters(sessionsRecallView(report(), terminal(80, true)));
    expect(plain).toContain("all sessions of this project");
    expect(plain).toContain("3 matches for zebra, in 12 sessions");
    expect(plain).toContain("The zebra lives in the north house.");
    expect(plain).toContain(`id ${hit.id}`);
    expect(plain).toContain(`session ${hit.session.id}  /home/me/lighthouse`);
    expect(plain).toContain("These are old messages");
    expect(plain).toContain("--page 2 shows more");
  });

  it("keeps every line within the width, and prints no control characters of names", () => {
    const session = {
      ...hit.session,
      id: `s\u001b[31m\n${"x".repeat(300)}`,
      project: `/a\u0007\n${"b".repeat(300)}`,
    };
    const shown = sessionsRecallView(report({ hits: [{ ...hit, session }] }), terminal(60, false));
    for (const line of shown.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(60);
    for (const steering of ["\u001b", "\u0007"]) expect(shown).not.toContain(steering);
  });

  it("says how to search further if nothing was found", () => {
    const none = sessionsRecallView(report({ hits: [], total: 0, hasMore: false }), terminal(80, false));
    expect(none).toContain("--all also searches summaries");
    const noSession = sessionsRecallView(report({ hits: [], searched: 0 }), terminal(80, false));
    expect(noSession).toContain("--all-projects");
  });
});
