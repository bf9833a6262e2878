import { Client } from 'pg';
import {
  commitmentSql,
  ErasableColumns,
  RECEIVER,
  RECIPIENT,
  REFERENCE,
} from '../../journal/reconciliation/evidence';
import { numberForms } from '../../platform/privacy/contacts';
import { Contact, recipientKey } from '../../recipients/recipient';
import { Pruning } from '../log/signed-records';
import { Month } from './months';
import { namedIn } from './person';

/** Source tables that are not partitioned by month. */
const SMALL_TABLES = ['upstream_wallet', 'upstream_wallet_entry', 'statement_fault'] as const;

const OF_MONTH = 'read_id >= $1 AND read_id < $2';

/** Pattern of a contact in a text, which has an @ or a + (platform/privacy/contacts.ts). */
const A_CONTACT = "'[@+]'";
const NAMES_A_PERSON = `(
  coalesce(email, phone, handle) IS NOT NULL OR concat(reference, receiver) ~ ${A_CONTACT})`;

/** Returns the number of source rows that a month would lose. No record depends on them. */
export async function evidenceOf(db: Client, { from, to }: Month, what: Pruning['what']): Promise<number> {
  const counts =
    what === 'people'
      ? [`(SELECT count(*) FROM upstream_transaction WHERE ${OF_MONTH} AND ${NAMES_A_PERSON})`]
      : [
          ...['upstream_transaction', ...SMALL_TABLES].map(
            (table) => `(SELECT count(*) FROM ${table} WHERE ${OF_MONTH})`,
          ),
          '(SELECT count(*) FROM reconciliation_match WHERE run_id >= $1 AND run_id < $2)',
        ];
  const { rows } = await db.query<{ count: string }>(`SELECT ${counts.join(' + ')} AS count`, [from, to]);
  return Number(rows[0]?.count);
}

/** Returns SQL that removes columns with their salt where a condition holds, and keeps their commitment. */
function erased(group: ErasableColumns, condition: string): string {
  const { name, columns } = group;
  const [salt, commitment] = [`${name}_salt`, `${name}_commitment`];
  const assign = (column: string, value: string) =>
    `${column} = CASE WHEN ${condition} THEN ${value} ELSE ${column} END`;
  const kept = assign(commitment, `coalesce(${commitment}, ${commitmentSql(group)})`);
  return [kept, ...[salt, ...columns].map((column) => assign(column, 'NULL'))].join(', ');
}

/** Removes a month's evidence outside of its partitions. For people, removes only the names. */
export async function removeEvidence(db: Client, { from, to }: Month, what: Pruning['what']): Promise<void> {
  if (what === 'people') {
    await db.query(
      `UPDATE upstream_transaction SET ${erased(RECIPIENT, 'TRUE')},
         ${erased(RECEIVER, `receiver ~ ${A_CONTACT}`)}, ${erased(REFERENCE, `reference ~ ${A_CONTACT}`)}
       WHERE ${OF_MONTH} AND ${NAMES_A_PERSON}`,
      [from, to],
    );
    return;
  }
  for (const table of SMALL_TABLES) await db.query(`DELETE FROM ${table} WHERE ${OF_MONTH}`, [from, to]);
  await db.query(OF_BOOK, [from, to]);
}

/** Removes the transactions of removed calls, and those without a payout whose readings are removed. */
const OF_BOOK = `
  WITH gone AS (
    DELETE FROM book_transaction WHERE call_id IS NULL AND ${OF_MONTH}
      OR call_id >= $1 AND call_id < $2 AND NOT EXISTS (SELECT FROM intent WHERE id = call_id) RETURNING id
  )
  DELETE FROM book_contradiction WHERE transaction_id IN (SELECT id FROM gone)`;

/** Conditions for the same person. Each source has its own spellings. */
const SAME_PERSON: Record<Contact['kind'], string> = {
  email: `recipient_key('email', email) = ANY ($1)`,
  phone: `recipient_key('phone', phone) = ANY ($1)`,
  handle: `recipient_key('handle', handle) = ANY ($1)`,
};

/** Free-text columns of the source that may name a person. */
const TEXTS = ['reference', 'receiver'] as const;

/**
 * Erases a person from source rows: recipients of transactions, and any text that names the person.
 * @returns the emptied places: `upstream_transaction/<read>/<ordinal>`.
 */
export async function eraseEvidence(db: Client, person: Contact): Promise<string[]> {
  const [keys, needle] = [keysOf(person), needleOf(person)];
  const same = SAME_PERSON[person.kind];
  const text = `concat_ws(' ', ${TEXTS.join(', ')})`;
  const digits = person.kind === 'phone' ? `regexp_replace(${text}, '\\D', '', 'g')` : `lower(${text})`;
  const { rows } = await db.query<
    { read: string; ordinal: string; same: boolean } & Record<string, string | null>
  >(
    `SELECT read_id AS read, ordinal, coalesce(${same}, false) AS same, ${TEXTS.join(', ')}
     FROM upstream_transaction WHERE ${same} OR strpos(${digits}, $2) > 0`,
    [keys, needle],
  );
  const named = namedIn(person);
  const gone = rows
    .map(({ read, ordinal, same, ...texts }) => {
      const [inReference, inReceiver] = TEXTS.map((column) => named(texts[column] ?? ''));
      return { read, place: ordinal, same, in_reference: inReference, in_receiver: inReceiver };
    })
    .filter(({ same, in_reference, in_receiver }) => same || in_reference || in_receiver);
  await db.query(
    `UPDATE upstream_transaction t SET
       ${erased(RECIPIENT, 'g.same')},
       ${erased(REFERENCE, 'g.in_reference')},
       ${erased(RECEIVER, 'g.in_receiver')}
     FROM json_to_recordset($1)
       AS g(read uuid, place bigint, same boolean, in_reference boolean, in_receiver boolean)
     WHERE t.read_id = g.read AND t.ordinal = g.place`,
    [JSON.stringify(gone)],
  );
  return gone.map(({ read, place }) => `upstream_transaction/${read}/${place}`);
}

/** Returns the keys of the person in sources, including a phone number in national form. */
function keysOf({ kind, key }: Contact): string[] {
  return kind === 'phone' ? numberForms(key).flatMap((form) => recipientKey(kind, form) ?? []) : [key];
}

/** Returns a part of every spelling of the person: for a number, the digits after any country code. */
function needleOf({ kind, key }: Contact): string {
  if (kind === 'phone') return key.slice(1).slice(3);
  return kind === 'handle' ? key.slice(1) : key;
}
