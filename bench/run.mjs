/** All benchmarks of the history, one after another; what they are told is told to each: npm run bench -- --keys keys.json */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

// The log's first: it seals a history that was just made up, and nothing else shall run beside the others.
for (const name of ['audit-log', 'audit-search', 'audit-export']) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.mjs`), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
