import type { NotesWriter } from "../../../agent/index.ts";
import { readNotes } from "../../../host/session-notes.ts";
import { notesLimitsFor } from "../../../turn/notes-limits.ts";
import { notesReport } from "../../notes-report.ts";
import { notesView } from "../../view/notes-view.ts";
import { foldText } from "../../view/text-width.ts";
import type { ChatCommand, CommandContext } from "./command.ts";
import { liveSession } from "./live-session.ts";
import { misused } from "./misused.ts";

const WRITERS: ReadonlyMap<string, NotesWriter> = new Map([
  ["on", "model"],
  ["model", "model"],
  ["built-in", "built-in"],
  ["off", "off"],
]);

const WORDS: Readonly<Record<NotesWriter, string>> = {
  model: "Notes are taken along the way, by the model.",
  "built-in": "Notes are taken along the way, without a model.",
  off: "No notes are taken.",
};

export const notesCommand: ChatCommand = {
  name: "/notes",
  usage: "[on|built-in|off]",
  about: "show the session's notes, or who takes them",
  values: ["on", "built-in", "off"],
  run: async (argument, chat) => {
    if (argument === "") {
      await show(chat);
      return;
    }
    const writer = WRITERS.get(argument);
    if (writer === undefined) throw misused(notesCommand, argument);
    await chat.agent.setNotes(writer);
    chat.say(WORDS[writer]);
  },
};

async function show({ agent, screen, terminal, say }: CommandContext): Promise<void> {
  const session = await liveSession(agent);
  const notes = session && (await readNotes(session));
  const now = `${WORDS[agent.notes]} /notes on, built-in or off changes that.`;
  if (session === undefined || notes === undefined) {
    say(foldText(`There are none yet. ${now}`, screen.width));
    return;
  }
  const report = notesReport(session, notes, notesLimitsFor(agent.reading.thresholds), undefined);
  const view = notesView(report, { modelNotAsked: undefined, isDryRun: false }, terminal);
  say(`${view}\n\n${terminal.colours.dim(now)}`);
}
