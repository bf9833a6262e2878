import { Client } from 'pg';
import { writeResult } from '../../journal/reconciliation/findings';
import { Prisma } from '../../platform/database/generated/client';
import { makeAnswered } from '../book/answered';
import { runAll } from '../book/connection';
import { MAKE_SHOWS_ID, matchAlike, matchSimilar } from '../book/fingerprint';
import {
  addDistantCalls,
  addOurs,
  addSettled,
  CallIdRange,
  idsIn,
  makeCalls,
  readPayouts,
} from '../book/ours';
import { MAKE_COMPARED_OPERATIONS, MissingTransaction, MissingLookup, OnProgress, Plan } from '../book/plan';
import { MATCH_COLLECTIONS, MATCH_REFERENCES } from '../book/references';
import { matchAll, MATCH_NAMED } from '../book/rules';
import {
  ADD_DISTANT_NAMES,
  LINK_SET_ASIDE,
  SET_ASIDE,
  addConfirmed,
  addDistantTheirs,
  addReturnedCollections,
  DISTANT_CALLS,
  makeTheirs,
} from '../book/theirs';
import { addBalanceGaps } from './balances';
import {
  addDifferencesOfPayments,
  addDifferencesOfTheirs,
  MAKE_DIFFERENCES,
  nameAccount,
  TO_CONFIRM,
  addReusedKeys,
} from './differences';
import { judgeWallets } from './entries/wallets';
import { makeAlone, makeJudged } from './judgment';
import { totalsOf } from './totals';
import { TotalsRecord } from './totals.dto';

export const STEPS = ['ours', 'theirs', 'match', 'confirm', 'judge', 'record'] as const;

/** Further steps of a comparison. */
interface ComparisonSteps {
  /** Looks up payouts missing in the listing. Undefined skips the lookup. */
  confirm?: MissingLookup | undefined;
  /** Settles payouts, for which it can read the matches, before the result is recorded. */
  settle?: (() => Promise<void>) | undefined;
}

/**
 * Compares our records with a source, and writes all differences or none. Until its last transaction commits,
 * its results exist only in temporary tables of this connection.
 * @param db a dedicated connection of the run (`connectForRun`).
 */
export async function compare(
  db: Client,
  plan: Plan,
  onProgress: OnProgress = () => undefined,
  { confirm, settle }: ComparisonSteps = {},
): Promise<TotalsRecord> {
  const at = (step: (typeof STEPS)[number]) => onProgress(step, STEPS.indexOf(step), STEPS.length);
  await db.query('DISCARD TEMP'); // the tables of an earlier run on the same connection
  await runAll(db, MAKE_COMPARED_OPERATIONS);
  await at('ours');
  const ids = await readPayouts(db, plan, makeCalls(plan));
  await at('theirs');
  const analyze = Prisma.sql`ANALYZE theirs; ANALYZE set_aside`;
  await runAll(db, [makeTheirs(plan), SET_ASIDE, addReturnedCollections(plan), analyze]);
  await at('match');
  await match(db, plan, ids);
  if (confirm) {
    await at('confirm');
    await confirmMissing(db, plan, confirm);
  }
  await at('judge');
  const totals = await judge(db, plan, ids);
  await settle?.();
  await at('record');
  await writeResult(db, plan, totals);
  await db.query('DISCARD TEMP').catch(() => undefined); // the results are stored, even if this fails
  return totals;
}

async function match(db: Client, plan: Plan, ids: CallIdRange): Promise<void> {
  await runAll(db, matchAll(ids));
  await addDistant(db, plan);
  await matchRemaining(db, plan);
  // The unique indexes guarantee one-to-one matches.
  await db.query('CREATE UNIQUE INDEX ON pair (o); CREATE UNIQUE INDEX ON pair (t)');
}

/**
 * Adds payments of the period whose transaction is far outside of it, and transactions whose payment is: they
 * were executed long after the request.
 */
async function addDistant(db: Client, plan: Plan): Promise<void> {
  await db.query(addDistantTheirs(plan));
  const { rowCount } = await db.query(DISTANT_CALLS);
  if (!rowCount) return;
  await runAll(db, [addDistantCalls(plan), ...addSettled(plan)]);
  await runAll(db, [addOurs(plan, await idsIn(db, Prisma.sql`distant_call`)), ADD_DISTANT_NAMES]);
}

async function matchRemaining(db: Client, plan: Plan): Promise<void> {
  await runAll(db, [...MATCH_NAMED, ...MATCH_COLLECTIONS, MAKE_SHOWS_ID, ...makeAnswered(plan.account)]);
  await matchAlike(db, plan.settings);
  await runAll(db, MATCH_REFERENCES);
  await matchSimilar(db, plan.settings);
}

/** Looks up each missing transaction by its name, because a listing may lack existing transactions. */
async function confirmMissing(db: Client, plan: Plan, confirm: MissingLookup): Promise<void> {
  const { rows } = await db.query<MissingTransaction>(TO_CONFIRM);
  if (rows.length === 0) return;
  const readIds = await confirm(rows);
  if (readIds.length === 0) return;
  await db.query(addConfirmed(plan, readIds));
  await matchRemaining(db, plan);
}

async function judge(db: Client, plan: Plan, ids: CallIdRange): Promise<TotalsRecord> {
  await runAll(db, [
    ...makeJudged(plan),
    ADD_DISTANT_NAMES,
    LINK_SET_ASIDE,
    ...makeAlone(plan),
    MAKE_DIFFERENCES,
    addDifferencesOfPayments(plan),
    addDifferencesOfTheirs(plan),
    ...addReusedKeys(plan, ids),
  ]);
  const { walletsReadId } = plan;
  if (walletsReadId !== null) await db.query(addBalanceGaps(plan, walletsReadId));
  const wallets =
    walletsReadId === null ? { statements: [], incomplete: [] } : await judgeWallets(db, plan, walletsReadId);
  await runAll(db, [...nameAccount(plan), Prisma.sql`ANALYZE difference`]);
  return totalsOf(db, plan, wallets);
}
