import { LonghaulError } from "../../../errors.ts";
import { findSessionToWrite } from "../../write-target.ts";
import { viewTerminal } from "../view-terminal.ts";
import { chooseSession } from "../which-session.ts";
import type { ChatCommand } from "./command.ts";

export const resumeCommand: ChatCommand = {
  name: "/resume",
  usage: "[session]",
  about: "go on with another session: an id, its beginning, a path, or from a list",
  needsIdle: true,
  run: async (argument, { agent, screen, composition, goOnWith }) => {
    const { places, now } = composition;
    const path =
      argument === ""
        ? await chooseSession(screen, { places, cwd: agent.cwd, now: now(), without: agent.sessionPath })
        : await findSessionToWrite(argument, {
            places: { ...places, cwd: agent.cwd },
            now: now(),
            terminal: viewTerminal(screen),
          });
    if (path === agent.sessionPath)
      throw new LonghaulError("session-locked", "That is the session that you are in.");
    if (path !== undefined) await goOnWith(path);
  },
};
