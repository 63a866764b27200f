import { todoList } from "../tools.ts";
import { commit, conclude, runTests, type Stage } from "./stage.ts";

const GROUND_RULES = `This is harbour, our tide-and-berth booking service for Skarvøy. Before you change anything, get an overview: API server, scheduler, CLI, tests. A few ground rules for today:

- never touch migrations/ – the database team owns it
- the API stays on port 8471, metrics on 9464
- fastify is pinned to 4.28.1, and no new runtime dependency without asking me
- tests first when it is a bug, and one commit per finished piece (conventional commits)

Tell me what you found in ten lines or so, no code yet.`;

const EXPLORE_PROMPT =
  "Look through test/ and src/resources/. For each resource say which files it has, what its list endpoint accepts, whether PUT checks a version, and what its test covers. Report gaps; change nothing.";

const EXPLORE_REPORT = `All ten resources (berths, bookings, vessels, pilots, tugs, invoices, customers, permits, cranes, inspections) follow one pattern:

- repository.ts: list / get / create / replace / remove over better-sqlite3, plus one pure business rule
- routes.ts: GET list, GET by id, POST, PUT, DELETE under /v1/<plural>
- validator.ts: hand-written checks that return locale keys, no library
- test/<plural>.test.ts with test/fixtures/<plural>.json (six rows each)

Gaps:
1. No list endpoint is paged: every list returns the whole table. bookings grows by about 400 rows a week.
2. PUT ignores versions. The column exists and is counted up, but two planners who edit the same booking overwrite each other silently.
3. test/locales.test.ts skips the check that Chinese has all keys of English; three keys are missing.
4. The scheduler's expiry job has no test for two runs that overlap.
5. /v1/berths/all is registered in src/server.ts itself, outside the berth routes, and has no test.

Nothing in migrations/ needs to change for 1 and 2: created_at, id and version are there in all tables.`;

const INSTALLED = `added 214 packages, and audited 215 packages in 6s

41 packages are looking for funding
  run \`npm fund\` for details

found 0 vulnerabilities`;

const OVERVIEW = `Here is what I found:

1. \`src/server.ts\` builds a fastify app (4.28.1) and registers ten resources; clock, database and id source are passed in.
2. Each resource has repository, routes, validator; tests use fixtures of six rows.
3. \`src/scheduler/tides.ts\` computes heights from five constituents; \`slots.ts\` decides about a stay; \`expiry.ts\` gives up unconfirmed requests.
4. \`isDeepEnough\` in \`slots.ts\` looks only at the day of arrival (\`endOfDay\`), which looks wrong for overnight stays.
5. \`TideBoard\` computes its UTC offset once, at start.
6. Lists are not paged, and PUT does not check versions although the column is there.
7. \`/v1/berths/all\` lives outside the berth routes and has no test.
8. The Chinese locale lacks three keys, and the test for it is skipped.
9. The CLI prints only a status code on errors.
10. Ports 8471 and 9464 come from \`src/config.ts\`; I will leave them, migrations/ and the fastify pin alone.`;

/** The human sets the rules; the agent looks around, with a helper, before it touches anything. */
export function opening(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.human(GROUND_RULES);
  recorder.respond({
    thinking:
      "They want an overview first and no edits. I should look at the layout, then server, config and scheduler myself, and let a helper go through the ten similar resources.",
    text: "I'll look at the layout first, then read the parts that everything hangs on.",
    calls: [tools.glob("src/", ".ts"), tools.read("package.json"), tools.read("src/config.ts")],
  });
  recorder.respond({
    calls: [
      tools.read("src/server.ts"),
      tools.explore("Survey resources and tests", EXPLORE_PROMPT, EXPLORE_REPORT),
    ],
    layout: "contiguous",
  });
  recorder.respond({
    calls: [
      tools.read("src/scheduler/slots.ts"),
      tools.read("src/scheduler/board.ts"),
      tools.bash("npm ci", "Install what the lockfile says", () => INSTALLED, 6.2),
    ],
  });
  conclude(stage, OVERVIEW);
}

