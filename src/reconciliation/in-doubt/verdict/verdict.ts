import { NewEntry } from '../../../journal/records/records';
import { CREATED_BY } from '../../../operations/items/effects';
import { ENTRIES, entryOf } from '../../../operations/lifecycle/settlement';
import { Rules, SentCall, Verdict } from '../calls-in-doubt';
import { Work } from '../work';
import { BatchMatch } from './batch-match';
import { Batches, Listing } from './batches';
import { CompetingCalls } from './competing-calls';
import { evidenceOf, MOST_UNSETTLED, Facts, factsOf, quietUntil } from './facts';

/**
 * Conclusion of a rule about the payouts in doubt of a call. `listed` payouts get the status of their
 * transactions.
 *
 * - `wait`: no conclusion yet.
 * - `by_status`: all payouts are listed.
 * - `not_executed`: the listed payouts by their status. All others were not carried out.
 * - `ambiguous`: the listed payouts by their status. A person or a later round settles the others.
 */
type Conclusion = 'wait' | 'by_status' | 'not_executed' | 'ambiguous';

/** A rule. It decides if its fact holds. */
interface Rule {
  name: string;
  holds: (facts: Facts) => boolean;
  concludes: Conclusion;
  reason: (facts: Facts) => string;
}

/**
 * Rules about a call in doubt that creates transactions. The first rule that holds decides. Decision 0014
 * explains their order and their reasons, and verdict-rules.spec.ts tests each by its name.
 *
 * If two explanations are possible, the conclusion is `ambiguous`. A wrong `not_executed` would let an app
 * pay again. A wrong `paid` would hide that nothing was paid.
 */
export const VERDICT_RULES: readonly Rule[] = [
  {
    name: 'listed as a whole',
    holds: (facts) => soleCandidate(facts)?.batch.length === facts.call.items.length,
    concludes: 'by_status',
    reason: ({ call: { items } }) =>
      items.length === 1
        ? 'The upstream lists the transaction that this call requested, and no other call of ours could ' +
          'have made it.'
        : `The upstream lists the ${items.length} transactions that this call requested, under one ` +
          'batch_ref, and no other call of ours could have made them.',
  },
  {
    name: 'too early',
    holds: ({ isQuiet }) => !isQuiet,
    concludes: 'wait',
    reason: () => 'The upstream may still list transactions of this call.',
  },
  {
    name: 'made by another call of ours',
    holds: ({ others }) => others.length > 0,
    concludes: 'ambiguous',
    reason: () =>
      'The upstream lists payouts of this call, but another call of ours could have made them too. "calls" ' +
      'lists it.',
  },
  {
    name: 'listed several times',
    holds: ({ candidates }) => candidates.length > 1,
    concludes: 'ambiguous',
    reason: ({ candidates: { length } }) =>
      'The upstream lists payouts of this call ' +
      `${length > MOST_UNSETTLED ? `more than ${MOST_UNSETTLED}` : length} times.`,
  },
  {
    name: 'related transactions',
    holds: (facts) => unexplainedBatches(facts).length > 0,
    concludes: 'ambiguous',
    reason: () =>
      'The upstream lists transactions to a recipient of this call, with another amount, time, batch or ' +
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
    holds: ({ isCurrent, needsFreshness }) => needsFreshness && !isCurrent,
    concludes: 'ambiguous',
    reason: () =>
      "The upstream's listing does not yet show a call of ours from after the quiet period at its correct " +
      "time. The listing may be older than this call, or the upstream's clock may be wrong.",
  },
  {
    name: 'kind listed later',
    holds: ({ isFresh, needsFreshness, walletsUntouched }) => needsFreshness && !isFresh && !walletsUntouched,
    concludes: 'ambiguous',
    reason: ({ created: { name } }) =>
      `The upstream's listing does not yet show another ${name} call of ours from after the quiet period, ` +
      `and may show ${name} later than other transactions. The wallets do not prove that nothing was paid.`,
  },
  {
    name: 'not listed',
    holds: () => true,
    concludes: 'not_executed',
    reason: (facts) => {
      const { rules, created, call, isFresh, needsFreshness } = facts;
      const listed = soleCandidate(facts)?.batch.length;
      const part =
        listed === undefined ? '' : `${listed} of the ${call.items.length} payouts of this call, and `;
      const seconds = Math.round((quietUntil(call, rules) - call.sentUntil.getTime()) / 1_000);
      const current = isFresh
        ? `does list ${created.name} sent later`
        : 'does list a later call. The wallets show that nothing was paid from them since before the call';
      const proof = needsFreshness ? current : 'has rejected the call';
      return (
        `The upstream lists ${part}nothing that ${listed === undefined ? 'this' : 'the others'} could have ` +
        `made, ${seconds} seconds after it was given up, and ${proof}.`
      );
    },
  },
];

/**
 * Judges the payouts in doubt of a call that creates transactions.
 * @param competing our calls that share a recipient with it.
 * @returns undefined while more information may arrive.
 */
