import type { AgentEvent } from "@longhaul/agent";
import type { SummaryProgress } from "@longhaul/core/compaction";
import type { Colors } from "../../terminal.ts";
import { formatSeconds, plural } from "../../view/numbers.ts";
import { fitText, oneLine, textWidth } from "../../view/text-width.ts";
import { fitToolName } from "../../view/tool-names.ts";
import { handle } from "../event-handlers.ts";
import { compactingLine } from "./compactor-lines.ts";

interface Compacting {
  readonly startedAt: number;
  readonly progress: SummaryProgress | undefined;
}

interface SubagentAtWork {
  readonly description: string;
  readonly calls: number;
  readonly doing: string;
}

interface RunningCall {
  readonly tool: string;
  readonly title: string;
  readonly startedAt: number;
  readonly progress: string;
}

/** Maximum number of running calls to show. More calls would push the input out of a small terminal. */
const MAX_CALLS_SHOWN = 5;

/** Current activity: the live lines above the input. */
export class Live {
  readonly #calls = new Map<string, RunningCall>();
  readonly #agents = new Map<string, SubagentAtWork>();
  #compacting: Compacting | undefined;
  #thinkingSince: number | undefined;
  #startedAt: number | undefined;

  /** Marks the start of the agent's work. */
  begin(now: number): void {
    this.#startedAt = now;
  }

  end(): void {
    this.#startedAt = undefined;
    this.#compacting = undefined;
    this.#thinkingSince = undefined;
    this.#calls.clear();
  }

  event(event: AgentEvent, now: number): void {
    handle(event, {
      thinking: () => {
        this.#thinkingSince ??= now;
      },
      "call-started": ({ callId, tool, title }) =>
        this.#calls.set(callId, { tool, title, startedAt: now, progress: "" }),
      "call-progress": ({ callId, text }) => this.#progress(callId, text),
      "call-ended": ({ callId }) => this.#calls.delete(callId),
      compacting: ({ progress }) => {
        this.#compacting = { startedAt: this.#compacting?.startedAt ?? now, progress };
      },
      "compacting-ended": () => {
        this.#compacting = undefined;
      },
      agent: ({ agentId, description, event: inner }) => this.#agent(agentId, description, inner),
    });
  }

  /** Returns the thinking time in milliseconds, if there was any. */
  endThinking(now: number): number | undefined {
    const since = this.#thinkingSince;
    this.#thinkingSince = undefined;
    return since === undefined ? undefined : now - since;
  }

  lines(now: number, width: number, colors: Colors): readonly string[] {
    const cut = (text: string): string => fitText(text, width);
    const compacting = this.#compacting;
    const agents = [...this.#agents.values()].map(
      ({ description, calls, doing }) =>
        `  ${fitText(`┆ ${description} · ${plural(calls, "call")}${doing === "" ? "" : ` · ${doing}`}`, width - 2)}`,
    );
    const under = [...this.#callLines(now, width), ...agents];
    if (compacting !== undefined)
      under.push(colors.cyan(cut(compactingLine(compacting.progress, now - compacting.startedAt))));
    if (this.#thinkingSince !== undefined)
      under.push(cut(`✻ thinking · ${formatSeconds(now - this.#thinkingSince)}`));
    const isWaiting = this.#startedAt !== undefined && under.length === 0;
    return isWaiting
      ? [colors.dim(cut(`Working · ${formatSeconds(now - (this.#startedAt ?? now))}`))]
      : under;
  }

  #callLines(now: number, width: number): readonly string[] {
    const calls = [...this.#calls.values()];
    const shown = calls.slice(0, MAX_CALLS_SHOWN).map((call) => runningLine(call, now, width));
    const more = calls.length - shown.length;
    return more > 0 ? [...shown, `  and ${more} more`] : shown;
  }

  #progress(callId: string, text: string): void {
    const call = this.#calls.get(callId);
    const progress = oneLine(text.trimEnd().split("\n").at(-1) ?? "");
    if (call !== undefined) this.#calls.set(callId, { ...call, progress });
  }

  #agent(agentId: string, description: string, event: AgentEvent): void {
    if (event.type === "ended") {
      this.#agents.delete(agentId);
      return;
    }
    if (event.type !== "call-started") return;
    const calls = (this.#agents.get(agentId)?.calls ?? 0) + 1;
    this.#agents.set(agentId, { description, calls, doing: oneLine(`${event.tool} ${event.title}`) });
  }
}

/**
 * Shows a running call in one line. The line always contains its time, and as much of its title and progress
 * as fits.
 */
function runningLine({ tool, title, startedAt, progress }: RunningCall, now: number, width: number): string {
  const time = ` · ${formatSeconds(now - startedAt)}`;
  const shown = `○ ${fitToolName(tool, Math.max(24, Math.floor(width / 2)))} ${oneLine(title)}`.trimEnd();
  const name = fitText(shown, Math.max(1, width - textWidth(time)));
  const room = width - textWidth(name + time) - 3;
  return `${name}${time}${progress === "" || room < 8 ? "" : ` · ${fitText(progress, room)}`}`;
}
