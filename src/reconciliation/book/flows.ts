import { KNOWN_TYPES } from '../../operations/items/effects';
import { Status, StatusVocabulary } from '../../operations/lifecycle/statuses';
import { Prisma } from '../../platform/database/generated/client';
import { RunSettings } from './plan';

/** Kinds of money flows into or out of a wallet. */
export const FLOWS = [
  'payout',
  'fee',
  'refund',
  'reversal',
  'top_up',
  'transfer_in',
  'transfer_out',
  'collection',
  'redemption',
  'unexplained',
] as const;
export type Flow = (typeof FLOWS)[number];

/** Kinds of listed transactions other than payments. */
type SetAsideFlow = 'fee' | 'refund' | 'reversal' | 'top_up' | 'transfer_in' | 'redemption';

/** Types of transactions other than payments, in lower case without spaces, hyphens and underscores. */
const TYPES: Record<SetAsideFlow, string[]> = {
  fee: ['fee', 'fees', 'charge', 'servicefee', 'commission'],
  refund: ['refund', 'refunded'],
  reversal: ['reversal', 'reversed', 'chargeback'],
  top_up: ['topup', 'wallettopup', 'deposit', 'funding', 'walletfunding'],
  transfer_in: ['transferin', 'incomingtransfer'],
  redemption: ['redemption', 'redeem'],
};

const FLOW_OF_TYPE = JSON.stringify(
  Object.fromEntries(Object.entries(TYPES).flatMap(([flow, words]) => words.map((word) => [word, flow]))),
);

/** SQL for the kind of a transaction. Null for a payment, which a call of ours may have made. */
export const SET_ASIDE_FLOW = Prisma.sql`CASE WHEN amount_usd < 0 THEN 'refund'
  WHEN type IS NULL OR type = ANY (${KNOWN_TYPES}::text[]) THEN NULL
  ELSE ${FLOW_OF_TYPE}::jsonb ->> translate(lower(type), ' _-', '') END`;

/** Returns SQL for the kind of returned money, by the status of a payment. Null for any other status. */
export function givenBack(status: Prisma.Sql, settings: RunSettings): Prisma.Sql {
  return Prisma.sql`CASE WHEN ${hasStatus(status, 'refunded', settings)} THEN 'refund'
    WHEN ${hasStatus(status, 'reversed', settings)} THEN 'reversal' END`;
}

/** Returns SQL for whether a status word has this meaning. */
export function hasStatus(word: Prisma.Sql, meaning: Status, { statusWords }: RunSettings): Prisma.Sql {
  const words = StatusVocabulary.with(statusWords).wordsOf(meaning);
  return Prisma.sql`lower(btrim(${word})) = ANY (${words}::text[])`;
}

/**
 * Descriptions of entries for money from outside of the account. The listing need not have a transaction for
 * it. A description never explains a debit.
 */
const DESCRIBED_FLOWS: [Flow, RegExp][] = [
  ['top_up', /\b(top[ _-]?up|deposit|funding|funded|opening balance)\b/i],
  ['transfer_in', /\btransfer\b/i],
];

export function describedFlow(description: string | null): Flow | undefined {
  return DESCRIBED_FLOWS.find(([, words]) => words.test(description ?? ''))?.[0];
}
