import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../support/processes/process';

const MAIN = join(__dirname, '..', '..', 'dist', 'cli', 'main.js');

/** Runs the command line, and prints the modules that it has loaded to standard error. */
const PROGRAM = `
  process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache))));
  require(${JSON.stringify(MAIN)});
`;

/** An answer with an empty list of everything. */
const ANSWER = {
  accounts: [],
  activity: [],
  approvals: [],
  changes: [],
  fees: [],
  findings: [],
  ledger: [],
  transactions: [],
  next_page_token: null,
};

describe('the modules of a command', () => {
  const dir = newDataDir();
  let database: TestDatabase;
  let proxy: Server;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = createServer((_request, response) => response.end(JSON.stringify(ANSWER)));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    proxy.close();
    await database.close();
    removeDataDir(dir);
  });

  /** Returns the packages that a command loads, and the number of its modules. */
  async function loadedBy(...args: string[]) {
    const env = { ...envOf(database), PAYOUT_PROXY_KEY: 'pp_any' };
    const { code, stderr } = await new Product(
      process.execPath,
      ['-e', PROGRAM, 'payout-proxy', ...args],
      env,
      dir,
    ).exit;
    const modules = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as string[];
    const names = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    return { code, packages: [...new Set(names)].sort(), count: modules.length };
  }

  it.each([[['--help']], [['clients', 'create', '--help']], [['database', '--help']]])(
    'are those of its options for %j',
    async (args) => {
      const { code, packages, count } = await loadedBy(...args);
      expect({ code, packages }).toEqual({ code: 0, packages: ['commander', 'decimal.js'] });
      expect(count).toBeLessThan(120);
    },
  );

  it.each([
    ['accounts list'],
    ['approvals list'],
    ['audit activity'],
    ['calls transactions'],
    ['changes list'],
    ['fees list'],
    ['findings list'],
    ['payouts show 1'],
  ])('exclude the server and the database for %s, which asks the proxy', async (command) => {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { code, packages } = await loadedBy(...command.split(' '), '--url', url);
    expect(code).toBe(0);
    expect(packages.filter((name) => /nest|fastify|prisma|^pg|rxjs|swagger/.test(name))).toEqual([]);
  });

  it.each([['clients list'], ['keys list'], ['stop list'], ['database status']])(
    'exclude the server for %s, which reads the database',
    async (command) => {
      const { code, packages } = await loadedBy(...command.split(' '));
      expect(code).toBe(0);
      expect(packages.filter((name) => /nestjs\/(core|swagger|platform)|fastify|undici/.test(name))).toEqual(
        [],
      );
    },
  );
});
