import { v7 as uuidv7 } from 'uuid';
import { UNVERIFIED_REJECTION } from '../../../../src/operations/lifecycle/rejections';
import { TestDatabase } from '../../databases/test-database';
import { insertBeside, insertIntents, insertOutcomes, insertSettlements } from '../../records/documents';
import { writeListing } from '../comparison';
import { isMarked, PlacedPayout, payoutsOf, World, WorldCall, WorldRow } from './small-world';

/** A world among the others of its account. */
export interface PlacedWorld {
  world: World;
  /** IDs of its calls. */
  ids: string[];
  /** Sets its names apart from those of the other worlds. */
  prefix: string;
  /** Whether the upstream lists the IDs that the proxy wrote into requests. */
  showsIds: boolean;
}

/** A listed transaction, and its place in a world. */
export interface ListedRow {
  placed: PlacedWorld;
  index: number;
}

/** The reference in the request of a payout. The proxy writes one where the app states none. */
export function referenceOf({ ids, prefix }: PlacedWorld, payout: PlacedPayout): string | null {
  const { callIndex, position, reference } = payout;
  if (reference !== null) return prefix + reference;
  return isMarked(payout) ? `${ids[callIndex]}.${position}` : null;
}

/** The reference that the upstream lists for a transaction. It may drop the IDs of the proxy. */
export function listedReferenceOf(placed: PlacedWorld, { reference }: WorldRow): string | null {
  if (typeof reference === 'string') return placed.prefix + reference;
  if (reference === null || !placed.showsIds) return null;
  const payout = payoutsOf(placed.world)[reference];
  if (!payout || payout.reference !== null) return null;
  return referenceOf(placed, payout);
}

/** The names of a transaction. */
export function namesOf({ world, prefix }: Pick<PlacedWorld, 'world' | 'prefix'>, index: number) {
  const row = world.rows[index];
  return {
    upstream_ref: `${prefix}r${row?.repeats ?? index}`,
    ...(row?.hasId && { upstream_id: `${prefix}i${row.sharesId ?? index}` }),
    ...(row?.batch && { batch_ref: prefix + row.batch }),
  };
}

/** Writes the calls of worlds in an account of their own, like the journal. */
export async function writeWorlds(
  database: TestDatabase,
  account: string,
  worlds: World[],
  { start, showsIds }: { start: number; showsIds: boolean },
): Promise<PlacedWorld[]> {
  const client_id = uuidv7();
  await database.query(`INSERT INTO client (id, name, account, scopes) VALUES ($1, $2, $2, '{pay}')`, [
    client_id,
    account,
  ]);
  const placed = worlds.map((world, index) => ({
    world,
    showsIds,
    prefix: `w${index}-`,
    // Calls at one time are ordered by their IDs, in each account alike.
    ids: world.calls.map(({ at }, order) => uuidv7({ msecs: start + at * 1_000 + order })),
  }));
  const calls = placed.flatMap((one) => one.world.calls.map((call, index) => toRecords(one, call, index)));
  const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
  await insertIntents(
    database,
    calls.map(({ seconds, intent }) => ({ ...intent, client_id, recorded_at: at(seconds) })),
  );
  for (const { intent, people } of calls) await insertBeside(database, intent.id, { people });
  await insertOutcomes(
    database,
    calls.map(({ seconds, outcome }) => ({ ...outcome, recorded_at: at(seconds) })),
  );
  await insertSettlements(
    database,
    calls.flatMap(({ seconds, settlement }) =>
      settlement.map((one) => ({ ...one, recorded_at: at(seconds) })),
    ),
  );
  return placed;
}

function toRecords(placed: PlacedWorld, { operation, at, kind, payouts, ...call }: WorldCall, index: number) {
  const id = placed.ids[index] ?? '';
  const own = payoutsOf(placed.world).filter(({ callIndex }) => callIndex === index);
  const items = own.map((payout) => ({
    amount_usd: payout.usd,
    reference: referenceOf(placed, payout) ?? undefined,
    recipient_field: 'email' as const,
  }));
  const people = payouts.map(({ to }, position) => ({ position, email: emailOf(placed.prefix, to) }));
  const answeredNames = (at: number) => {
    const { upstream_id, ...names } = namesOf(placed, at);
    return { status: 'pending', ...names, ...(upstream_id && !call.omitsIds && { upstream_id }) };
  };
  const named = payouts.flatMap(({ names }, position) =>
    names === null ? [] : [{ position, ...answeredNames(names) }],
  );
  const unplaced = [
    ...(call.unplaced === null ? [] : [answeredNames(call.unplaced)]),
    ...(call.batch === null ? [] : [{ batch_ref: placed.prefix + call.batch }]),
  ];
  const isAnswered = kind === 'answered';
  const outcome = {
    intent_id: id,
    kind: isAnswered ? ('succeeded' as const) : ('unknown' as const),
    failure: isAnswered ? undefined : kind === 'rejected' ? UNVERIFIED_REJECTION : 'timeout',
    entries: payouts.map(({ names }) => (names === null ? ('in_doubt' as const) : ('pending' as const))),
    items: named.length + unplaced.length > 0 ? [...named, ...unplaced] : undefined,
  };
  const resolution = kind === 'confirmed' || kind === 'not_executed' ? kind : undefined;
  const entry = resolution === 'confirmed' ? 'paid' : 'not_executed';
  const to = resolution === 'confirmed' ? 'recipient' : 'available';
  const entries = payouts.map((_, position) => ({ position, entry, from: 'reserved', to }));
  return {
    seconds: at,
    intent: { id, operation, items },
    people,
    outcome,
    settlement: resolution ? [{ intent_id: id, resolution, source: 'person' as const, entries }] : [],
  };
}

const emailOf = (prefix: string, name: string) => `${prefix}${name}@example.com`;

/** Writes a complete reading of these transactions. */
export function writeReading(
  database: TestDatabase,
  account: string,
  listed: ListedRow[],
  start: number,
): Promise<string> {
  const rows = listed.map(({ placed, index }) => {
    const row = placed.world.rows[index] as WorldRow;
    return {
      ...namesOf(placed, index),
      issued_at: new Date(start + row.at * 1_000).toISOString(),
      ...(row.type && { type: row.type }),
      status: 'paid',
      amount_usd: row.usd,
      fee_usd: row.fee,
      email: row.to === null ? null : emailOf(placed.prefix, row.to),
      reference: listedReferenceOf(placed, row),
    };
  });
  return writeListing(database, rows, rows.length, 'transactions', [], account);
}
