import { describe, expect, it } from "vitest";
import { readChatSettings } from "./settings.ts";

describe("readChatSettings", () => {
  it("reads what is set for chats", () => {
    const chat = {
      model: "openai:gpt-5",
      smallModel: "claude-haiku-4-5",
      notes: "built-in",
      maxTurns: 50,
      permissions: { mode: "accept-edits", allow: ["shell:npm test"], paths: ["/data"] },
    };
    expect(readChatSettings({ chat, hooks: {} })).toEqual({ settings: chat, warnings: [] });
    expect(readChatSettings(undefined)).toEqual({ settings: {}, warnings: [] });
  });

  it("passes over each bad value, says so, and takes the others", () => {
    const chat = {
      model: 7,
      notes: "sometimes",
      maxTurns: 0,
      permissions: { mode: "all", allow: "x", paths: ["/d"] },
    };
    const { settings, warnings } = readChatSettings({ chat });
    expect(settings).toEqual({ permissions: { paths: ["/d"] } });
    expect(warnings.map((warning) => /setting (\S+)/.exec(warning)?.[1])).toEqual([
      "chat.model",
      "chat.notes",
      "chat.maxTurns",
      "chat.permissions.mode",
      "chat.permissions.allow",
    ]);
    expect(readChatSettings({ chat: [] }).warnings).toEqual([
      "The setting chat is ignored: it must be an object.",
    ]);
    expect(readChatSettings({ chat: { permissions: "none" } }).settings).toEqual({});
  });
});
