import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ClientsService } from '../../src/access/clients/clients.service';
import { operatorCommands } from '../../src/cli/program';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { runCli } from '../support/processes/cli';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir } from '../support/processes/process';

const SECRET = 'hunter2';

describe('a command that fails unexpectedly', () => {
  const dir = newDataDir();
  let database: TestDatabase;
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await database.close();
    removeDataDir(dir);
  });

  const run = (...args: string[]) => runCli(args, envOf(database), dir);
  const failWith = (error: unknown) => jest.spyOn(ClientsService.prototype, 'list').mockRejectedValue(error);

  it.each([[[]], [['--json']]])(
    'reports the failed step, without the message of the error %j',
    async (options) => {
      failWith(
        new TypeError(SECRET, { cause: Object.assign(new Error(SECRET), { code: 'ERR_OF_LIBRARY' }) }),
      );
      const { code, stdout, stderr } = await run('clients', 'list', ...options);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /^clients list failed: .* The details follow\.\n {2}TypeError\n {4}at .*cli-failures\.spec/,
      );
      expect(stderr).toMatch(/^ {2}caused by Error ERR_OF_LIBRARY\n {4}at /m);
      expect(stderr).not.toContain(SECRET);
    },
  );

  it('reports a failure of the database', async () => {
    failWith(Object.assign(new Error(SECRET), { code: '57P01' }));
    const { code, stderr } = await run('clients', 'list');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^clients list failed: the database .*\(57P01\)\..*\n/),
    ]);
    expect(stderr).not.toContain(SECRET);
  });

  it('names an unusable file or folder', async () => {
    const file = join(dir, 'missing', 'report.csv');
    failWith(
      await import('node:fs/promises').then((fs) => fs.writeFile(file, '').catch((error: unknown) => error)),
    );
    const { code, stderr } = await run('clients', 'list');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`clients list failed: open ${file} (ENOENT).`),
    ]);
  });

  it('handles a thrown value that is not an error', async () => {
    failWith(SECRET);
    const { code, stderr } = await run('clients', 'list');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^clients list failed: .*\n {2}string\n$/)]);
  });

  describe('because of a proxy error', () => {
    let server: Server;
    let body: object;
    beforeAll(async () => {
      server = createServer((_request, response) => response.writeHead(500).end(JSON.stringify(body)));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => server.close());

    it('names the call to look up in the log of the proxy', async () => {
      body = { detail: 'The proxy failed.', call_id: '0198c0de-0000-7000-8000-000000000000' };
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { ...envOf(database), PAYOUT_PROXY_KEY: 'pp_any' };
      const { code, stderr } = await runCli(['approvals', 'list', '--url', url], env, dir);
      expect([code, stderr]).toEqual([
        1,
        'The proxy failed.\nThe log of the proxy has the details of call ' +
          '0198c0de-0000-7000-8000-000000000000.\n',
      ]);
    });
  });
});

describe('--version', () => {
  it('prints the version and the commit of the build', () => {
    expect(operatorCommands().version()).toMatch(/^\d+\.\d+\.\d+ \(([0-9a-f]{40}(-dirty)?|unknown)\)$/);
  });
});
