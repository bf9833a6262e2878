import { meaningOf } from '../../gateway/upstream/status-words';
import { Competing } from './competing';
import { Rules, SentCall, Verdict } from './calls-in-doubt';
import { evidenceOf, MOST_UNSETTLED } from './evidence';
import { distinctItems, fit, Fitting, relationOf } from './fitting';
import { Batch, Listing } from './batches';
import { Created, CREATED_BY } from '../../operations/effects';
import { Work } from './work';

/** What of the listing could be a call in doubt, or some of it. It stops where there is so much that it makes no difference. */
interface Candidates {
  /** Each of them the call, or some of it. */
  ours: Fitting[];
  /** Of them, those that are all of it. */
  whole: Fitting[];
  /** Other calls of ours that could have made the latter, or some of them. */
  others: SentCall[];
}

/**
 * Judges a call in doubt that makes transactions. Where two explanations are possible, it says so: of two mistakes, one would
 * let an app pay again, the other would keep from it that nothing was paid.
 * @param competing calls of ours, of which some share a recipient with it.
 * @returns undefined as long as something may still come.
 */
export function* judge(
  doubt: SentCall,
  listing: Listing,
  competing: Competing,
  rules: Rules,
): Work<Verdict | undefined> {
  const created = CREATED_BY.get(doubt.operation);
  if (!created) return undefined;
  const isQuiet = listing.askedAt.getTime() >= quietUntil(doubt, rules);
  const candidates = yield* candidatesFor(doubt, created, listing, competing, rules);
  const { ours, whole, others } = candidates;
  const [only] = whole;
  const standing = only && standingOf(only.batch, created);
  if (only && ours.length === 1 && others.length === 0 && standing === 'done') return confirmed(only, listing);
  if (!isQuiet) return undefined;
  const unexplained = yield* unexplainedFor(doubt, created, listing, competing);
  if (unexplained.length === 0) return withoutAny(doubt, created, listing, rules);
  const evidence = evidenceOf([listing.readId], unexplained.flat(), [...new Set(others.map(({ id }) => id))]);
  return { verdict: 'ambiguous', reason: whyAmbiguous(candidates, standing), evidence };
}

function* candidatesFor(
  doubt: SentCall,
  created: Created,
  listing: Listing,
  competing: Competing,
  rules: Rules,
): Work<Candidates> {
  const ours: Fitting[] = [];
  for (const batch of listing.unclaimed.like(doubt, created, rules)) {
    const fitting = yield* fit(doubt, created, batch, rules);
    if (fitting) ours.push(fitting);
    if (ours.length > MOST_UNSETTLED) break;
  }
  const whole = ours.filter(({ batch }) => batch.length === doubt.items.length);
  const others: SentCall[] = [];
  for (const { batch } of whole) {
    const calls = yield* competing.callsOf(batch);
    others.push(...calls.filter(({ id }) => id !== doubt.id));
    yield calls.length;
    if (others.length >= MOST_UNSETTLED) break;
  }
  return { ours, whole, others };
}

/** The first batches that may be a trace of a call. */
function* unexplainedFor(doubt: SentCall, created: Created, listing: Listing, competing: Competing): Work<Batch[]> {
  const items = distinctItems(doubt);
  yield doubt.items.length;
  const found: Batch[] = [];
  let transactions = 0;
  for (const batch of listing.unclaimed.about(doubt)) {
    const relation = yield* relationOf(items, created, batch);
    if (relation === 'none') continue;
    // Of other amounts, and another call of ours to the last of them: that is no trace of this one.
    if (relation === 'other amounts' && (yield* competing.explains(batch))) continue;
    found.push(batch);
    if ((transactions += batch.length) >= MOST_UNSETTLED) break;
  }
  return found;
}

/** When the quiet period of a call is over, milliseconds since 1970. */
export function quietUntil({ sentUntil }: SentCall, { quietMs }: Rules): number {
  return sentUntil.getTime() + quietMs;
}

