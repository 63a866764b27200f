import type { ContentBlock } from "../../message.ts";
import type { JsonRecord } from "../../untrusted.ts";
import { recordsField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

/** Skills whose instructions the agent follows, put back after a compaction. */
export function usedSkills(attachment: JsonRecord): readonly ContentBlock[] {
  const skills = recordsField(attachment, "skills").flatMap((skill) => {
    const content = textField(skill, "content").trim();
    const path = textField(skill, "path");
    const where = path === "" ? "" : ` (${path})`;
    return content === ""
      ? []
      : [`Skill ${textField(skill, "name") || "without a name"}${where}:\n${content}`];
  });
  if (skills.length === 0) return [];
  return reminder(
    ["Skills used in this session. Keep to their instructions where they still apply.", ...skills].join(
      "\n\n",
    ),
  );
}

export function planMode(attachment: JsonRecord): readonly ContentBlock[] {
  const path = textField(attachment, "planFilePath");
  const file = path === "" ? "" : ` The only file that may be written is the plan itself, ${path}.`;
  return reminder(
    `Plan mode is on, and stays on until the user approves a plan. Look around and plan; do not edit files, run commands that change anything, or commit.${file}`,
  );
}

/** A task in the background, as it stands. */
export function taskStatus(attachment: JsonRecord): readonly ContentBlock[] {
  const id = textField(attachment, "taskId");
  const what = textField(attachment, "description");
  const task = `${textField(attachment, "taskType") === "local_bash" ? "Command" : "Agent"} ${id || "without an id"}${what === "" ? "" : ` (${what})`}`;
  const progress = textField(attachment, "deltaSummary");
  const path = textField(attachment, "outputFilePath");
  const status = textField(attachment, "status") || "running";
  const sentences = [
    status === "running"
      ? `${task} is still running in the background. Do not start it a second time; you will be told when it ends.`
      : `${task} in the background has ended: ${status}. Do not start it a second time; its result has not been collected yet.`,
    progress === "" ? "" : `So far: ${progress}`,
    path === "" ? "" : `Its output is in ${path}.`,
  ];
  return reminder(sentences.filter((sentence) => sentence !== "").join(" "));
}

export function sessionMemory(attachment: JsonRecord): readonly ContentBlock[] {
  const path = textField(attachment, "path");
  if (path === "") return [];
  return reminder(
    `Notes on this session, taken as it went along, are in ${path}. Read them where the summary leaves something open.`,
  );
}
