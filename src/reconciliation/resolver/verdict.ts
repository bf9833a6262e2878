import { meaningOf } from '../status-words';
import { oneToOne } from './assignment';
import { Rules, Seen, Sent, Verdict, Wanted } from './doubt';
import { evidenceOf } from './evidence';
import { Issue, Listing } from './issues';
import { isOtherType, MADE, Made } from './made';
import { haveKindInCommon, maybeSameOne, sameOne } from './recipients';

/** An issue of which each transaction is an item of this call. */
interface Fitting {
  issue: Issue;
  /** Of each transaction, the position of its item. */
  positions: number[];
}

/**
 * Judges a call in doubt that makes transactions. Where two explanations are possible, it says so: of two mistakes, one would
 * let an app pay again, the other would keep from it that nothing was paid.
 * @param rivals other calls of ours that share a recipient with it.
 * @returns undefined as long as something may still come.
 */
export function judge(doubt: Sent, listing: Listing, rivals: Sent[], rules: Rules): Verdict | undefined {
  const made = MADE.get(doubt.operation);
  if (!made) return undefined;
  const issues = listing.unclaimed.about(doubt).filter((issue) => touches(doubt, made, issue));
  const ours = issues.flatMap((issue) => fit(doubt, made, issue, rules) ?? []);
  const whole = ours.filter(({ issue }) => issue.length === doubt.items.length);
  const others = whole.flatMap(({ issue }) => rivalsFor(issue, doubt, rivals, rules));
  const [only] = whole;
  const standing = only && standingOf(only.issue, made);
  if (only && ours.length === 1 && others.length === 0 && standing === 'done') return landed(only, listing);
  if (listing.askedAt.getTime() < quietUntil(doubt, rules)) return undefined;
  // Of other amounts, and another call of ours to the last of them: that is no trace of this one.
  const unexplained = issues.filter(
    (issue) => !isOfOtherAmounts(doubt, made, issue) || !rivalsFor(issue, doubt, rivals, rules).some(isAllOf(issue)),
  );
  if (unexplained.length === 0) return withoutAny(doubt, listing, rules);
  const reads = [listing.readId];
  const evidence = evidenceOf(reads, unexplained.flat(), [...new Set(others.map(({ id }) => id))]);
  return { verdict: 'ambiguous', reason: whyAmbiguous(ours.length, whole.length, others, standing), evidence };
}

/** When the quiet period of a call is over, milliseconds since 1970. */
export function quietUntil({ sentUntil }: Sent, { quietMs }: Rules): number {
  return sentUntil.getTime() + quietMs;
}

/** Whether an issue is this call, or some of it: each transaction an item of its own, all made in its time. */
export function fit(call: Sent, made: Made, issue: Issue, rules: Rules): Fitting | undefined {
  if (issue.length > call.items.length || !issue.every(({ issuedAt }) => isInTime(call, issuedAt, rules))) return;
  const given = oneToOne(issue, call.items, (seen, item) => isSame(item, seen, made), kindOf);
  return given && { issue, positions: given.map((at) => (call.items[at] as Wanted).position) };
}

function landed({ issue, positions }: Fitting, { readId }: Listing): Verdict {
  const reason =
    issue.length === 1
      ? 'The upstream lists the transaction that this asked for, and nothing else of ours could have made it.'
      : `The upstream lists the ${issue.length} transactions that this asked for, under one issueID, and nothing else of ours could have made them.`;
  const order = [...issue.keys()].sort((one, other) => (positions[one] ?? 0) - (positions[other] ?? 0));
  const seen = order.flatMap((place) => issue[place] ?? []);
  const ordered = order.map((place) => positions[place] ?? 0);
  return { verdict: 'landed', reason, evidence: evidenceOf([readId], seen, [], ordered) };
}

/** Nothing that could be this call is listed. Only of a listing that is known to have all, that says something. */
function withoutAny(doubt: Sent, listing: Listing, rules: Rules): Verdict {
  const { missing, oldest, readId } = listing;
  const freshUntil = listing.freshUntil.get(doubt.operation);
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
      `The upstream's listing shows no ${doubt.operation} yet that was sent after the quiet period, at the time when it was sent: it may be older than what this asked for, or its clock wrong.`,
    );
  }
  const reason = `The upstream lists nothing that this could have made, ${Math.round(rules.quietMs / 1_000)} seconds after it was given up, and does list a later ${doubt.operation}.`;
  return { verdict: 'absent', reason, evidence };
}

