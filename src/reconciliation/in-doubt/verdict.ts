import { Status } from '../../operations/statuses';
import { Competing } from './competing';
import { Batch, Rules, Seen, SentCall, Verdict } from './calls-in-doubt';
import { evidenceOf, MOST_UNSETTLED } from './evidence';
import { distinctItems, fit, Fitting, relationOf } from './fitting';
import { Listing } from './batches';
import { Created, CREATED_BY } from '../../operations/effects';
import { Work } from './work';

/**
 * The batches that could be all or part of a call in doubt. Collection stops when more would not change the verdict.
 */
interface Candidates {
  /** Each could be all or part of the call. */
  ours: Fitting[];
  /** Those of them that could be all of it. */
  whole: Fitting[];
  /** Our other calls that could have created all or part of those. */
  others: SentCall[];
}

/**
 * Judges a call in doubt that creates transactions. If two explanations are possible, the verdict is `ambiguous`: a
 * wrong `not_executed` would let an app pay again, and a wrong `confirmed` would hide that nothing was paid.
 * @param competing our calls that share a recipient with it.
 * @returns undefined as long as more information may arrive.
 */
export function* judge(
  call: SentCall,
  listing: Listing,
  competing: Competing,
  rules: Rules,
): Work<Verdict | undefined> {
  const created = CREATED_BY.get(call.operation);
  if (!created) return undefined;
  const isQuiet = listing.askedAt.getTime() >= quietUntil(call, rules);
  const candidates = yield* candidatesFor(call, created, listing, competing, rules);
  const { ours, whole, others } = candidates;
  const [only] = whole;
  const standing = only && standingOf(only.batch, created);
  if (only && ours.length === 1 && others.length === 0 && standing === 'done') return confirmed(only, listing);
  if (!isQuiet) return undefined;
  const unexplained = yield* unexplainedFor(call, created, listing, competing);
  if (unexplained.length === 0) return withoutAny(call, created, listing, rules);
  const evidence = evidenceOf([listing.readId], unexplained.flat(), [...new Set(others.map(({ id }) => id))]);
  return { verdict: 'ambiguous', reason: whyAmbiguous(candidates, standing), evidence };
}

function* candidatesFor(
  call: SentCall,
  created: Created,
  listing: Listing,
  competing: Competing,
  rules: Rules,
): Work<Candidates> {
  const ours: Fitting[] = [];
  yield call.items.length;
  for (const batch of listing.unclaimed.like(call, created, rules)) {
    const fitting = yield* fit(call, created, batch, rules);
    if (fitting) ours.push(fitting);
    if (ours.length > MOST_UNSETTLED) break;
  }
  const whole = ours.filter(({ batch }) => batch.length === call.items.length);
  const others: SentCall[] = [];
  for (const { batch } of whole) {
    const calls = yield* competing.callsOf(batch);
    others.push(...calls.filter(({ id }) => id !== call.id));
    yield calls.length;
    if (others.length >= MOST_UNSETTLED) break;
  }
  return { ours, whole, others };
}

/** Finds the first batches that may be a trace of a call. */
function* unexplainedFor(call: SentCall, created: Created, listing: Listing, competing: Competing): Work<Batch[]> {
  const { traces } = listing.unclaimed;
  const items = distinctItems(call);
  const found = new FirstBatches();
  for (const item of items) {
    yield 1;
    for (const batches of traces.ofItem(item, created)) {
      yield* found.add(batches, (seen) => relationOf(item, seen, created) === 'some');
      if (found.areEnough) return found.all;
    }
  }
  for (const item of items) {
    yield 1;
    for (const batches of traces.ofRecipient(item, created)) {
      // A batch with other amounts that another call of ours explains completely is no trace of this one.
      const unexplained = yield* competing.unexplained(batches);
      yield* found.add(unexplained, (seen) => relationOf(item, seen, created) !== 'none');
      if (found.areEnough) return found.all;
    }
  }
  return found.all;
}

/** Collects batches until they have as many transactions as a verdict names. */
class FirstBatches {
  private readonly found = new Set<Batch>();
  private transactions = 0;

  get all(): Batch[] {
    return [...this.found];
  }

  get areEnough(): boolean {
    return this.transactions >= MOST_UNSETTLED;
  }

