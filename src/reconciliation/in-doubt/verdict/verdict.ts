import { NewEntry } from '../../../journal/records/records';
import { Verdict } from '../calls-in-doubt';
import { evidenceOf, Facts, quietUntil } from './facts';

/**
 * Conclusion of a rule about the payouts in doubt of a call.
 *
 * - `wait`: no conclusion yet.
 * - `not_executed`: the payouts without a transaction were not carried out.
 * - `ambiguous`: a person or a later round settles them.
 */
type Conclusion = 'wait' | 'not_executed' | 'ambiguous';

/** A rule. It decides if its fact holds. */
interface Rule {
  name: string;
  holds: (facts: Facts) => boolean;
  concludes: Conclusion;
  reason: (facts: Facts) => string;
}

/**
 * Rules about the payouts in doubt whose transactions the book does not have. The first rule that holds
 * decides. Decision 0014 explains their order and their reasons, and verdict-rules.spec.ts tests each by its
 * name.
 *
 * If two explanations are possible, the conclusion is `ambiguous`. A wrong `not_executed` would let an app
 * pay again.
 */
export const VERDICT_RULES: readonly Rule[] = [
  {
    name: 'too early',
    holds: ({ isQuiet }) => !isQuiet,
    concludes: 'wait',
    reason: () => 'The upstream may still list transactions of this call.',
  },
  {
    name: 'related transactions',
    holds: ({ related }) => related.length > 0,
    concludes: 'ambiguous',
    reason: () =>
      'The upstream lists transactions to a recipient of this call, with another amount, time, type or ' +
      'other property.',
  },
  {
    name: 'listing cut off',
    holds: ({ reachesBack }) => !reachesBack,
    concludes: 'ambiguous',
    reason: () =>
      "The upstream's listing has nothing older than this call. It may be truncated and lack the " +
      'transactions of this call.',
  },
  {
    name: 'listing incomplete',
    holds: ({ listing: { missing } }) => missing > 0,
    concludes: 'ambiguous',
    reason: ({ listing: { missing } }) =>
      `The upstream's listing lacks ${missing} transactions that are known to exist, so a missing ` +
      'transaction of this call proves nothing.',
  },
  {
    name: 'listing too old',
    holds: ({ needsFreshness, isCurrent }) => needsFreshness && !isCurrent,
    concludes: 'ambiguous',
    reason: () =>
      "The upstream's listing does not yet show a call of ours from after the quiet period at its correct " +
      "time. The listing may be older than this call, or the upstream's clock may be wrong.",
  },
  {
    name: 'kind listed later',
    holds: ({ needsFreshness, isFresh, walletsUntouched }) => needsFreshness && !isFresh && !walletsUntouched,
    concludes: 'ambiguous',
    reason: ({ created: { name } }) =>
      `The upstream's listing does not yet show another ${name} call of ours from after the quiet period, ` +
      `and may show ${name} later than other transactions. The wallets do not prove that nothing was paid.`,
  },
  { name: 'not listed', holds: () => true, concludes: 'not_executed', reason: notListed },
];

function notListed({ rules, created, call, isFresh, needsFreshness }: Facts): string {
  const seconds = Math.round((quietUntil(call, rules) - call.sentUntil.getTime()) / 1_000);
  const proof = !needsFreshness
    ? ''
    : isFresh
      ? `, and does list ${created.name} sent later`
      : ', and does list a later call. The wallets show that nothing was paid from them since before the ' +
        'call';
  return (
    'The upstream lists no transaction that the payouts in doubt of this call could have made, ' +
    `${seconds} seconds after it was given up${proof}.`
  );
}

/**
 * Judges the payouts in doubt of a call that creates transactions.
 * @returns undefined while more information may arrive.
 */
export function judge(facts: Facts): Verdict | undefined {
  const rule = VERDICT_RULES.find(({ holds }) => holds(facts));
  if (!rule || rule.concludes === 'wait') return undefined;
  const { call, unclear } = facts;
  const listed = new Set(unclear.map(({ position }) => position));
  const missing = call.items.filter(({ position }) => !listed.has(position));
  const entries =
    rule.concludes === 'not_executed'
      ? missing.map(({ position }): NewEntry => ({ position, entry: 'not_executed' }))
      : [];
  // An unknown status can still change into a known one, as a pending payout does.
  if (missing.length === 0 || (unclear.length > 0 && rule.concludes === 'not_executed')) {
    return { verdict: 'ambiguous', reason: unclearReason(facts), evidence: evidenceFor(facts), entries };
  }
  return { verdict: rule.concludes, reason: rule.reason(facts), evidence: evidenceFor(facts), entries };
}

function unclearReason({ unclear }: Facts): string {
  if (unclear.some(({ isRefuted }) => isRefuted)) {
    return (
      'The upstream lists the transaction that its answer names as that of another payment. The answer or ' +
      'the listing is wrong. A person must find out whether this payout was made.'
    );
  }
  const word = unclear[0]?.status ?? null;
  const status = word === null ? 'without a status' : `with the status "${word}"`;
  return (
    `The upstream lists ${unclear.length === 1 ? 'a payout' : `${unclear.length} payouts`} of this call ` +
    `${status}, which is unknown. A person must find out its meaning.`
  );
}

/** Returns the readings that a conclusion depends on, and the transactions that it is about. */
function evidenceFor({ listing: { readId, wallets }, unclear, related }: Facts) {
  return evidenceOf(wallets ? [readId, wallets.readId] : [readId], [...unclear, ...related], []);
}
