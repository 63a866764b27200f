import type { TranscriptPort } from "../../src/index.ts";
import type { TranscriptWriter } from "../../src/node.ts";
import type { World } from "./world.ts";

const FAILURES = 0.25;
const HANGS = 0.08;

/** The session file behind a port that is sound, fails at times, or never settles at times. */
export function faultyPort(world: World, writer: () => TranscriptWriter): TranscriptPort {
  const { time, chance, setup } = world;
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    if (setup.transcript === "fails at times" && chance.is(FAILURES)) {
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    }
    if (setup.transcript === "hangs at times" && chance.is(HANGS)) {
      return await new Promise<never>(() => undefined);
    }
    return await time.hold(work);
  };
  return {
    path: writer().path,
    append: (entries) => through(() => writer().append(entries)),
    read: (uuids) => through(() => writer().read(uuids)),
    stepBack: (choice) => through(() => writer().stepBack(choice)),
  };
}
