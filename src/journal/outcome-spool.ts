import { Decimal } from 'decimal.js';
import { join } from 'node:path';
import { NewOutcome, NewTry, UpstreamItem } from './records';
import { Spool } from './spool';

/** An outcome as JSON: bytes as base64, times and decimals as text. */
type Stored = Omit<NewOutcome, 'body' | 'items' | 'sentAt' | 'answeredAt' | 'tries'> & {
  body: string | null;
  items: (Omit<UpstreamItem, 'amountUsd' | 'feeUsd'> & { amountUsd: string | null; feeUsd: string | null })[];
  sentAt: string;
  answeredAt: string;
  tries: (Omit<NewTry, 'startedAt'> & { startedAt: string })[];
};

export const spoolFolder = (dataDir: string) => join(dataDir, 'outcomes');

/** The outcomes in a folder, each in a file named by its call. */
export class OutcomeSpool extends Spool<NewOutcome> {
  constructor(folder: string) {
    super(folder, {
      idOf: ({ intentId }) => intentId,
      toText: (outcome) => JSON.stringify({ ...outcome, body: outcome.body?.toString('base64') ?? null }),
      fromText: (text) => toOutcome(JSON.parse(text) as Stored),
    });
  }
}

function toOutcome(stored: Stored): NewOutcome {
  return {
    ...stored,
    body: stored.body === null ? null : Buffer.from(stored.body, 'base64'),
    items: stored.items.map((item) => ({ ...item, amountUsd: usdOf(item.amountUsd), feeUsd: usdOf(item.feeUsd) })),
    sentAt: new Date(stored.sentAt),
    answeredAt: new Date(stored.answeredAt),
    tries: stored.tries.map((one) => ({ ...one, startedAt: new Date(one.startedAt) })),
  };
}

function usdOf(text: string | null): Decimal | null {
  return text === null ? null : new Decimal(text);
}
