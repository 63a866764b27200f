/** Independent probes for contexts. This folder shares no code with the summarizer that it grades. */
export { deriveExam } from "./derive.ts";
export { answersProbe, gradeText } from "./grade.ts";
export { readContext } from "./read-context.ts";
export {
  type Exam,
  FALSE_STATEMENT_KINDS,
  type FalseStatement,
  type Grade,
  PROBE_KINDS,
  type Probe,
  type ProbeKind,
} from "./types.ts";
