export type { OpenTelemetryApi } from "./api.ts";
export {
  type LoadOptions,
  loadOpenTelemetry,
  type OpenTelemetryOptions,
  openTelemetry,
} from "./open-telemetry.ts";