export function* judge(
  call: SentCall,
  listing: Listing,
  competing: CompetingCalls,
  rules: Rules,
): Work<Verdict | undefined> {
  const created = CREATED_BY.get(call.operation);
  if (!created) return undefined;
  const facts = yield* factsOf(call, created, listing, competing, rules);
  const rule = VERDICT_RULES.find(({ holds }) => holds(facts));
  return rule && verdictBy(rule, facts);
}

/**
 * Returns the entries of a call's listed payouts, if only this call could have made them.
 * @param unclaimed listed transactions that no call of ours claims.
 */
export function* soleListing(
  call: SentCall,
  unclaimed: Batches,
  competing: CompetingCalls,
  rules: Rules,
  readId: string,
): Work<NewEntry[]> {
  const created = CREATED_BY.get(call.operation);
  if (!created) return [];
  const empty = { requestedAt: new Date(0), missing: 0, oldest: null, freshUntil: new Map() };
  const facts = yield* factsOf(call, created, { readId, unclaimed, ...empty }, competing, rules);
  const only = soleCandidate(facts);
  return only ? listedEntries(only, facts).entries : [];
}

function verdictBy({ concludes, reason }: Rule, facts: Facts): Verdict | undefined {
  if (concludes === 'wait') return undefined;
  const only = soleCandidate(facts);
  const { entries, unclear } = only ? listedEntries(only, facts) : { entries: [], unclear: [] };
  // A failed payout gives its amount back, so its status must be final.
  if (!facts.isQuiet && entries.some(({ entry }) => entry !== 'fee' && !ENTRIES[entry].counts))
    return undefined;
  if (concludes === 'ambiguous') return { ...ambiguous(facts, reason(facts)), entries };
  const settled = new Set(only?.positions);
  const others = facts.call.items.filter(({ position }) => !settled.has(position));
  const all = [...entries, ...others.map(({ position }): NewEntry => ({ position, entry: 'not_executed' }))];
  if (unclear.length > 0) {
    // An unknown status can still change into a known one, as a pending payout does.
    return facts.isQuiet ? { ...ambiguous(facts, unclearReason(unclear)), entries: all } : undefined;
  }
  const reads = readsOf(facts);
  const verdict = only ? 'confirmed' : 'not_executed';
  const evidence = only ? listedEvidence(only, reads) : evidenceOf(reads, [], []);
  return {
    verdict,
    reason: reason(facts),
    evidence,
    entries: all.sort((one, other) => one.position - other.position),
  };
}

/** Returns the only batch that is all or part of the call, if no other call of ours could have made it. */
function soleCandidate({ candidates, others }: Facts): BatchMatch | undefined {
  return candidates.length === 1 && others.length === 0 ? candidates[0] : undefined;
}

/** Returns the related batches that are not the listed part of the call. */
function unexplainedBatches(facts: Facts) {
  const only = soleCandidate(facts);
  return facts.related.filter((batch) => batch !== only?.batch);
}

/** Returns the entries of listed payouts, and the statuses without a known meaning. */
function listedEntries({ batch, positions }: BatchMatch, { created, listing }: Facts) {
  const { transactions } = evidenceOf([listing.readId], batch, [], positions);
  const entries: NewEntry[] = [];
  const unclear: (string | null)[] = [];
  for (const [index, transaction] of transactions.entries()) {
    const entry = entryOf(batch[index]?.meaning, created);
    if (ENTRIES[entry].known) entries.push({ position: positions[index] ?? 0, entry, transaction });
    else unclear.push(transaction.status);
  }
  return { entries, unclear };
}

/** Returns the readings that a conclusion depends on. */
function readsOf({ listing: { readId, wallets } }: Facts): string[] {
  return wallets ? [readId, wallets.readId] : [readId];
}

function unclearReason(words: (string | null)[]): string {
  const [word] = words;
  const status = word === null || word === undefined ? 'without a status' : `with the status "${word}"`;
  return (
    `The upstream lists ${words.length === 1 ? 'a payout' : `${words.length} payouts`} of this call ` +
    `${status}, which is unknown. A person must find out its meaning.`
  );
}

function listedEvidence({ batch, positions }: BatchMatch, reads: string[]) {
  const order = [...batch.keys()].sort((one, other) => (positions[one] ?? 0) - (positions[other] ?? 0));
  const transactions = order.flatMap((index) => batch[index] ?? []);
  const sorted = order.map((index) => positions[index] ?? 0);
  return evidenceOf(reads, transactions, [], sorted);
}

function ambiguous(facts: Facts, reason: string): Verdict {
  const { candidates, related, others } = facts;
  const batches = new Set([...candidates.map(({ batch }) => batch), ...related]);
  const evidence = evidenceOf(readsOf(facts), [...batches].flat(), [...new Set(others.map(({ id }) => id))]);
  return { verdict: 'ambiguous', reason, evidence };
}
