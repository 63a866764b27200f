export { collapsedIn, type SpanReport, spanReport } from "../modules/collapse/report.ts";
export { asCondensed, SPAN_SYSTEM_PROMPT } from "../modules/collapse/summarize-span.ts";
