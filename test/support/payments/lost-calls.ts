import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CopiedLine } from '../../../src/journal/copies/local-copies';
import { TestDatabase } from '../databases/test-database';
import { tamper } from '../records/sealing';
import { eventually } from './paying';

/** Tables with rows of calls, in addition to their clients. */
const TABLES = [
  'intent',
  'intent_body',
  'decision',
  'outcome',
  'outcome_body',
  'idempotency_claim',
  'recent_content',
  'recipient_payment',
  'spending',
  'payer_spending',
  'person',
];

/** Returns the lines of the copies in a data directory. */
export function copiedIn(dataDir: string): string[] {
  const folder = join(dataDir, 'copies');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
}

/** Writes the copies of one call to another data directory, and returns it. */
export function copyAlone(dataDir: string, id: string, to: string): string {
  mkdirSync(join(to, 'copies'), { recursive: true });
  const lines = copiedIn(dataDir).filter(
    (line) => line.includes(`"id":"${id}"`) || line.includes(`"intent_id":"${id}"`),
  );
  writeFileSync(join(to, 'copies', '2026-11-24.jsonl'), `${lines.join('\n')}\n`);
  return to;
}

/**
 * Removes all calls once one is copied, like a database restored to the past.
 * @param last the last copied record of that call. A call that waits for an approval has no outcome.
 */
export async function loseCalls(
  database: TestDatabase,
  dataDir: string,
  id: string,
  last: CopiedLine['kind'] = 'outcome',
): Promise<void> {
  await eventually(() =>
    copiedIn(dataDir).some((line) => line.includes(`"kind":"${last}"`) && line.includes(id)),
  );
  for (const table of TABLES) await tamper(database, `DELETE FROM ${table}`);
}