/** What the status words of an issue say of a call that it may be. `done` if each of them is known to be good. */
type Standing = 'done' | 'failed' | 'pending' | 'unrecognised';

const WHY_NOT_LANDED: Record<Exclude<Standing, 'done'>, string> = {
  failed:
    'The upstream lists what this asked for, as failed: whether its money moved, and whether it may be sent again, is for a person to find out.',
  pending:
    'The upstream lists what this asked for, as pending: a later round settles it once its status is final, or a person does.',
  unrecognised:
    'The upstream lists what this asked for, with a status word that is not recognised: a person has to find out what it means.',
};

/** The worst word of an issue decides. A link that waits for its payer is all that its call asked for. */
function standingOf(issue: Issue, { pays }: Made): Standing {
  const meanings = issue.map(({ status }) => meaningOf(status));
  if (meanings.includes(undefined)) return 'unrecognised';
  if (meanings.includes('not_moved') || (pays && meanings.includes('unpaid'))) return 'failed';
  return meanings.includes('pending') ? 'pending' : 'done';
}

function whyAmbiguous(ours: number, whole: number, others: Sent[], standing: Standing | undefined): string {
  if (others.length > 0) {
    return 'The upstream lists what this asked for, but another call of ours could have made it as well; "calls" names it.';
  }
  if (whole > 1) return `The upstream lists what this asked for ${whole} times.`;
  if (ours === 1 && standing !== undefined && standing !== 'done') return WHY_NOT_LANDED[standing];
  if (ours > 0) {
    return 'The upstream lists transactions that could be some of what this asked for.';
  }
  return 'The upstream lists transactions to a recipient of this that differ from what it asked for in amount, time, batch or otherwise.';
}

/** Other calls that an issue could be as well, or some of: it may be all that was carried out of a batch, or that is listed yet. */
function rivalsFor(issue: Issue, doubt: Sent, rivals: Sent[], rules: Rules): Sent[] {
  return rivals.filter((rival) => {
    const made = MADE.get(rival.operation);
    return rival.id !== doubt.id && made && fit(rival, made, issue, rules);
  });
}

function isAllOf(issue: Issue): (call: Sent) => boolean {
  return ({ items }) => items.length === issue.length;
}

function isInTime({ sentFrom, sentUntil }: Sent, at: Date | null, { skewMs, quietMs }: Rules): boolean {
  if (at === null) return false;
  return at.getTime() >= sentFrom.getTime() - skewMs && at.getTime() <= sentUntil.getTime() + quietMs + skewMs;
}

/** Whether a transaction is what an item asked for, in all that both say. */
function isSame(item: Wanted, seen: Seen, made: Made): boolean {
  if (isOtherType(seen.type, made) || !sameOne(item.payee, seen.names)) return false;
  if (made.pays && meaningOf(seen.status) === 'unpaid') return false;
  if (made.byReference) return item.reference !== null && seen.references.includes(item.reference);
  if (item.reference && seen.references.length > 0 && !seen.references.includes(item.reference)) return false;
  return isSameAmount(item, seen) === true;
}

function kindOf({ type, status, amountUsd, names, references }: Seen): string {
  return JSON.stringify([type, status, amountUsd, names, references]);
}

/** Undefined where one of them says none. */
function isSameAmount(item: Wanted, seen: Seen): boolean | undefined {
  if (item.amountUsd === null || seen.amountUsd === null) return undefined;
  return item.amountUsd === seen.amountUsd;
}

/** Whether a transaction could be what an item asked for, if something of it is other than it was asked for. */
function mightBe(item: Wanted, seen: Seen, made: Made): boolean {
  const amount = made.byReference ? undefined : isSameAmount(item, seen);
  if (isOtherType(seen.type, made) && amount !== true) return false;
  if (made.byReference && item.reference !== null && seen.references.includes(item.reference)) return true;
  if (maybeSameOne(item.names, seen.names)) return true;
  if (item.names.length === 0 || seen.names.length === 0) return amount !== false;
  // Whoever was paid by a handle may be listed by an e-mail address.
  return amount === true && !isOtherType(seen.type, made) && !haveKindInCommon(item.names, seen.names);
}

function isOfOtherAmounts({ items }: Sent, made: Made, issue: Issue): boolean {
  if (made.byReference) return false; // its amounts are in another currency
  return issue.every((seen) => items.every((item) => !mightBe(item, seen, made) || isSameAmount(item, seen) === false));
}

function touches({ items }: Sent, made: Made, issue: Issue): boolean {
  return issue.some((seen) => items.some((item) => mightBe(item, seen, made)));
}
