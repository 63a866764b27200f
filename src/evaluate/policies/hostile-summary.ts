import { HOSTILE_SECTIONS } from "../../testing/simulator/behaviours/hostile-summary.ts";

/** Nothing in it is true. It forges none of the quoted facts: those would be taken out again. */
export const HOSTILE_SUMMARY: string = ["<summary>", HOSTILE_SECTIONS, "</summary>"].join("\n");
