import { createRunningClock } from "../../testing/clock.ts";
import { coder } from "../../testing/simulator/behaviours/coder.ts";
import { noteTaker } from "../../testing/simulator/behaviours/notes.ts";
import { spanSummaries } from "../../testing/simulator/behaviours/spans.ts";
import { summaries } from "../../testing/simulator/behaviours/summaries.ts";
import type { Switches } from "../../testing/simulator/exchange.ts";
import { CODER_TURNS } from "../../testing/simulator/server/simulator-session.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../testing/simulator/simulator.ts";
import type { Composition } from "../composition.ts";
import { readScript, readSimConfig, type SimConfig } from "../sim-config.ts";
import { requestLine, requestReport, simGreeting, simTotals, unknownBetaLine } from "../view/sim-view.ts";

export interface SimOptions {
  readonly port?: number;
  readonly window?: number;
  readonly turns?: number;
  readonly binding?: boolean;
  readonly betas?: "warn" | "strict";
  readonly script?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** A real client brings conversations that this simulator did not write, and rewrites its own history. */
const SWITCHES_FOR_CLIENTS: Partial<Switches> = { enforceBinding: false, foreignSignatures: "accepted" };

/** Runs the simulator in the foreground until a signal stops it. */
export async function sim(
  options: SimOptions,
  { terminal }: Pick<Composition, "terminal">,
  untilStopped: () => Promise<void> = untilSignal,
): Promise<void> {
  const turns = options.script === undefined ? [] : await readScript(options.script);
  const config = options.config === undefined ? {} : await readSimConfig(options.config);
  const warned = new Set<string>();
  const simulator = await startSimulator({
    ...simulatorOptions(options, config),
    onRequest: (request) => {
      if (options.json) return terminal.print(JSON.stringify(requestReport(request)));
      const news = request.unknownBetas.filter((beta) => !warned.has(beta));
      for (const beta of news) terminal.print(unknownBetaLine(warned.add(beta) && beta, terminal));
      terminal.print(requestLine(request, terminal));
    },
  });
  simulator.reply(...turns);
  armFaults(simulator, config);
  const { url, counter } = simulator;
  terminal.print(
    options.json
      ? JSON.stringify({ type: "listening", url, counter: counter.source })
      : simGreeting(simulator, terminal),
  );
  await untilStopped();
  await simulator.close();
  const { totals } = simulator.requests;
  terminal.print(options.json ? JSON.stringify({ type: "totals", ...totals }) : simTotals(totals, terminal));
}

/** A flag wins over the configuration. */
function simulatorOptions(options: SimOptions, config: SimConfig): SimulatorOptions {
  const { counter, summaries: summary, notes, spans, faults: _, port = 0, seed, ...given } = config;
  const window = options.window ?? config.windowTokens;
  const played = { turns: CODER_TURNS, ...(seed !== undefined && { seed }), ...config.coder };
  return {
    ...given,
    port: options.port ?? port,
    clock: createRunningClock(),
    ...(seed !== undefined && { seed }),
    ...(window !== undefined && { windowTokens: window }),
    ...(counter === "estimate" && { countText: counter }),
    switches: {
      ...SWITCHES_FOR_CLIENTS,
      ...config.switches,
      ...(options.binding && { enforceBinding: true }),
      ...(options.betas !== undefined && {
        unknownBetas: options.betas === "strict" ? "refused" : "accepted",
      }),
    },
    behaviours: [
      summaries(summary),
      noteTaker(notes),
      spanSummaries(spans),
      coder({ ...played, ...(options.turns !== undefined && { turns: options.turns }) }),
    ],
  };
}

function armFaults(simulator: Simulator, { faults = [] }: SimConfig): void {
  for (const { fault, ...conditions } of faults) simulator.fail(fault, conditions);
}

/** A second signal ends the process the hard way: the listeners are gone by then. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}
