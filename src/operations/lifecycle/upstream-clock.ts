/** Maximum error of the upstream's clock, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;

/** How long before a call its transaction can be dated usually, in ms: wrong clocks, and rounded times. */
export const DATED_BEFORE_MS = 600_000;

/** Maximum error of an upstream clock that is in another zone, ahead or behind, in ms. */
export const ZONE_ERROR_MS = 86_400_000;
