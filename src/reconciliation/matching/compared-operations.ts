import { CHANGED_BY, CHANGING_OPERATIONS, CREATED_BY } from '../../operations/effects';
import { text, texts } from './literals';

/** `compared_operation`: the operations whose transactions are compared, as the catalogue describes them. */
export const MAKE_COMPARED_OPERATIONS = `
  CREATE TEMP TABLE compared_operation (
    operation text PRIMARY KEY, paid_at_once boolean, takes_fee boolean, always_listed boolean, incoming boolean);
  INSERT INTO pg_temp.compared_operation VALUES ${[...CREATED_BY]
    .map(
      ([name, { paidAtOnce, takesFee, alwaysListed, incoming }]) =>
        `(${text(name)}, ${paidAtOnce}, ${takesFee}, ${alwaysListed}, ${incoming})`,
    )
    .join(', ')};
  ANALYZE compared_operation`;

/** The compared operations in SQL. They are written as constants, so that the planner can estimate their calls. */
export const COMPARED = texts([...CREATED_BY.keys()]);

/**
 * The operations that change something and create no comparable transaction, in SQL. A run with such a call in doubt is
 * not clean.
 */
export const NOT_COMPARED = texts(CHANGING_OPERATIONS.filter((name) => !CREATED_BY.has(name)));

/** The operations that delete transactions, in SQL. */
export const DELETING = texts([...CHANGED_BY].flatMap(([name, change]) => (change === 'deleted' ? [name] : [])));

/** The types of transactions that calls create, in SQL. */
export const PAYMENT_TYPES = texts([...new Set([...CREATED_BY.values()].map(({ type }) => type))]);

/** The types of transactions for incoming money, in SQL. */
export const INCOMING_TYPES = texts([
  ...new Set([...CREATED_BY.values()].flatMap(({ type, incoming }) => (incoming ? [type] : []))),
]);
