/**
 * Lesson of the provider's own counts about our estimates: true tokens per estimated token,
 * as a ratio of sums in which older samples fade. It absorbs the provider's vocabulary, the overhead
 * of each block, and what the host injects without writing it down.
 */
export interface Calibration {
  readonly ratio: number;
  readonly samples: number;
  /**
   * What hosts put into the context without a line in the file (files that changed on disk, reminders),
   * in tokens per response: a faded mean of the growth that no ratio could explain.
   */
  readonly hiddenPerResponse: number;
  /** Faded sums, in tokens. */
  readonly estimated: number;
  readonly reported: number;
}

/** How much of the past survives each new sample: the last dozen or so responses decide. */
const RETENTION = 0.92;
/** The prior weighs as much as this many estimated tokens, and fades as samples come: one file read outweighs it. */
const PRIOR_WEIGHT_TOKENS = 2_000;
const LOWEST_RATIO = 0.4;
export const HIGHEST_RATIO = 4;
/** Growth beyond this many tokens per estimated one, and a small allowance, was not in what we saw. */
const OUTLIER_RATIO = 5;
const OUTLIER_ALLOWANCE_TOKENS = 1_000;
/** Hidden growth comes rarely and in lumps, so it is averaged over a longer past than the ratio. */
const HIDDEN_RETENTION = 0.98;
/** No lump counts for more: beyond this the figures of two responses do not belong together. */
const LARGEST_HIDDEN_TOKENS = 40_000;
/** Before this many samples one lump would be taken for a habit. */
const HIDDEN_MIN_SAMPLES = 8;

/** Claude counts about a third more tokens than o200k for what agents send; measured on recorded sessions. */
const CLAUDE_PRIOR = 1.35;

/** From a ratio that an earlier count has learned, or else from what is usual for the model. */
export function startCalibration(model?: string, learnedRatio?: number): Calibration {
  const prior = learnedRatio ?? (model?.includes("claude") ? CLAUDE_PRIOR : 1);
  return {
    ratio: prior,
    samples: 0,
    hiddenPerResponse: 0,
    estimated: PRIOR_WEIGHT_TOKENS,
    reported: prior * PRIOR_WEIGHT_TOKENS,
  };
}

/** One response further: `estimated` by us for what was added since the last one, `reported` by the provider. */
export function learn(calibration: Calibration, estimated: number, reported: number): Calibration {
  if (estimated <= 0) return calibration;
  const most = estimated * OUTLIER_RATIO + OUTLIER_ALLOWANCE_TOKENS;
  const believed = Math.min(Math.max(reported, 0), most);
  const estimatedSum = calibration.estimated * RETENTION + estimated;
  const reportedSum = calibration.reported * RETENTION + believed;
  const hidden = Math.min(Math.max(reported - most, 0), LARGEST_HIDDEN_TOKENS);
  return {
    ratio: Math.min(HIGHEST_RATIO, Math.max(LOWEST_RATIO, reportedSum / estimatedSum)),
    samples: calibration.samples + 1,
    hiddenPerResponse: calibration.hiddenPerResponse * HIDDEN_RETENTION + hidden * (1 - HIDDEN_RETENTION),
    estimated: estimatedSum,
    reported: reportedSum,
  };
}

/** True tokens for content that we estimated at `estimated`. */
function calibrated(calibration: Calibration, estimated: number): number {
  return Math.round(estimated * calibration.ratio);
}

/** How much larger the next call will be, what the host adds unseen included. Nothing new, no growth. */
export function expectedGrowth(calibration: Calibration, estimated: number): number {
  const isHabit = calibration.samples >= HIDDEN_MIN_SAMPLES && estimated > 0;
  return calibrated(calibration, estimated) + (isHabit ? Math.round(calibration.hiddenPerResponse) : 0);
}
