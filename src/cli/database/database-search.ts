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
The search index is derived from the records, and is not written to the write-ahead log: it would
double what a call writes there. So a replica does not have it, and after a failover it is made
anew. With this command it is in the log. A replica (DATABASE_REPLICA_URL) then also answers
searches, summaries and the overview, and a promoted standby has the index at once.

The tables are written anew. Searches, previews and redemptions wait meanwhile. Payments do not.
With --off they leave the log again.

Examples:
  npm run cli -- database replicate-search
  npm run cli -- database replicate-search --off`;

export function replicateSearchCommand(): Command {
  return new Command('replicate-search')
    .description('let replicas have the search index, or not any more with --off')
    .option('--off', 'leave it out of the write-ahead log again')
    .option('--json', 'print JSON: {"replicated"}')
    .addHelpText('after', HELP)
    .action(({ off = false, json }: SearchOptions) =>
      withOwner(async (ownerUrl) => {
        await withConnection(ownerUrl, (client) => write(client, off ? 'UNLOGGED' : 'LOGGED'));
        print({ replicated: !off }, json);
      }),
    );
}

/** All of them or none: an index without its position would be filled again beside what there is. */
async function write(client: Client, kind: 'LOGGED' | 'UNLOGGED'): Promise<void> {
  await client.query('BEGIN; SET LOCAL statement_timeout = 0');
  await lockIndex(client);
  for (const table of TABLES) await client.query(`ALTER TABLE ${table} SET ${kind}`);
  await client.query('COMMIT');
}