function confirmed({ batch, positions }: Fitting, { readId }: Listing): Verdict {
  const reason =
    batch.length === 1
      ? 'The upstream lists the transaction that this asked for, and nothing else of ours could have made it.'
      : `The upstream lists the ${batch.length} transactions that this asked for, under one batch_ref, and nothing else of ours could have made them.`;
  const order = [...batch.keys()].sort((one, other) => (positions[one] ?? 0) - (positions[other] ?? 0));
  const seen = order.flatMap((place) => batch[place] ?? []);
  const ordered = order.map((place) => positions[place] ?? 0);
  return { verdict: 'confirmed', reason, evidence: evidenceOf([readId], seen, [], ordered) };
}

/** Nothing that could be this call is listed. Only of a listing that is known to have all, that says something. */
function withoutAny(doubt: SentCall, { name: kind }: Created, listing: Listing, rules: Rules): Verdict {
  const { missing, oldest, readId } = listing;
  const freshUntil = listing.freshUntil.get(kind);
  const evidence = evidenceOf([readId], [], []);
  const unsure = (reason: string): Verdict => ({ verdict: 'ambiguous', reason, evidence });
  if (oldest === null || oldest >= doubt.sentFrom) {
    return unsure(
      "The upstream's listing has nothing that is older than this: it may have been cut off, and what this asked for with it.",
    );
  }
  if (missing > 0) {
    return unsure(
      `The upstream's listing lacks ${missing} transactions that are known to be there: that it lacks this one too proves nothing.`,
    );
  }
  if (freshUntil === undefined || freshUntil.getTime() < quietUntil(doubt, rules)) {
    return unsure(
      `The upstream's listing shows no ${kind} of ours yet that was sent after the quiet period, at the time when it was sent: it may be older than what this asked for, or its clock wrong.`,
    );
  }
  const reason = `The upstream lists nothing that this could have made, ${Math.round(rules.quietMs / 1_000)} seconds after it was given up, and does list ${kind} that was sent later.`;
  return { verdict: 'not_executed', reason, evidence };
}

/** What the status words of a batch say of a call that it may be. `done` if each of them is known to be good. */
type Standing = 'done' | 'failed' | 'pending' | 'unrecognised';

const WHY_NOT_LANDED: Record<Exclude<Standing, 'done'>, string> = {
  failed:
    'The upstream lists what this asked for, as failed: whether its money moved, and whether it may be sent again, is for a person to find out.',
  pending:
    'The upstream lists what this asked for, as pending: a later round settles it once its status is final, or a person does.',
  unrecognised:
    'The upstream lists what this asked for, with a status word that is not recognised: a person has to find out what it means.',
};

/** The worst word of a batch decides. A link that waits for its payer is all that its call asked for. */
function standingOf(batch: Batch, { paidAtOnce }: Created): Standing {
  const meanings = batch.map(({ status }) => meaningOf(status));
  if (meanings.includes(undefined)) return 'unrecognised';
  if (meanings.includes('not_moved') || (paidAtOnce && meanings.includes('unpaid'))) return 'failed';
  return meanings.includes('pending') ? 'pending' : 'done';
}

function whyAmbiguous({ ours, whole, others }: Candidates, standing: Standing | undefined): string {
  if (others.length > 0) {
    return 'The upstream lists what this asked for, but another call of ours could have made it as well; "calls" names it.';
  }
  if (whole.length > MOST_UNSETTLED) {
    return `The upstream lists what this asked for more than ${MOST_UNSETTLED} times.`;
  }
  if (whole.length > 1) return `The upstream lists what this asked for ${whole.length} times.`;
  if (ours.length === 1 && standing !== undefined && standing !== 'done') return WHY_NOT_LANDED[standing];
  if (ours.length > 0) {
    return 'The upstream lists transactions that could be some of what this asked for.';
  }
  return 'The upstream lists transactions to a recipient of this that differ from what it asked for in amount, time, batch or otherwise.';
}
