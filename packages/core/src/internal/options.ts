export {
  hasMethods,
  invalidOption,
  type OptionNames,
  requireOneOf,
  requireOptionNames,
  requireWindow,
} from "../engine/require-options.ts";
