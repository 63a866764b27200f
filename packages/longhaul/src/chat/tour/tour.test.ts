import { readdirSync } from "node:fs";
import { coder, startSimulator } from "@longhaul/simulator";
import { afterEach, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { openTour } from "./tour.ts";

vi.mock("../../../../simulator/src/behaviors/coder.ts", { spy: true });
vi.mock("../../../../simulator/src/simulator.ts", { spy: true });

const folder = temporaryFolder();
afterEach(() => {
  vi.unstubAllEnvs();
});

it("openTour passes the seed 0 to the simulated coder and does not replace it with the default seed", async () => {
  const tour = await openTour({ seed: 0 });
  await tour.close();
  expect(vi.mocked(coder)).toHaveBeenLastCalledWith(expect.objectContaining({ seed: 0 }));
});

it("removes the temporary folder of the tour when the simulator does not start", async () => {
  vi.stubEnv("TMPDIR", folder);
  vi.mocked(startSimulator).mockRejectedValueOnce(new Error("no free port"));
  await expect(openTour()).rejects.toThrow("no free port");
  expect(readdirSync(folder)).toEqual([]);
});
