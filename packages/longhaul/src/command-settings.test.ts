import { describe, expect, it } from "vitest";
import {
  readChatSettings,
  readCompactSettings,
  readNotesSettings,
  timeLimitsIn,
} from "./command-settings.ts";

describe("readChatSettings", () => {
  it("reads the settings for chats from the settings file", () => {
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

  it("ignores each invalid chat setting with a warning, and keeps the valid ones", () => {
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

describe("readCompactSettings and readNotesSettings", () => {
  it("reads the settings for compactions and notes from the settings file", () => {
    const compact = { firstByteTimeout: 0.5, timeout: 90 };
    const notes = { template: "/home/me/notes.md", timeout: 90 };
    expect(readCompactSettings({ compact, notes })).toEqual({ settings: compact, warnings: [] });
    expect(readNotesSettings({ compact, notes })).toEqual({ settings: notes, warnings: [] });
    expect(timeLimitsIn(compact)).toEqual({ firstByteMs: 500, totalMs: 90_000 });
    expect(timeLimitsIn(notes)).toEqual({ totalMs: 90_000 });
  });

  it("ignores an invalid setting for compactions or notes with a warning that names the setting", () => {
    const compact = { timeout: 0, firstByteTimeout: "60" };
    expect(readCompactSettings({ compact })).toEqual({
      settings: {},
      warnings: [
        "The setting compact.firstByteTimeout is ignored: it must be a positive number of seconds.",
        "The setting compact.timeout is ignored: it must be a positive number of seconds.",
      ],
    });
    expect(readNotesSettings({ notes: { template: " " } }).warnings).toEqual([
      "The setting notes.template is ignored: it must be the path of a file.",
    ]);
    expect(readNotesSettings({ notes: "off" }).warnings).toEqual([
      "The setting notes is ignored: it must be an object.",
    ]);
  });
});
