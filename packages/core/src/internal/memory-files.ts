export { NestedMemory } from "../modules/memory-files/nested-memory.ts";
