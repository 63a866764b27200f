import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { Entry } from "../../messages/entry.ts";
import { newLink } from "./new-entries.ts";

describe("newLink", () => {
  it("gives a new entry an id, a time, a parent and the session fields of the newest entry", () => {
    const fields = {
      isSidechain: false,
      userType: "external",
      entrypoint: "cli",
      cwd: "/now",
      sessionId: "s",
      version: "2.1.219",
      gitBranch: "main",
      slug: "calm-river",
      agentId: "a",
    };
    const c = new ConversationBuilder();
    c.user("older", { cwd: "/before" });
    c.user("newest", { ...fields, isMeta: true, requestId: "not this" } as object);
    const title = { type: "summary", cwd: "/nowhere" } as unknown as Entry;
    const link = { uuid: "new-1", timestamp: "2026-06-01T00:00:00.000Z", parentUuid: "p" };
    expect(newLink([...c.entries, title], "p", countingPorts())).toStrictEqual({ ...fields, ...link });
  });

  it("gives a new entry no session fields when the session has none", () => {
    const link = { uuid: "new-1", timestamp: "2026-06-01T00:00:00.000Z", parentUuid: null };
    expect(newLink([], null, countingPorts())).toStrictEqual(link);
    const bare = { type: "user", uuid: "u" } as unknown as Entry;
    expect(newLink([bare], null, countingPorts())).toStrictEqual(link);
  });
});
