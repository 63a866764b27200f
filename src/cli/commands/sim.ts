import { readFile } from "node:fs/promises";
import { LonghaulError } from "../../errors.ts";
import { createRunningClock } from "../../testing/clock.ts";
import { parseScript } from "../../testing/simulator/behaviours/parse-script.ts";
import type { Turn } from "../../testing/simulator/exchange.ts";
import { startSimulator } from "../../testing/simulator/simulator.ts";
import { findModel } from "../../window/models.ts";
import type { Composition, WindowChoice } from "../composition.ts";
import type { FaultOption } from "../fault-option.ts";
import { requestLine, requestReport, simGreeting, simTotals } from "../view/sim-view.ts";

export interface SimOptions extends WindowChoice {
  readonly port?: number;
  /** Milliseconds. */
  readonly latency?: number;
  readonly script?: string;
  readonly fault?: readonly FaultOption[];
  readonly json?: boolean;
}

/** Runs the simulator in the foreground until it is told to stop. */
export async function sim(
  options: SimOptions,
  { terminal }: Pick<Composition, "terminal">,
  untilStopped: () => Promise<void> = untilSignal,
): Promise<void> {
  const turns = options.script === undefined ? [] : await readScript(options.script);
  const window =
    options.modelWindow === undefined ? options.window : findModel(options.modelWindow).windowTokens;
  const simulator = await startSimulator({
    port: options.port ?? 0,
    clock: createRunningClock(),
    latency: { firstByteMs: options.latency ?? 0 },
    ...(window === undefined ? {} : { windowTokens: window }),
    onRequest: (request) =>
      terminal.print(options.json ? JSON.stringify(requestReport(request)) : requestLine(request, terminal)),
  });
  simulator.reply(...turns);
  for (const { fault, probability } of options.fault ?? []) {
    simulator.fail(fault, {
      times: Number.POSITIVE_INFINITY,
      ...(probability === undefined ? {} : { probability }),
    });
  }
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

async function readScript(path: string): Promise<readonly Turn[]> {
  const unusable = (reason: string, cause: unknown): LonghaulError =>
    new LonghaulError("simulator-failed", `The script ${path} ${reason}.`, {
      remedy: "It is a JSON file with a list of turns; each is a text, or an object with blocks.",
      cause,
    });
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw unusable("cannot be read", error);
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw unusable("is not valid JSON", error);
  }
  return parseScript(json);
}
