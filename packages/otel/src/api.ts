/**
 * The part of `@opentelemetry/api` that is used, by its structure: the module itself fits it, and so do providers.
 * The published types must not need the package. Methods, so that its narrower signatures fit.
 */
export interface OpenTelemetryApi {
  readonly trace: { getTracer(name: string): TelemetryTracer };
  readonly metrics: { getMeter(name: string): TelemetryMeter };
}

export interface TelemetryTracer {
  startSpan(name: string, options?: { attributes?: TelemetryAttributes }): TelemetrySpan;
}

export interface TelemetrySpan {
  setAttributes(attributes: TelemetryAttributes): unknown;
  addEvent(name: string, attributes?: TelemetryAttributes): unknown;
  setStatus(status: { code: number }): unknown;
  updateName(name: string): unknown;
  end(): void;
}

export interface TelemetryMeter {
  createCounter(name: string, options?: InstrumentOptions): TelemetryCounter;
  createHistogram(name: string, options?: InstrumentOptions): TelemetryHistogram;
}

export interface InstrumentOptions {
  description?: string;
  unit?: string;
  advice?: { explicitBucketBoundaries?: number[] };
}

export interface TelemetryCounter {
  add(value: number, attributes?: TelemetryAttributes): void;
}

export interface TelemetryHistogram {
  record(value: number, attributes?: TelemetryAttributes): void;
}

/** An attribute that is undefined is left out. */
export interface TelemetryAttributes {
  [name: string]: string | number | boolean | string[] | undefined;
}
