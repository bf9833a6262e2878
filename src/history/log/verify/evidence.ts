import { ClientBase } from 'pg';
import {
  evidenceHashSql,
  EvidenceTable,
  READ_TABLES,
  RUN_TABLES,
} from '../../../journal/reconciliation/evidence';
import { KindName } from '../kinds';
import { QueryRunner } from '../tree-store';
import { Cursor } from './cursor';
import { Excuses } from './excuses';
import { LogFault, placeOf } from './fault';

/** Sealed ends of reads and runs, and the tables whose rows they have hashed. */
const ENDS: [end: KindName, tables: Record<string, EvidenceTable>][] = [
  ['source_read_end', READ_TABLES],
  ['reconciliation_run_end', RUN_TABLES],
];

export const EVIDENCE_TABLES = ENDS.flatMap(([, tables]) => Object.keys(tables));

const PAGE = 10_000;

const COMMITMENTS = READ_TABLES.upstream_transaction.erasable.map(({ name }) => `${name}_commitment`);

/** Transactions with erased people. */
const ERASED = `
  SELECT read_id::text, ordinal::text FROM public.upstream_transaction
  WHERE num_nonnulls(${COMMITMENTS.join(', ')}) > 0 ORDER BY read_id, ordinal`;

/**
 * Hashes the rows of each read and each run again, and compares them with the sealed record of its end. Reads
 * whose rows could not be written have no hashes, and are ignored.
 */
export async function checkEvidence(query: QueryRunner, client: ClientBase, excuses: Excuses): Promise<void> {
  for (const [end, tables] of ENDS) {
    for (const [table, columns] of Object.entries(tables)) {
      const { owner } = columns;
      const differing = await query<{ id: string; gone: boolean }>(
        `SELECT e.${owner}::text AS id, h.hash IS NULL AS gone FROM public.${end} e LEFT JOIN (
           SELECT ${owner}, ${evidenceHashSql(columns)} AS hash FROM public.${table} GROUP BY ${owner}
         ) AS h ON h.${owner} = e.${owner}
         WHERE e.evidence IS NOT NULL AND e.evidence ->> '${table}' IS DISTINCT FROM h.hash ORDER BY 1`,
        [],
      );
      const changed = differing.find(({ id, gone }) => !(gone && excuses.excusesEvidence(id)));
      if (!changed) continue;
      const sealedWith = `the end of their ${owner === 'run_id' ? 'run' : 'read'}`;
      const meaning =
        `The rows of ${table} differ from those sealed with ${sealedWith}. ` +
        'One was changed, removed or added.';
      throw new LogFault('evidence_changed', meaning, placeOf(table, changed.id));
    }
  }
  await requireErasures(client, excuses);
}

/** Requires a signed erasure for each person erased from a transaction. Hashes cover only commitments. */
async function requireErasures(client: ClientBase, excuses: Excuses): Promise<void> {
  const rows = await Cursor.open<[read: string, ordinal: string]>(client, 'erased_evidence', ERASED, PAGE);
  try {
    for (let page = await rows.next(); page.length > 0; page = await rows.next()) {
      rows.prefetch();
      const wrong = page.find(
        ([read, ordinal]) => !excuses.excusesPeople(`upstream_transaction/${read}/${ordinal}`, read),
      );
      if (!wrong) continue;
      const meaning =
        'People of a listed transaction are missing, and no signed erasure or pruning covers them.';
      throw new LogFault('people_missing', meaning, placeOf('upstream_transaction', wrong[0]));
    }
  } finally {
    await rows.close();
  }
}
