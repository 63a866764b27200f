import type { Thresholds } from "@longhaul/core/measure";
import { ASKED_MOMENT, GAUGE_LOG, levelIn, RULES_FILE, SLOTS_FILE, TEST_FILE } from "./project.ts";
import { call, type ModelView, type Scene, type Step } from "./stand-in.ts";

/** Figure in the person's first message that must still be known at the end. */
export const RESERVE_METRES = "0.65";

export const OVERVIEW_PROMPT: string = `This is harbour, our berth booking service. Two rules: never touch migrations/, and leave ${RESERVE_METRES} m of water under every keel, not the 0.5 m that the code has. Read ${GAUGE_LOG} first, it is deleted at noon. Then look around; a helper can survey the tests.`;
const SURVEY_PROMPT =
  "Look through test/: what does each resource's test cover, and what is missing? Report in a few lines. Change nothing.";
export const RESOURCES_PROMPT =
  "Now go through the resources one by one: which lists are not paged, and does PUT check the version?";
export const FIX_PROMPT =
  "A vessel of 7.4 m was confirmed at N3 from 22:30Z to 06:00Z, but the water was too low after midnight. Write a failing test first, then the fix, and use my reserve.";
export const RECALL_PROMPT: string = `What level did ${GAUGE_LOG} give for 02:30Z, and which reserve did I ask for?`;

/**
 * Code with the bug: the time window ends on the day of arrival, no matter how long the ship stays. This text
 * and its replacement occur only once in the project.
 */
const BUGGY_WINDOW = `  const until = earlier(stay.leavesAt, endOfDay(stay.arrivesAt));
  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, until);`;
const WHOLE_WINDOW = "  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, stay.leavesAt);";
/** Functions that are unused after the fix. */
const DAY_HELPERS = `
function endOfDay(at) {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), 23, 59, 59));
}

function earlier(a, b) {
  return a < b ? a : b;
}
`;
const LAST_TEST = `test("refuses a draught that the low water of the stay does not carry", () => {`;
const OVERNIGHT_TEST = `test("looks at the low water after midnight too", () => {
  const overnight = stay("2026-03-29T22:30Z", "2026-03-30T06:00Z", 7.4);
  assert.deepEqual(decide(N3, overnight, []), { kind: "refused", key: "booking.tooShallow" });
});

`;

/**
 * Share of the auto-compact threshold at which a scene ends. After that, reading two more files still does
 * not reach the threshold.
 */
const NEARLY_FULL = 0.85;

const RESERVE = /leave (\d+\.\d+) m of water under every keel/;
export const TEST_COMMAND: string = `node --test --test-reporter=spec ${TEST_FILE}`;

const RESOURCES = [
  ...["bookings", "berths", "vessels", "pilots", "tugs"],
  ...["invoices", "customers", "permits", "cranes", "inspections"],
];

/** Prompts for the simulated model, in the order of the guide. Paths are relative to the project. */
export const tourScenes = ({
  warning,
  autoCompact,
}: Pick<Thresholds, "warning" | "autoCompact">): readonly Scene[] => [
  { ...OVERVIEW, enough: { from: 4, is: ({ tokens }) => tokens >= warning } },
  SURVEY,
  {
    ...RESOURCE_REVIEW,
    // Ends the scene only when results were cleared and the window is nearly full, so that the next
    // compaction has visible effects.
    enough: { from: 3, is: ({ cleared, tokens }) => cleared > 0 && tokens >= NEARLY_FULL * autoCompact },
  },
  FIX,
  RECOLLECTION,
];

const read = (...paths: readonly string[]): Step["calls"] =>
  paths.map((path) => call("Read", { file_path: path }));
const reading = (...paths: readonly string[]): Step => ({ calls: read(...paths) });

const todo = (content: string, status: string): { readonly [field: string]: string } => ({
  content,
  status,
  activeForm: content,
});

const OVERVIEW: Scene = {
  name: "overview",
  prompt: OVERVIEW_PROMPT,
  steps: [
    {
      say: "I read the gauge log first, because it will be deleted soon, and write a to-do list.",
      calls: [
        call("TodoWrite", {
          todos: [
            todo("Read the gauge log", "in_progress"),
            todo("Look at the scheduler", "pending"),
            todo("Look at the resources", "pending"),
          ],
        }),
        ...read(GAUGE_LOG),
      ],
    },
    {
      say: "A helper surveys the tests in a separate context window. I only get its report.",
      calls: [call("Task", { description: "Survey the tests", prompt: SURVEY_PROMPT })],
    },
    {
      say: "Now the main code.",
      calls: [call("Glob", { pattern: "src/**/*.{ts,js}" }), ...read("README.md", SLOTS_FILE)],
    },
    reading("src/scheduler/tides.js", "src/server.ts"),
    ...RESOURCES.map((name) => reading(`src/resources/${name}/routes.ts`, `test/${name}.test.ts`)),
  ],
  answer: () =>
    "I have an overview. The server registers ten resources with the same pattern (repository, routes, validator). The scheduler accepts or refuses stays by the tide. `isDeepEnough` checks only the day of arrival, which looks wrong for a stay past midnight. I will not touch migrations/, and I will use your reserve.",
};

