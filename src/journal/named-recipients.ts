import { Prisma } from '../platform/database/generated/client';

/** The fields of a statement that identify who was paid. */
export const RECIPIENT_FIELDS = ['recipient', 'email', 'phone', 'handle', 'receiver'] as const;

/**
 * Whether a reading is a statement that names recipients. Runs over it and their findings tell who was paid.
 * @param read an alias of `source_read`.
 */
export function namesRecipients(read: string): Prisma.Sql {
  const row = Prisma.raw(read);
  return Prisma.sql`coalesce(${row}.source = 'statement'
    AND jsonb_exists_any((${row}.mapping->'columns')::jsonb, ${[...RECIPIENT_FIELDS]}::text[]), false)`;
}

/** Whether a run compares recipients that a statement names. @param run an SQL expression of its ID. */
export function comparesRecipients(run: string): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM reconciliation_run named JOIN source_read x ON x.id = named.read_id
    WHERE named.id = ${Prisma.raw(run)} AND ${namesRecipients('x')})`;
}
