import { Command } from 'commander';
import type { SearchOptions } from './replicate-search';

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
    .action(async (options: SearchOptions) =>
      (await import('./replicate-search.js')).replicateSearch(options),
    );
}
