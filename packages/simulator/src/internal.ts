export { SPAN_KINDS } from "./behaviors/spans.ts";
export { HOSTILE_SECTIONS } from "./behaviors/summaries.ts";
export { createRandom, type Random } from "./demo/random.ts";
export { createDemoSession, demoFiles, demoFilesAtStart, tourProjectFiles } from "./demo-session.ts";
export { createTokenCounter, type TokenCounter } from "./prompt/token-count.ts";
export { requestReport } from "./server/request-report.ts";
export { usageFigures } from "./server/usage-figures.ts";
export { CODER_TURNS } from "./simulator.ts";
export { LONGEST_DELAY_MS } from "./strict-json.ts";
