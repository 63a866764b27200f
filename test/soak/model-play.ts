import {
  type Behavior,
  noteTaker,
  spanSummaries,
  summaries,
  type Turn,
  type TurnBlock,
} from "@longhaul/simulator";
import type { Chance } from "./chance.ts";
import type { Setup } from "./setup.ts";
import type { Texts } from "./texts.ts";

/** Plays the model. Summaries, notes and spans have the drawn quality. The agent calls tools at random. */
export function modelPlay(setup: Setup, chance: Chance, texts: Texts): readonly Behavior[] {
  return [
    summaries(setup.summaryKind),
    noteTaker(setup.notesKind),
    spanSummaries(setup.spanKind),
    ({ body }) => work(chance, texts, thinksAlways(body.thinking)),
  ];
}

/** Returns true if the API requires each turn with tools to begin with thinking. */
const thinksAlways = (thinking: unknown): boolean =>
  (thinking as { type?: unknown } | undefined)?.type === "enabled";

function work(chance: Chance, texts: Texts, thinks: boolean): Turn {
  const blocks: TurnBlock[] = [];
  if (chance.is(0.6) || thinks)
    blocks.push({ type: "thinking", thinking: texts.text(chance.between(5, 150)) });
  const calls = chance.is(0.25) ? 0 : chance.pick([1, 1, 1, 2, 3, 4]);
  if (calls === 0 || chance.is(0.5)) blocks.push({ type: "text", text: texts.text(chance.between(5, 200)) });
  for (let call = 0; call < calls; call++) blocks.push(toolCall(chance, texts));
  if (calls > 0 && chance.is(0.05)) return { blocks, stopReason: "max_tokens" };
  return { blocks };
}

function toolCall(chance: Chance, texts: Texts): TurnBlock {
  const path = `/home/dev/harbor/src/file-${chance.between(1, 9)}.ts`;
  const calls: readonly TurnBlock[] = [
    { type: "tool_use", name: "Read", input: { file_path: path } },
    { type: "tool_use", name: "Bash", input: { command: `npm test -- ${path}` } },
    { type: "tool_use", name: "Grep", input: { pattern: `berth ${chance.between(1, 99)}`, path } },
    {
      type: "tool_use",
      name: "Write",
      input: { file_path: path, content: texts.text(chance.between(10, 300)) },
    },
    {
      type: "tool_use",
      name: "TodoWrite",
      input: { todos: [{ content: "Check the books", status: "pending", activeForm: "Checking the books" }] },
    },
  ];
  return chance.pick(calls);
}
