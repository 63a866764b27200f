import type { AgentEvent } from "../../../agent/index.ts";
import type { SummaryProgress } from "../../../summary/progress.ts";
import type { Colours } from "../../terminal.ts";
import { plural } from "../../view/numbers.ts";
import { fitText, oneLine } from "../../view/text-width.ts";
import { compactingLine } from "./compaction-lines.ts";
import { RunningCalls } from "./running-calls.ts";
import { seconds } from "./seconds.ts";

interface Compacting {
  readonly startedAt: number;
  readonly progress: SummaryProgress | undefined;
}

interface SubagentAtWork {
  readonly description: string;
  readonly calls: number;
  readonly doing: string;
}

/** What is under way: the live lines above the input. */
export class Live {
  readonly #calls = new RunningCalls();
  readonly #agents = new Map<string, SubagentAtWork>();
  #compacting: Compacting | undefined;
  #thinkingSince: number | undefined;
  #startedAt: number | undefined;

  /** The agent works from now on. */
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
    switch (event.type) {
      case "thinking":
        this.#thinkingSince ??= now;
        break;
      case "call-started":
        this.#calls.started(event, now);
        break;
      case "call-progress":
        this.#calls.progress(event.callId, event.text);
        break;
      case "call-ended":
        this.#calls.ended(event.callId);
        break;
      case "compacting":
        this.#compacting = { startedAt: this.#compacting?.startedAt ?? now, progress: event.progress };
        break;
      case "compacting-ended":
        this.#compacting = undefined;
        break;
      case "agent":
        this.#agent(event.agentId, event.description, event.event);
        break;
      default:
        break;
    }
  }

  /** How long it thought, in milliseconds, where it did. */
  endThinking(now: number): number | undefined {
    const since = this.#thinkingSince;
    this.#thinkingSince = undefined;
    return since === undefined ? undefined : now - since;
  }

  lines(now: number, width: number, colours: Colours): readonly string[] {
    const cut = (text: string): string => fitText(text, width);
    const compacting = this.#compacting;
    const agents = [...this.#agents.values()].map(
      ({ description, calls, doing }) =>
        `  ${fitText(`┆ ${description} · ${plural(calls, "call")}${doing === "" ? "" : ` · ${doing}`}`, width - 2)}`,
    );
    const under = [...this.#calls.lines(now, width), ...agents];
    if (compacting !== undefined)
      under.push(colours.cyan(cut(compactingLine(compacting.progress, now - compacting.startedAt))));
    if (this.#thinkingSince !== undefined)
      under.push(cut(`✻ thinking · ${seconds(now - this.#thinkingSince)}`));
    const isWaiting = this.#startedAt !== undefined && under.length === 0;
    return isWaiting ? [colours.dim(cut(`Working · ${seconds(now - (this.#startedAt ?? now))}`))] : under;
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
