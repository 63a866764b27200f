import { type Simulator, type SimulatorOptions, startSimulator } from "@longhaul/simulator";
import { afterEach } from "vitest";

/** The simulator of the current test. It is closed after the test. */
export let simulator: Simulator;

export const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await startSimulator(options);
};
afterEach(() => simulator.close());
