import { Command } from 'commander';
import { Client } from 'pg';
import { lockIndex } from '../../history/retention/reindex';
import { withConnection } from '../../platform/database/servers/database-client';
import { print } from '../output';
import { withOwner } from './database';

interface SearchOptions {
  off?: boolean;
  json?: boolean;
}

const TABLES = ['search_entry', 'search_item', 'search_slice', 'search_position'];

const HELP = `
The search index is derived from the records. It is not in the write-ahead log, because it would double the
log's volume. So a replica lacks the index, and a failover rebuilds it. This command adds it to the log. Then
a replica (DATABASE_REPLICA_URL) also answers searches, summaries and the overview, and a promoted standby has
the index at once.

The command rewrites the tables. Searches, previews and redemptions wait meanwhile. Payments do not.

Examples:
  npm run cli -- database replicate-search
  npm run cli -- database replicate-search --off`;

export function replicateSearchCommand(): Command {
  return new Command('replicate-search')
    .description('replicate the search index, or stop it with --off')
    .option('--off', 'remove the search index from the write-ahead log')
    .option('--json', 'print JSON: {"replicated"}')
    .addHelpText('after', HELP)
    .action(({ off = false, json }: SearchOptions) =>
      withOwner(async (ownerUrl) => {
        await withConnection(ownerUrl, (client) => rewriteTables(client, off ? 'UNLOGGED' : 'LOGGED'));
        print({ replicated: !off }, json);
      }),
    );
}

/** Changes all tables at once. An index without its position would be filled twice. */
async function rewriteTables(client: Client, kind: 'LOGGED' | 'UNLOGGED'): Promise<void> {
  await client.query('BEGIN; SET LOCAL statement_timeout = 0');
  await lockIndex(client);
  for (const table of TABLES) await client.query(`ALTER TABLE ${table} SET ${kind}`);
  await client.query('COMMIT');
}