const SURVEY: Scene = {
  name: "survey",
  prompt: SURVEY_PROMPT,
  steps: [
    { calls: [call("Glob", { pattern: "test/**/*" })] },
    reading("test/berths.test.ts", "test/bookings.test.ts"),
    reading("test/vessels.test.ts", TEST_FILE),
  ],
  answer: () =>
    "Each resource has one test file with a fixture of six rows. It covers list, get, create and the business rule. Missing: a list longer than a page, a PUT with an old version, and a stay past midnight for the scheduler. I changed nothing.",
};

const RESOURCE_REVIEW: Scene = {
  name: "resources",
  prompt: RESOURCES_PROMPT,
  steps: [
    ...RESOURCES.map((name, index) => ({
      ...(index === 0 ? { say: "I check each resource: how it lists rows, and what its PUT does." } : {}),
      calls: read(`src/resources/${name}/repository.ts`, `src/resources/${name}/validator.ts`),
    })),
    ...RESOURCES.map((name) => reading(`src/resources/${name}/routes.ts`, `test/fixtures/${name}.json`)),
  ],
  answer: () =>
    "They all work the same way. No list is paged: each returns its whole table. PUT increments the version but never compares it, so two people who edit the same row overwrite each other. I can fix both without touching migrations/, because the columns exist.",
};

const edit = (path: string, before: string, after: string): Step["calls"] => [
  call("Edit", { file_path: path, old_string: before, new_string: after }),
];
const run = (description: string): Step["calls"] => [call("Bash", { command: TEST_COMMAND, description })];

const FIX: Scene = {
  name: "fix",
  prompt: FIX_PROMPT,
  steps: [
    { say: "First I read the decision code and its tests.", calls: read(SLOTS_FILE, TEST_FILE) },
    {
      say: "No test crosses midnight. I add one with your figures.",
      calls: edit(TEST_FILE, LAST_TEST, `${OVERNIGHT_TEST}${LAST_TEST}`),
    },
    { calls: run("Run the new test, which has to fail") },
    (sight) => ({
      say: `${verdict(sight)} The code checks the tide only until the end of the day of arrival. It must check the whole stay.`,
      calls: edit(SLOTS_FILE, BUGGY_WINDOW, WHOLE_WINDOW),
    }),
    { calls: [...edit(SLOTS_FILE, DAY_HELPERS, ""), ...read(RULES_FILE)] },
    (sight) => ({
      say: `Your reserve: ${sight.find(RESERVE) ?? "(not found)"} m.`,
      calls: edit(RULES_FILE, "underKeelMetres: 0.5,", `underKeelMetres: ${sight.find(RESERVE) ?? "0.5"},`),
    }),
    { calls: run("Run all tests of the scheduler") },
    (sight) => ({
      say: `${verdict(sight)} Now I check whether other code relies on the old behavior.`,
      calls: [call("Grep", { pattern: "isDeepEnough|underKeel", output_mode: "content", "-n": true })],
    }),
    reading("src/config.ts", "src/server.ts"),
    ...RESOURCES.flatMap((name) => [
      reading(`src/resources/${name}/repository.ts`),
      reading(`src/resources/${name}/routes.ts`),
    ]),
  ],
  enough: { from: 9, is: (sight) => !sight.isQuotedExactly(FIX_PROMPT) },
  answer: () =>
    "Fixed: `isDeepEnough` uses the lowest water of the whole stay, and a test covers that. Your reserve is in `src/scheduler/rules.js`. `src/config.ts` has a separate figure that only the server reads. Should I change that too?",
};

/** Describes the result of the test run with the figures of the test runner. */
function verdict({ result }: ModelView): string {
  const output = result("Bash");
  const count = (name: string): string | undefined => new RegExp(`\\b${name} (\\d+)`).exec(output)?.[1];
  const [passed, failed] = [count("pass"), count("fail")];
  if (passed === undefined || failed === undefined) return "The tests were not run.";
  return failed === "0" ? `All ${passed} pass.` : `${passed} pass, ${failed} fails.`;
}

const RECOLLECTION: Scene = {
  name: "recollection",
  prompt: RECALL_PROMPT,
  steps: [
    { say: "I read the file again.", calls: read(GAUGE_LOG) },
    {
      say: "The file was deleted, and its content is no longer in my context. I search the compacted messages.",
      calls: [call("recall", { exact: ASKED_MOMENT })],
    },
  ],
  answer: (sight) => {
    const level = levelIn(sight.result("recall"));
    const reserve = sight.find(RESERVE);
    return `At ${ASKED_MOMENT} the log gave ${level ?? "(not found)"} m. Recall found the exact line. You asked for ${reserve ?? "(not found)"} m under every keel. Your request never left my context.`;
  },
};
