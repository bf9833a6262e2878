import { Refusal, TransactionError } from './envelope';
import { MAGIC, magicOf, Recipient } from './magic-recipients';

/** The text of an operation that rejects a magic recipient as a whole. */
export interface RefusalTexts {
  insufficientFunds: string;
  transactionFailed: string;
}

/**
 * Returns the statuses of a magic recipient's transaction (see magic-recipients.ts). Undefined for other recipients.
 * Throws if the recipient has the whole operation rejected.
 */
export function wayOf(recipient: Recipient, texts: RefusalTexts): readonly string[] | undefined {
  const name = magicOf(recipient);
  if (name === undefined) return undefined;
  const magic = MAGIC[name];
  if ('becomes' in magic) return magic.becomes;
  if (!('refuses' in magic)) return undefined; // Faults are handled elsewhere.
  if (magic.refuses === 'TRANSACTION_FAILED') throw new TransactionError(magic.refuses, texts.transactionFailed);
  throw new Refusal(texts.insufficientFunds);
}