  /** Adds the batches with a transaction of this kind. */
  *add(batches: readonly Batch[], isOne: (seen: Seen) => boolean): Work<void> {
    for (const batch of batches) {
      if (this.areEnough) return;
      yield this.found.has(batch) ? 1 : batch.length;
      if (this.found.has(batch) || !batch.some(isOne)) continue;
      this.found.add(batch);
      this.transactions += batch.length;
    }
  }
}

/** Returns when the quiet period of a call ends, in milliseconds since 1970. */
export function quietUntil({ sentUntil }: SentCall, { quietMs }: Rules): number {
  return sentUntil.getTime() + quietMs;
}

function confirmed({ batch, positions }: Fitting, { readId }: Listing): Verdict {
  const reason =
    batch.length === 1
      ? 'The upstream lists the transaction that this call requested, and no other call of ours could have made it.'
      : `The upstream lists the ${batch.length} transactions that this call requested, under one batch_ref, and no other call of ours could have made them.`;
  const order = [...batch.keys()].sort((one, other) => (positions[one] ?? 0) - (positions[other] ?? 0));
  const seen = order.flatMap((place) => batch[place] ?? []);
  const ordered = order.map((place) => positions[place] ?? 0);
  return { verdict: 'confirmed', reason, evidence: evidenceOf([readId], seen, [], ordered) };
}

/** Judges a call without a listed transaction. That proves something only if the listing is known to be complete. */
function withoutAny(call: SentCall, { name: kind }: Created, listing: Listing, rules: Rules): Verdict {
  const { missing, oldest, readId } = listing;
  const freshUntil = listing.freshUntil.get(kind);
  const evidence = evidenceOf([readId], [], []);
  const unsure = (reason: string): Verdict => ({ verdict: 'ambiguous', reason, evidence });
  if (oldest === null || oldest >= call.sentFrom) {
    return unsure(
      "The upstream's listing has nothing older than this call. It may be truncated and lack the transactions of this call.",
    );
  }
  if (missing > 0) {
    return unsure(
      `The upstream's listing lacks ${missing} transactions that are known to exist, so a missing transaction of this call proves nothing.`,
    );
  }
  if (freshUntil === undefined || freshUntil.getTime() < quietUntil(call, rules)) {
    return unsure(
      `The upstream's listing does not yet show a ${kind} call of ours from after the quiet period at its correct time. The listing may be older than this call, or the upstream's clock may be wrong.`,
    );
  }
  const reason = `The upstream lists nothing that this could have made, ${Math.round(rules.quietMs / 1_000)} seconds after it was given up, and does list ${kind} that was sent later.`;
  return { verdict: 'not_executed', reason, evidence };
}

/** Tells what the statuses of a batch mean for its call. `done` means that all of them are known to be good. */
type Standing = 'done' | 'failed' | 'pending' | 'unrecognised';

const WHY_NOT_LANDED: Record<Exclude<Standing, 'done'>, string> = {
  failed:
    'The upstream lists the payouts of this call as failed. A person must find out whether money moved and whether the call may be sent again.',
  pending:
    'The upstream lists the payouts of this call as pending. A later round, or a person, settles the call when the status is final.',
  unrecognised:
    'The upstream lists the payouts of this call with a status that is not recognised. A person must find out what it means.',
};

/** Returns the worst status of a batch. A link that waits for its payer is all that its call requested. */
function standingOf(batch: Batch, { paidAtOnce }: Created): Standing {
  const isOne = (...statuses: (Status | undefined)[]) => batch.some(({ meaning }) => statuses.includes(meaning));
  if (isOne(undefined)) return 'unrecognised';
  if (isOne('failed', 'expired', 'reversed', 'refunded') || (paidAtOnce && isOne('unpaid'))) return 'failed';
  return isOne('pending') ? 'pending' : 'done';
}

function whyAmbiguous({ ours, whole, others }: Candidates, standing: Standing | undefined): string {
  if (others.length > 0) {
    return 'The upstream lists the payouts of this call, but another call of ours could have made them too. "calls" lists it.';
  }
  if (whole.length > MOST_UNSETTLED) {
    return `The upstream lists the payouts of this call more than ${MOST_UNSETTLED} times.`;
  }
  if (whole.length > 1) return `The upstream lists the payouts of this call ${whole.length} times.`;
  if (ours.length === 1 && standing !== undefined && standing !== 'done') return WHY_NOT_LANDED[standing];
  if (ours.length > 0) {
    return 'The upstream lists transactions that could be some of the payouts of this call.';
  }
  return 'The upstream lists transactions to a recipient of this call that differ from it in amount, time, batch, or another property.';
}
