import { Client } from 'pg';
import { lockIndex } from '../../history/retention/reindex';
import { withConnection } from '../../platform/database/servers/database-client';
import { print } from '../output';
import { withOwner } from './connection';

export interface SearchOptions {
  off?: boolean;
  json?: boolean;
}

const TABLES = ['search_entry', 'search_item', 'search_name', 'search_slice', 'search_position'];

export async function replicateSearch({ off = false, json }: SearchOptions): Promise<void> {
  await withOwner(async (ownerUrl) => {
    await withConnection(ownerUrl, (client) => rewriteTables(client, off ? 'UNLOGGED' : 'LOGGED'));
    print({ replicated: !off }, json);
  });
}

/** Changes all tables at once. An index without its position would be filled twice. */
async function rewriteTables(client: Client, kind: 'LOGGED' | 'UNLOGGED'): Promise<void> {
  await client.query('BEGIN; SET LOCAL statement_timeout = 0');
  await lockIndex(client);
  for (const table of TABLES) await client.query(`ALTER TABLE ${table} SET ${kind}`);
  await client.query('COMMIT');
}
