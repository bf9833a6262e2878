import { Decimal } from 'decimal.js';
import { ADMISSION_LIMIT_KEYS, NO_LIMITS, readLimits } from '../../../src/access/clients/limits/limits';

/** The limits of a client that depend on other calls, none of which applies. */
export const NO_HISTORY = {
  ...readLimits(NO_LIMITS, ADMISSION_LIMIT_KEYS),
  blocksRecipients: false,
  heldUsd: new Decimal(0),
};
