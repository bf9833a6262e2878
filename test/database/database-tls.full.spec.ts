import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withConnection } from '../../src/platform/database/servers/database-client';
import { OwnPostgres, startOwnPostgres } from '../support/databases/own-postgres';
import { FakeUpstream } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { startProxy } from '../support/processes/proxy';

const pathOf = (file: string) => join(__dirname, '..', 'support', 'network', 'tls', file);
const VERIFIED = { sslmode: 'verify-full', sslrootcert: pathOf('ca.pem') };

/** The certificate is for localhost. Its key and the authorities are for these tests alone. */
describe('a database with TLS', () => {
  let postgres: OwnPostgres;

  const addressOf = (url: string, parameters: Record<string, string>, host = 'localhost') => {
    const address = new URL(url);
    address.hostname = host;
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    return address.toString();
  };
  const connect = (parameters: Record<string, string>, host?: string) =>
    withConnection(addressOf(postgres.database.ownerUrl, parameters, host), async (client) => {
      const { rows } = await client.query<{ ssl: boolean }>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return rows[0]?.ssl;
    });

  beforeAll(async () => {
    postgres = await startOwnPostgres();
  });
  afterAll(() => postgres.close());

  it('is refused while the server has no TLS', async () => {
    await expect(connect(VERIFIED)).rejects.toThrow('The server does not support SSL connections');
  });

  describe('after it gets a certificate', () => {
    beforeAll(async () => {
      const { database } = postgres;
      for (const file of ['server.pem', 'server.key']) {
        // The server writes the files, because it accepts only a private key file.
        const lines = readFileSync(pathOf(file), 'utf8').trim().split('\n');
        const values = lines.map((line) => `('${line}')`).join();
        await database.query(`COPY (VALUES ${values}) TO PROGRAM 'umask 077; cat > ${file}'`);
      }
      await database.query(`ALTER SYSTEM SET ssl_cert_file = 'server.pem'`);
      await database.query(`ALTER SYSTEM SET ssl_key_file = 'server.key'`);
      await database.query('ALTER SYSTEM SET ssl = on');
      await database.query('SELECT pg_reload_conf()');
      await eventually(() => connect(VERIFIED).then(Boolean, () => false));
    });

    it('is reached only with the right authority and the right name', async () => {
      expect(await connect(VERIFIED)).toBe(true);
      await expect(connect({ ...VERIFIED, sslrootcert: pathOf('other.pem') })).rejects.toThrow(/VERIFY_LEAF/);
      await expect(connect({ sslmode: 'verify-full' })).rejects.toThrow(/VERIFY_LEAF/);
      await expect(connect(VERIFIED, '127.0.0.1')).rejects.toThrow(/ALTNAME_INVALID/);
    });

    it('encrypts every connection of a proxy and its worker', async () => {
      const { database } = postgres;
      const upstream = await FakeUpstream.start();
      const ours = {
        ...database,
        url: addressOf(database.url, VERIFIED),
        ownerUrl: addressOf(database.ownerUrl, VERIFIED),
        close: () => Promise.resolve(),
      };
      const proxy = await startProxy({ upstreamBaseUrl: upstream.url }, ours);
      await proxy.startWorker();
      const { key } = await proxy.client('app', 'pay', 'read');
      await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200);
      await proxy.get(key, '/v1/calls').expect(200);
      const connections = await database.query<{ ssl: boolean; count: number }>(
        `SELECT ssl, count(*)::integer AS count FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
         GROUP BY ssl`,
      );
      expect(connections).toEqual([{ ssl: true, count: expect.any(Number) }]);
      expect(connections[0]?.count).toBeGreaterThan(3);
      await proxy.close();
      await upstream.stop();
    });
  });
});
