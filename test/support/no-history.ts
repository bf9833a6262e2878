import { Decimal } from 'decimal.js';

/** The limits of a client that depend on its earlier payments, none of which applies. */
export const NO_HISTORY = {
  maxRecipientDayUsd: null,
  approvalOverRecipientDayUsd: null,
  approvalOverDayUsd: null,
  holdDuplicatesDays: null,
  beneficiariesOnly: false,
  beneficiaryCoolOffSeconds: null,
  blocksRecipients: false,
  heldUsd: new Decimal(0),
};
