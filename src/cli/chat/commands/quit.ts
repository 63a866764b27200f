import type { ChatCommand } from "./command.ts";

export const quitCommand: ChatCommand = {
  name: "/quit",
  about: "leave; the session can be resumed",
  run: (_, { leave }) => leave(),
};
