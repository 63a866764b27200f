import type { ChatCommand } from "./command.ts";

export const undoCommand: ChatCommand = {
  name: "/undo",
  about: "take back the newest compaction, snip, collapse or expansion",
  needsIdle: true,
  run: async (_, { agent, signal }) => agent.undo({ signal }),
};

export const redoCommand: ChatCommand = {
  name: "/redo",
  about: "take back the last /undo",
  needsIdle: true,
  run: async (_, { agent, signal }) => agent.redo({ signal }),
};
