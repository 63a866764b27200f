import type { Thresholds } from "@longhaul/core/measure";
import { ASKED_MOMENT, GAUGE_LOG, levelIn, RULES_FILE, SLOTS_FILE, TEST_FILE } from "./project.ts";
import { call, type Scene, type Sight, type Step } from "./stand-in.ts";

/** The figure of the person's first message that has to last to the end. */
export const RESERVE_METRES = "0.65";

export const OVERVIEW_PROMPT: string = `This is harbour, our berth booking service. Two rules: never touch migrations/, and leave ${RESERVE_METRES} m of water under every keel, not the 0.5 m that the code has. Read ${GAUGE_LOG} first, it is deleted at noon. Then look around; a helper can survey the tests.`;
const SURVEY_PROMPT =
  "Look through test/: what does each resource's test cover, and what is missing? Report in a few lines; change nothing.";
export const RESOURCES_PROMPT =
  "Now go through the resources one by one: which lists are not paged, and does PUT check the version?";
export const FIX_PROMPT =
  "A vessel of 7.4 m was confirmed at N3 from 22:30Z to 06:00Z, and lay too low after midnight. A failing test first, then the fix, and put my reserve in.";
export const RECALL_PROMPT: string = `What level did ${GAUGE_LOG} give for 02:30Z, and which reserve did I ask for?`;

/** The bug: the window ends with the day of arrival, however long the stay. Each text stands once in the project. */
const BUGGY_WINDOW = `  const until = earlier(stay.leavesAt, endOfDay(stay.arrivesAt));
  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, until);`;
const WHOLE_WINDOW = "  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, stay.leavesAt);";
/** Nobody calls these once the window is the stay. */
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

/** Of the threshold: the next two files would not reach it. */
const NEARLY_FULL = 0.85;

const RESERVE = /leave (\d+\.\d+) m of water under every keel/;
export const TEST_COMMAND: string = `node --test --test-reporter=spec ${TEST_FILE}`;

const RESOURCES = [
  ...["bookings", "berths", "vessels", "pilots", "tugs"],
  ...["invoices", "customers", "permits", "cranes", "inspections"],
];

/** Prompts for the stand-in, in the order in which the guide suggests them. Paths are relative to the project. */
export const tourScenes = ({
  warning,
  autoCompact,
}: Pick<Thresholds, "warning" | "autoCompact">): readonly Scene[] => [
  { ...OVERVIEW, enough: { from: 4, is: ({ tokens }) => tokens >= warning } },
  SURVEY,
  {
    ...RESOURCE_REVIEW,
    // So that there is something to see when it is compacted next.
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
      say: "The gauge log first, since it will not be there for long; and a list of what there is to do.",
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
      say: "A helper looks through the tests in a window of its own. I only get its report.",
      calls: [call("Task", { description: "Survey the tests", prompt: SURVEY_PROMPT })],
    },
    {
      say: "Now the code that everything hangs on.",
      calls: [call("Glob", { pattern: "src/**/*.{ts,js}" }), ...read("README.md", SLOTS_FILE)],
    },
    reading("src/scheduler/tides.js", "src/server.ts"),
    ...RESOURCES.map((name) => reading(`src/resources/${name}/routes.ts`, `test/${name}.test.ts`)),
  ],
  answer: () =>
    "I have an overview. The server registers ten resources that follow one pattern (repository, routes, validator); the scheduler decides about stays by the tide. `isDeepEnough` looks at the day of arrival only, which looks wrong for a stay across midnight. I will leave migrations/ alone, and I have your reserve in mind.",
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
    "Each resource has one test file with a fixture of six rows; it covers list, get, create and the business rule. Missing: a list that is longer than a page, a PUT with an old version, and for the scheduler any stay that crosses midnight. I changed nothing.",
};

const RESOURCE_REVIEW: Scene = {
  name: "resources",
  prompt: RESOURCES_PROMPT,
  steps: [
    ...RESOURCES.map((name, index) => ({
      ...(index === 0 ? { say: "One after the other: how each lists, and what its PUT does." } : {}),
      calls: read(`src/resources/${name}/repository.ts`, `src/resources/${name}/validator.ts`),
    })),
    ...RESOURCES.map((name) => reading(`src/resources/${name}/routes.ts`, `test/fixtures/${name}.json`)),
  ],
  answer: () =>
    "They are all built alike: no list is paged, every one returns its whole table. PUT counts the version up but never compares it, so two people who edit the same row overwrite each other. Both can be mended without touching migrations/: the columns are there.",
};

const edit = (path: string, before: string, after: string): Step["calls"] => [
  call("Edit", { file_path: path, old_string: before, new_string: after }),
];
const run = (description: string): Step["calls"] => [call("Bash", { command: TEST_COMMAND, description })];

const FIX: Scene = {
  name: "fix",
  prompt: FIX_PROMPT,
  steps: [
    { say: "First how it decides, and how that is tested.", calls: read(SLOTS_FILE, TEST_FILE) },
    {
      say: "No test crosses midnight. Here is one with your figures.",
      calls: edit(TEST_FILE, LAST_TEST, `${OVERNIGHT_TEST}${LAST_TEST}`),
    },
    { calls: run("Run the new test, which has to fail") },
    (sight) => ({
      say: `${verdict(sight)} The tide is only looked at until the end of the day of arrival; the stay itself has to be the window.`,
      calls: edit(SLOTS_FILE, BUGGY_WINDOW, WHOLE_WINDOW),
    }),
    { calls: [...edit(SLOTS_FILE, DAY_HELPERS, ""), ...read(RULES_FILE)] },
    (sight) => ({
      say: `Your reserve: ${sight.find(RESERVE) ?? "(I no longer find it)"} m.`,
      calls: edit(RULES_FILE, "underKeelMetres: 0.5,", `underKeelMetres: ${sight.find(RESERVE) ?? "0.5"},`),
    }),
    { calls: run("Run all tests of the scheduler") },
    (sight) => ({
      say: `${verdict(sight)} Now whether anything else relied on the old way.`,
      calls: [call("Grep", { pattern: "isDeepEnough|underKeel", output_mode: "content", "-n": true })],
    }),
    reading("src/config.ts", "src/server.ts"),
    ...RESOURCES.flatMap((name) => [
      reading(`src/resources/${name}/repository.ts`),
      reading(`src/resources/${name}/routes.ts`),
    ]),
  ],
  enough: { from: 9, is: (sight) => !sight.isSaid(FIX_PROMPT) },
  answer: () =>
    "Fixed: `isDeepEnough` takes the lowest water of the whole stay, a test holds it to that, and your reserve stands in `src/scheduler/rules.js`. `src/config.ts` still has a figure of its own, which only the server reads: shall I change that too?",
};

/** What the test runner counted, in its own figures. */
function verdict({ result }: Sight): string {
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
    { say: "I look into the file again.", calls: read(GAUGE_LOG) },
    {
      say: "The file is gone, and I no longer have what I read of it. I search what was compacted away.",
      calls: [call("recall", { exact: ASKED_MOMENT })],
    },
  ],
  answer: (sight) => {
    const level = levelIn(sight.result("recall"));
    const reserve = sight.find(RESERVE);
    return `At ${ASKED_MOMENT} the log gave ${level ?? "(not found)"} m; recall had it word for word. You asked for ${reserve ?? "(not found)"} m under every keel: that I never lost, it is your own words.`;
  },
};
