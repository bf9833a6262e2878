import { Decimal } from 'decimal.js';
import { ADMISSION_LIMIT_KEYS, NO_LIMITS, readLimits } from '../../../src/access/clients/limits/limits';

/** Limits that depend on other calls. None applies. */
export const NO_HISTORY = {
  ...readLimits(NO_LIMITS, ADMISSION_LIMIT_KEYS),
  blocksRecipients: false,
  heldUsd: new Decimal(0),
};
