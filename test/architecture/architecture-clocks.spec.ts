import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from '../support/examples/source';

/** Who may read another clock than the database's (src/platform/database/clock.ts), or make IDs by it. */
const ALLOWED: Record<string, string> = {
  'src/cli/reconcile/reconcile.ts':
    'the day that an operator means by `--day today`; the proxy checks the period',
  'src/continuity/heartbeat/instant.ts': 'ages within one process, by three clocks',
  'src/continuity/spool/spool.ts': 'compared with the time of a file',
  'src/gateway/upstream/transport/circuit.ts': 'cockatiel goes by the wall clock',
  'src/http/connections/broken-requests.ts': 'the header Date',
  'src/platform/database/clock.ts': 'the corrected clock itself',
  'src/platform/database/embedded/holder.ts': 'when a process took a lock, before there is a database',
  'src/platform/database/ids.ts': 'the IDs themselves',
  'src/platform/logging/logging.ts':
    'the time of a log line, which is compared with other logs of the machine',
};

const OTHER_CLOCKS = /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\)|\buuidv[17]\b|\bv7\b/;

describe('the architecture of time', () => {
  it('has one clock', () => {
    const product = sourceFiles('src').filter(
      ({ path }) => !path.startsWith('src/sandbox/') && !path.endsWith('.spec.ts'),
    );
    const reading = product.filter(({ text }) => OTHER_CLOCKS.test(text)).map(({ path }) => path);
    expect(reading.sort()).toEqual(Object.keys(ALLOWED));
  });

  it('leaves default times to the database', () => {
    // Prisma fills in now() and @updatedAt itself, by the clock of this machine.
    const schema = readFileSync(join(__dirname, '..', '..', 'prisma', 'schema.prisma'), 'utf8');
    expect(schema).not.toMatch(/@default\((?:now|uuid)\(|@updatedAt/);
  });
});
