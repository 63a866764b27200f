import type { AgentEvent } from "../../../agent/index.ts";
import { fitText, oneLine, textWidth } from "../../view/text-width.ts";
import { seconds } from "./seconds.ts";

type CallStarted = Extract<AgentEvent, { type: "call-started" }>;

interface RunningCall {
  readonly tool: string;
  readonly title: string;
  readonly startedAt: number;
  readonly progress: string;
}

/** More would push the input out of a small window. */
const MOST_SHOWN = 5;

/** Calls that are under way, for the live lines. */
export class RunningCalls {
  readonly #calls = new Map<string, RunningCall>();

  started({ callId, tool, title }: CallStarted, now: number): void {
    this.#calls.set(callId, { tool, title, startedAt: now, progress: "" });
  }

  progress(callId: string, text: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#calls.set(callId, { ...call, progress: lastLine(text) });
  }

  ended(callId: string): void {
    this.#calls.delete(callId);
  }

  clear(): void {
    this.#calls.clear();
  }

  get size(): number {
    return this.#calls.size;
  }

  lines(now: number, width: number): readonly string[] {
    const calls = [...this.#calls.values()];
    const shown = calls.slice(0, MOST_SHOWN).map((call) => runningLine(call, now, width));
    const more = calls.length - shown.length;
    return more > 0 ? [...shown, `  and ${more} more`] : shown;
  }
}

/** The time stays in sight; of the rest, what there is room for. */
function runningLine({ tool, title, startedAt, progress }: RunningCall, now: number, width: number): string {
  const time = ` · ${seconds(now - startedAt)}`;
  const name = fitText(`○ ${tool} ${oneLine(title)}`.trimEnd(), Math.max(1, width - textWidth(time)));
  const room = width - textWidth(name + time) - 3;
  return `${name}${time}${progress === "" || room < 8 ? "" : ` · ${fitText(progress, room)}`}`;
}

const lastLine = (text: string): string => oneLine(text.trimEnd().split("\n").at(-1) ?? "");
