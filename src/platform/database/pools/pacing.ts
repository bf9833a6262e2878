import { Prisma } from '../generated/client';

/**
 * SQL: true, after a rest where one is due. A statement that evaluates it for each row works in the first of
 * every four milliseconds and sleeps in the others, so that payments soon get its core. The kernel alone lets
 * a busy process run for about four milliseconds, and a payment needs a core some ten times, in several
 * processes.
 *
 * A statement rests in its first seven seconds only, so that a long one ends before its timeout. It costs a
 * tenth of a microsecond for each row.
 */
export const RESTED = Prisma.sql`CASE
  WHEN date_part('microseconds', clock_timestamp())::integer % 4000 >= 1000
    AND clock_timestamp() < statement_timestamp() + interval '7 seconds'
  THEN pg_sleep(0.003) IS NOT NULL ELSE TRUE END`;
