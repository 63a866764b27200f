import { type Picture, pngAsBase64, type Shade } from "../png.ts";
import { commit, conclude, runTests, type Stage } from "./stage.ts";

const SIZE = { width: 400, height: 300 } as const;

/** A tide curve over the hours of a day, as the planner's board draws it; `shiftHours` is the bug. */
function tideBoardPicture(shiftHours: number): Picture {
  const waterAt = (x: number): number => {
    const hour = (x / SIZE.width) * 24 + shiftHours;
    return (
      150 - 70 * Math.cos((2 * Math.PI * (hour - 3.2)) / 12.42) - 20 * Math.cos((2 * Math.PI * hour) / 12)
    );
  };
  const shadeAt = (x: number, y: number): Shade => {
    const depth = y - waterAt(x);
    if (Math.abs(depth) < 2) return 3;
    if (x % 50 === 0 || y % 50 === 0) return 1;
    return depth > 0 ? 2 : 0;
  };
  return { ...SIZE, shadeAt };
}

const DST_TEST = `  it("keeps local time right across the change to summer time", () => {
    const board = new TideBoard(STATION, new Date("2026-03-27T12:00Z"));
    const noon = board.curve("2026-03-30").find((point) => point.localTime === "12:00");
    expect(noon?.heightMetres).toBeCloseTo(heightAt(STATION, new Date("2026-03-30T10:00Z")), 2);
  });
`;

const FETCHED = `The page describes how civil time relates to tide predictions:
- Predictions are computed in UTC. Local clock time is applied only for display.
- The offset must be looked up for the day that is shown, not for the day on which the program started: a table printed in March and read in April would otherwise be off by one hour.
- On the day of the change a local day has 23 or 25 hours. Tables list the hours that exist; an hour that is skipped has no line.
- Norway, like its neighbours, goes to UTC+2 on the last Sunday of March at 01:00 UTC, and back to UTC+1 on the last Sunday of October at 01:00 UTC.`;

/** A screenshot, a picture in the repository to compare it with, a page on the web, and a test that fails. */
export function boardShift(stage: Stage): void {
  const { recorder, tools } = stage;
  const shifted = pngAsBase64(tideBoardPicture(1));
  const expected = pngAsBase64(tideBoardPicture(0));
  recorder.pause(11);
  recorder.human([
    {
      type: "text",
      text: "Screenshot from the planner board this morning. The whole curve looks an hour off since Sunday. Summer time? docs/board-expected.png shows what the pilots have on paper.",
    },
    { type: "image", source: { type: "base64", media_type: "image/png", data: shifted } },
  ]);
  recorder.respond({
    text: "I compare it with the picture in docs/ and look at how the board gets its offset.",
    calls: [
      tools.readImage("docs/board-expected.png", expected, SIZE),
      tools.grep("offset", "src/scheduler/", ".ts"),
    ],
  });
  recorder.respond({
    calls: [
      tools.fetch(
        "https://tides.example.org/handbook/civil-time",
        "How do tide tables treat daylight saving time?",
        FETCHED,
      ),
      tools.read("test/tides.test.ts"),
    ],
    layout: "contiguous",
  });
  const path = "test/tides.test.ts";
  const anchor = '  it("has a point for each half hour of the local day", () => {';
  recorder.respond({
    text: "Same curve, one hour to the left: the board took UTC+1 when it started on Friday and still uses it. A test that starts the board before the change and asks for a day after it:",
    calls: [tools.edit(path, anchor, `${DST_TEST}\n${anchor}`), runTests(stage, [path], [dstFailure()])],
  });
  fixBoard(stage);
}

function dstFailure(): NonNullable<Parameters<typeof runTests>[2]>[number] {
  return {
    path: "test/tides.test.ts",
    title: "the tide board > keeps local time right across the change to summer time",
    error:
      "expected 1.91 to be close to 2.392751168093582, received difference is 0.4827511680935822, but expected 0.005",
    at: "expect(noon?.heightMetres)",
  };
}

function fixBoard(stage: Stage): void {
  const { recorder, tools } = stage;
  const path = "src/scheduler/board.ts";
  recorder.respond({
    calls: [
      tools.edit(
        path,
        `  private readonly offset: number;

  constructor(
    private readonly station: Station,
    startedAt: Date,
  ) {
    this.offset = offsetMinutes(station.timeZone, startedAt);
  }
`,
        "  constructor(private readonly station: Station) {}\n",
      ),
      tools.edit(
        path,
        `    const midnight = Date.parse(day + "T00:00:00Z") - this.offset * 60_000;`,
        `    // Noon decides for the whole day: on the day of the change only the first hours differ.
    const offset = offsetMinutes(this.station.timeZone, new Date(day + "T12:00:00Z"));
    const midnight = Date.parse(day + "T00:00:00Z") - offset * 60_000;`,
      ),
      tools.edit(path, "at.getTime() + this.offset * 60_000", "at.getTime() + offset * 60_000"),
    ],
  });
  recorder.respond({
    calls: [
      tools.edit(
        "test/tides.test.ts",
        'new TideBoard(STATION, new Date("2026-03-27T12:00Z"))',
        "new TideBoard(STATION)",
      ),
      tools.edit(
        "test/tides.test.ts",
        'new TideBoard(STATION, new Date("2026-01-10T12:00Z"))',
        "new TideBoard(STATION)",
      ),
      runTests(stage, ["test/tides.test.ts"]),
    ],
    layout: "contiguous",
  });
  recorder.respond({
    calls: [commit(stage, "fix(board): take the UTC offset of the day shown", [path, "test/tides.test.ts"])],
  });
  conclude(
    stage,
    "The board now asks for the offset of the day it shows, so a server that has been running since Friday draws Monday correctly. Nothing is stored in local time, so no data needs mending; the board must be restarted once to pick up the fix.",
  );
}

/** A question wants an answer, not an edit. */
export function clockQuestion(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(3);
  recorder.human(
    "Why does everything take a Clock instead of calling Date.now()? Just asking, don't change it.",
  );
  recorder.respond({ calls: [tools.grep("ManualClock", "test/", ".ts")] });
  conclude(
    stage,
    "So that a test can say what time it is. The expiry job and the test server run on a `ManualClock` that only moves when told to, which makes “a request older than 45 minutes” one line instead of a real wait. In production `systemClock` is passed in at the bottom of `src/server.ts`. I changed nothing.",
  );
}
