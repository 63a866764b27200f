import type { NotesWriter } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import type { Thresholds } from "@longhaul/core/measure";
import { notesLimitsFor } from "@longhaul/notes/internal/keeper";
import { readNotes } from "@longhaul/sessions";
import { readTextFile } from "@longhaul/sessions/internal";
import { notesReport, notesView } from "../../notes-report.ts";
import { formatCount } from "../../view/numbers.ts";
import { foldText, shownText } from "../../view/text-width.ts";
import { windowWords } from "../../window-report.ts";
import { findSessionToWrite } from "../../write-target.ts";
import { wrapped } from "../show/word-wrap.ts";
import { viewTerminal } from "../view-terminal.ts";
import { chooseSession } from "../which-session.ts";
import { type ChatCommand, type CommandContext, liveSession, misused } from "./command.ts";

export const modelCommand: ChatCommand = {
  name: "/model",
  usage: "[name]",
  about: "show or change the model: claude-… or provider:name",
  needsIdle: true,
  run: async (argument, { agent, modelNamed, say, screen }) => {
    if (argument !== "") await agent.setModel(await modelNamed(argument));
    const { thresholds } = agent.reading;
    say(
      foldText(
        `${agent.model.name}: ${windowWords(thresholds)}, ${headroomWords(thresholds)}.`,
        screen.width,
      ),
    );
  },
};

function headroomWords({ headroomBy, autoCompact }: Thresholds): string {
  if (headroomBy === "auto-compact") return `compacted at ${formatCount(autoCompact)}`;
  if (headroomBy === "collapse") return "with context collapse";
  return headroomBy === "overflow" ? "compacted only after an overflow" : "never compacted automatically";
}

export const resumeCommand: ChatCommand = {
  name: "/resume",
  usage: "[session]",
  about: "resume another session by id, start of an id or path, or choose from a list",
  needsIdle: true,
  run: async (argument, { agent, screen, composition, resumeFrom }) => {
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
      throw new LonghaulError("session-already-open", "This session is already open in this chat.", {
        remedy: "Choose another session, or continue here.",
      });
    if (path !== undefined) await resumeFrom(path);
  },
};

const WRITERS: ReadonlyMap<string, NotesWriter> = new Map([
  ["on", "model"],
  ["model", "model"],
  ["built-in", "built-in"],
  ["off", "off"],
]);

const NOTES_WORDS: Readonly<Record<NotesWriter, string>> = {
  model: "The model takes notes while it works.",
  "built-in": "longhaul takes notes without a model.",
  off: "Notes are off.",
};

export const notesCommand: ChatCommand = {
  name: "/notes",
  usage: "[on|built-in|off]",
  about: "show the session's notes, or change who takes them",
  values: ["on", "built-in", "off"],
  run: async (argument, chat) => {
    if (argument === "") {
      await showNotes(chat);
      return;
    }
    const writer = WRITERS.get(argument);
    if (writer === undefined) throw misused(notesCommand, argument);
    await chat.agent.setNotes(writer);
    chat.say(NOTES_WORDS[writer]);
  },
};

async function showNotes({ agent, screen, terminal, say }: CommandContext): Promise<void> {
  const session = await liveSession(agent);
  const notes = session && (await readNotes(session));
  const now = `${NOTES_WORDS[agent.notes]} /notes on, /notes built-in and /notes off change that.`;
  if (session === undefined || notes === undefined) {
    say(foldText(`There are no notes yet. ${now}`, screen.width));
    return;
  }
  const report = notesReport(session, notes, notesLimitsFor(agent.reading.thresholds), undefined);
  const view = notesView(report, { modelNotAsked: undefined, isDryRun: false }, terminal);
  say(`${view}\n\n${terminal.colors.dim(foldText(now, screen.width))}`);
}

const PLAN_MODE_ON = "Plan mode is on: the agent reads and plans. It changes nothing until you agree.";
const PLAN_MODE_OFF = "Plan mode is off: the agent can make changes again.";

export const planCommand: ChatCommand = {
  name: "/plan",
  usage: "[on|off]",
  about: "show the plan, or turn plan mode on or off (in plan mode the agent changes nothing)",
  values: ["on", "off"],
  run: async (argument, { agent, screen, say }) => {
    if (argument === "on" || argument === "off") {
      agent.setPlanMode(argument === "on");
      say(wrapped(argument === "on" ? PLAN_MODE_ON : PLAN_MODE_OFF, screen.width));
      return;
    }
    if (argument !== "") throw misused(planCommand, argument, "Send the task as your next prompt.");
    const file = await readTextFile(agent.planPath);
    const plan = file.state === "read" && file.text.trim() !== "" ? shownText(file.text.trim()) : undefined;
    const mode = `Plan mode is ${agent.isPlanMode ? "on" : "off"}. /plan on and /plan off change it.`;
    say(
      `${wrapped(plan ?? "There is no plan.", screen.width)}\n\n${screen.colors.dim(foldText(mode, screen.width))}`,
    );
  },
};
