import { Prisma } from '../../platform/database/generated/client';

/**
 * The kinds of names: the columns of the table `search_name`, which has the hash of each name.
 * `transaction` is any name of a transaction.
 */
export type NameKind = 'request_id' | 'idempotency_key' | 'transaction' | 'reference' | 'beginning';

/** A filter by a name of one kind. A call has one of `names`. */
export interface NameFilter {
  kind: NameKind;
  names: string[];
}

/** Calls with a name that are read at once. More are as good as all calls. */
const ALL = 1_000_000;

/** Returns SQL for an array of the calls that may have one of these names. Their entries decide. */
export function callsNamed(kind: NameKind, names: string[]): Prisma.Sql {
  // A subquery runs once per statement.
  return Prisma.sql`ARRAY(SELECT unnest(calls_named(${kind}::text, ${names}::text[], ${ALL}::integer)))`;
}

/** Returns the condition that a text of an entry, such as that of a payout, has one of these terms. */
export function hasTerm(text: Prisma.Sql, list: string[]): Prisma.Sql {
  const each = list.map((one) => Prisma.sql`strpos(${text} || E'\n', ${`\n${one}\n`}::text) > 0`);
  return Prisma.sql`(${Prisma.join(each, ' OR ')})`;
}

/** The terms and names of all payouts of an entry. */
export const ALL_PAYOUTS = Prisma.sql`array_to_string(payouts, '')`;
