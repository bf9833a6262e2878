import { Refusal, TransactionError } from './envelope';
import { MAGIC, magicOf, Recipient } from './magic-recipients';

/** How an operation words it when a magic recipient has it refused as a whole. */
export interface RefusalTexts {
  insufficientFunds: string;
  transactionFailed: string;
}

/**
 * The statuses that the transaction of a magic recipient goes through, see magic-recipients.ts; undefined where it is like
 * all others. Throws where the recipient has the whole operation refused.
 */
export function wayOf(recipient: Recipient, texts: RefusalTexts): readonly string[] | undefined {
  const name = magicOf(recipient);
  if (name === undefined) return undefined;
  const magic = MAGIC[name];
  if ('becomes' in magic) return magic.becomes;
  if (!('refuses' in magic)) return undefined; // a fault, which is not the business of an operation
  if (magic.refuses === 'TRANSACTION_FAILED') throw new TransactionError(magic.refuses, texts.transactionFailed);
  throw new Refusal(texts.insufficientFunds);
}
