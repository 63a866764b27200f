import type { Random } from "../../demo/random.ts";
import { area, capitalized, functionName, phrase, quality, thing } from "../chance.ts";
import { type CoderView, inputText, resultHead, type SeenCall } from "./coder-view.ts";
import type { Idea } from "./ideas.ts";
import { doneMark, type Progress, stepMark } from "./progress.ts";

export interface Speaker {
  readonly progress: Progress;
  readonly view: CoderView;
  readonly random: Random;
  /** Approximate number of characters to say. */
  readonly characters: number;
}

/**
 * Writes the text before tool calls. The step mark comes first, so that a shortened text still contains it.
 */
export function textBefore(speaker: Speaker, ideas: readonly Idea[]): string {
  const { progress, view } = speaker;
  const opening = `${stepMark(progress.step, progress.topic)} `;
  const failure = view.calls.find((call) => call.isNew && call.isError);
  const start = failure === undefined ? announcement(speaker, ideas[0]) : afterFailure(failure);
  return padded(`${opening}${start}`, speaker);
}

function announcement({ progress, random }: Speaker, idea: Idea | undefined): string {
  if (progress.isNewTask) return `I will take care of "${progress.topic}". Let me first see what is there.`;
  switch (idea?.kind) {
    case "read":
      return `Let me read \`${idea.path}\` before changing anything about the ${thing(random)}.`;
    case "write":
      return `I am writing \`${idea.path}\`, so that the ${thing(random)} has its own small file.`;
    case "edit":
      return `I am changing \`${idea.path}\`, because it should reject the ${quality(random)} ${thing(random)}.`;
    case "shell":
      return random.pick(["Let me check that this works.", "Let me see whether it still passes."]);
    case "grep":
    case "list":
      return `Where does ${area(random)} deal with ${quality(random)} ${thing(random)}s? Searching.`;
    case "todo":
      return "Bringing the list up to date.";
    default:
      return `Next: ${phrase(random)}.`;
  }
}

function afterFailure(failure: SeenCall): string {
  const head = resultHead(failure.result);
  const what = inputText(failure.input).split("\n")[0]?.slice(0, 80) ?? "";
  const call = what === "" ? failure.name : `${failure.name} on \`${what}\``;
  return `${call} failed${head === "" ? "" : `: ${head}`}. Trying it another way.`;
}

/** Writes thinking that refers to the latest results. */
export function thoughts(speaker: Speaker, ideas: readonly Idea[]): string {
  const { progress, view, random } = speaker;
  const last = view.calls.find((call) => call.isNew);
  const seen =
    last === undefined
      ? `The user wants: ${progress.topic}.`
      : `${last.name} ${last.isError ? "failed" : "answered"}: ${resultHead(last.result) || "nothing"}.`;
  const plan = ideas.map((idea) => (idea.kind === "other" ? "the other tool" : idea.kind)).join(", then ");
  const next = plan === "" ? "I can answer now." : `Next is ${plan}. After that I may ${phrase(random)}.`;
  return padded(`${seen} ${next}`, speaker);
}

/**
 * Writes the closing text of a task. It contains an id that differs from task to task, so that no two tasks
 * end with the same text.
 */
export function closing({ progress, view, random }: Speaker, steps: number): string {
  const { topic, chain } = progress;
  const files = view.paths.slice(0, random.between(2, 5)).map((path) => `- \`${path}\`: ${phrase(random)}`);
  const touched = files.length === 0 ? [] : ["", "Files I had open last:", ...files];
  const id = chain.toString(16).padStart(8, "0").slice(0, 7);
  return [
    `${doneMark(steps, topic)} This is finished: ${topic}.`,
    ...touched,
    "",
    `${capitalized(phrase(random))} was what took the longest. The state is noted as ${id}. Tell me what comes next.`,
  ].join("\n");
}

/** Answers in text if there is nothing to call. */
export function answerText(speaker: Speaker): string {
  return padded(`About "${speaker.progress.topic}": ${phrase(speaker.random)}.`, speaker);
}

function padded(start: string, { random, characters }: Speaker): string {
  let text = start;
  while (text.length < characters) text += ` ${sentence(random)}`;
  return text;
}

function sentence(random: Random): string {
  return random.pick([
    `The ${quality(random)} ${thing(random)} of ${area(random)} is the likely cause.`,
    `\`${functionName(random)}\` seems to be where it starts.`,
    `After that I will ${phrase(random)}.`,
    `A test for the ${quality(random)} case is still missing.`,
    `There are ${random.between(2, 40)} callers, and most of them ${phrase(random)}.`,
    `It would be simpler to ${phrase(random)}, but ${area(random)} depends on the order.`,
    `I am leaving ${area(random)} as it is for now.`,
  ]);
}
