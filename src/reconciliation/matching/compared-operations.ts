import { insertion } from '../../journal/document-sql';
import { CHANGED_BY, CHANGING_OPERATIONS, CREATED_BY } from '../../operations/effects';
import { Prisma } from '../../platform/database/generated/client';

/** The operations whose transactions are compared, as the catalogue describes them. Rows of `compared_operation`. */
export const COMPARED_OPERATIONS = [...CREATED_BY].map(
  ([operation, { paidAtOnce, takesFee, alwaysListed, incoming }]) => ({
    operation,
    paid_at_once: paidAtOnce,
    takes_fee: takesFee,
    always_listed: alwaysListed,
    incoming,
  }),
);

export const MAKE_COMPARED_OPERATIONS = [
  Prisma.sql`CREATE TEMP TABLE compared_operation (
    operation text PRIMARY KEY, paid_at_once boolean, takes_fee boolean, always_listed boolean, incoming boolean)`,
  insertion('pg_temp.compared_operation', COMPARED_OPERATIONS),
  Prisma.sql`ANALYZE compared_operation`,
];

/** The names of the compared operations. Statements list them, so that the planner can estimate their calls. */
export const COMPARED = [...CREATED_BY.keys()];

/**
 * The operations that change something and create no comparable transaction. A run with such a call in doubt is not
 * clean.
 */
export const NOT_COMPARED = CHANGING_OPERATIONS.filter((name) => !CREATED_BY.has(name));

/** The operations that delete transactions. */
export const DELETING = [...CHANGED_BY].flatMap(([name, change]) => (change === 'deleted' ? [name] : []));

/** The types of transactions that calls create. */
export const PAYMENT_TYPES = [...new Set([...CREATED_BY.values()].map(({ type }) => type))];

/** The types of transactions for incoming money. */
export const INCOMING_TYPES = [
  ...new Set([...CREATED_BY.values()].flatMap(({ type, incoming }) => (incoming ? [type] : []))),
];
