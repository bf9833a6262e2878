import { Client } from 'pg';
import { endOf, spellsOneOf } from '../../platform/privacy/phone-numbers';
import { Person } from './person';

/**
 * Finds the calls whose idempotency keys spell the person's phone number, such as `order-254712345678`. A key is part of
 * a sealed record, so no erasure changes it. Keys with other contacts, or with a recipient of their call, were refused.
 */
export async function keptKeys(db: Client, { kind, value }: Person): Promise<string[]> {
  if (kind !== 'phone') return [];
  const { rows } = await db.query<{ id: string; key: string }>(
    `SELECT id, key FROM (
       SELECT id, record::json ->> 'idempotency_key' AS key FROM intent WHERE record LIKE '%"idempotency_key":%'
       UNION ALL SELECT id, idempotency_key FROM refusal WHERE idempotency_key IS NOT NULL) AS keyed
     WHERE regexp_replace(key, '\\D', '', 'g') LIKE '%' || $1 || '%' ORDER BY id`,
    [endOf(value)],
  );
  return rows.filter(({ key }) => spellsOneOf(key, [value])).map(({ id }) => id);
}
