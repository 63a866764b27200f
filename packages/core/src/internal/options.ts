export {
  editDistance,
  hasMethods,
  invalidOption,
  type OptionNames,
  requireOneOf,
  requireOptionNames,
} from "../engine/require-options.ts";
