import { randomInt } from 'node:crypto';
import Decimal from 'decimal.js';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RECORD_ID_LENGTH = 20; // See "Identifiers" in docs/reference/upstream.md.

/** Generates the `id` of a record: 20 letters and digits, 119 random bits. */
export function newRecordId(): string {
  let id = '';
  for (let i = 0; i < RECORD_ID_LENGTH; i++) id += LETTERS_AND_DIGITS.charAt(randomInt(LETTERS_AND_DIGITS.length));
  return id;
}

/** Generates the `{issuer}_{total}_{epochMs}` of a batch (docs/reference/upstream.md, "Identifiers"). */
export function newIssueID(issuerId: string, total: Decimal): string {
  return `${issuerId}_${total.toFixed()}_${nextEpochMs()}`;
}

let lastEpochMs = 0;

/** Never returns the same time twice, so that two equal batches of one millisecond have different issueIDs. */
function nextEpochMs(): number {
  lastEpochMs = Math.max(Date.now(), lastEpochMs + 1);
  return lastEpochMs;
}