const MIDNIGHT = [
  ["Write a failing test for a stay across midnight", "Writing a failing test for a stay across midnight"],
  ["Check the whole stay in isDeepEnough", "Checking the whole stay in isDeepEnough"],
  ["Commit the fix", "Committing the fix"],
] as const;

const OVERNIGHT_TEST = `  it("looks at the low water after midnight too", () => {
    const overnight = stay("2026-03-29T22:30Z", "2026-03-30T06:00Z", 7.4);
    expect(decide(N3, overnight, [], DEFAULTS)).toEqual({ kind: "refused", key: "booking.tooShallow" });
  });
`;

/** A bug, done as asked: failing test, fix, commit. */
export function midnightBug(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(4);
  recorder.human(
    "Point 4 is real: on Sunday a vessel with 7.4 m draught was confirmed for N3 from 22:30Z to 06:00Z, and at 02:30Z there were only 7.5 m of water, so less than our 0.5 m under the keel. Failing test first, then the fix. Don't change the signature of isDeepEnough, the billing job imports it.",
  );
  recorder.respond({ calls: [tools.todos(todoList(MIDNIGHT, 0)), tools.read("test/slots.test.ts")] });
  const anchor = '  it("refuses a draught that the low water of the stay does not carry", () => {';
  recorder.respond({
    text: "The existing tests never cross midnight. I add one with the numbers you gave.",
    calls: [tools.edit("test/slots.test.ts", anchor, `${OVERNIGHT_TEST}\n${anchor}`)],
  });
  const title = "slot allocation > looks at the low water after midnight too";
  const failure = {
    path: "test/slots.test.ts",
    title,
    error: "expected { kind: 'confirmed' } to deeply equal { kind: 'refused', key: 'booking.tooShallow' }",
    difference: [
      "  {",
      '-   "key": "booking.tooShallow",',
      '-   "kind": "refused",',
      '+   "kind": "confirmed",',
      "  }",
    ],
    at: "expect(decide(N3, overnight",
  };
  recorder.respond({ calls: [runSlots(stage, [failure])] });
  fixMidnight(stage);
}

function runSlots(stage: Stage, failures: Parameters<typeof runTests>[2] = []): ReturnType<typeof runTests> {
  return runTests(stage, ["test/slots.test.ts"], failures);
}

function fixMidnight(stage: Stage): void {
  const { recorder, tools } = stage;
  const path = "src/scheduler/slots.ts";
  recorder.respond({
    thinking:
      "It fails for the expected reason: the window is cut at the end of the arrival's UTC day, where the tide is still 1.08 m. The stay itself is the window. endOfDay and earlier are then unused; grep before removing them.",
    calls: [
      tools.edit(
        path,
        `  const until = earlier(stay.leavesAt, endOfDay(stay.arrivesAt));
  const water = berth.depthMetres + lowestBetween(STATION, stay.arrivesAt, until);`,
        "  const water = berth.depthMetres + lowestBetween(STATION, stay.arrivesAt, stay.leavesAt);",
      ),
      tools.grep("endOfDay", "src/", ".ts"),
    ],
  });
  recorder.respond({
    calls: [
      tools.edit(
        path,
        `
function endOfDay(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), 23, 59, 59));
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
`,
        "",
      ),
      runSlots(stage),
    ],
  });
  recorder.respond({
    calls: [
      commit(stage, "fix(scheduler): check the tide of the whole stay", [path, "test/slots.test.ts"]),
      tools.todos(todoList(MIDNIGHT, 3)),
    ],
  });
  conclude(
    stage,
    "Fixed: `isDeepEnough` now takes the lowest water of the whole stay, with its signature unchanged. The new test uses Sunday's numbers (7.2 m + 0.30 m at N3 against 7.4 m + 0.5 m) and failed before the fix. `endOfDay` and `earlier` had no other caller and are gone.",
  );
}
