import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { prepareDatabase } from '../../src/platform/database/checks/prepare-database';
import {
  EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded/embedded-postgres';
import { withConnection } from '../../src/platform/database/servers/database-client';
import { removeDataDir } from '../support/processes/data-dir';

const read = (path: string) => readFileSync(join(__dirname, '..', '..', path), 'utf8');

/** Returns the lines of a service. */
const service = (name: string) =>
  new RegExp(`^ {2}${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(read('docker-compose.yml'))?.[1] ?? '';

/** Returns the entries of a list of a service, without comments. */
const listOf = (name: string, list: string) =>
  [
    ...(new RegExp(`^ {4}${list}:\\n((?: {6}.*\\n)+)`, 'm').exec(service(name))?.[1] ?? '').matchAll(
      /^ {6}- (.*)$/gm,
    ),
  ].map(([, entry = '']) => entry);

describe('docker-compose.yml', () => {
  it.each(['proxy', 'postgres'])('gives %s a read-only root file system and no capabilities', (name) => {
    expect(service(name)).toMatch(/^ {4}read_only: true$/m);
    expect(service(name)).toMatch(/^ {4}cap_drop:\n {6}- ALL$/m);
    expect(service(name)).toMatch(/^ {4}security_opt:\n {6}- no-new-privileges:true$/m);
    expect(service(name)).not.toMatch(/cap_add|privileged: true|docker\.sock|network_mode/);
  });

  it('runs each service as a numeric user', () => {
    expect(read('Dockerfile')).toMatch(/^USER 1000:1000$/m);
    expect(service('proxy')).not.toMatch(/^ {4}user:/m);
    expect(service('postgres')).toMatch(/^ {4}user: '999:999'$/m);
  });

  it('publishes only the API port, to this machine', () => {
    expect(listOf('proxy', 'ports')).toEqual(["'127.0.0.1:3000:3000'"]);
    expect(service('postgres')).not.toContain('ports:');
  });

  it.each(['proxy', 'postgres'])('restarts %s after a crash or a reboot', (name) => {
    expect(service(name)).toMatch(/^ {4}restart: unless-stopped$/m);
  });

  it('is healthy when the proxy is ready', () => {
    const [, script = ''] = /test:\s+\['CMD', 'node', '-e', "([^"]+)"\]/.exec(service('proxy')) ?? [];
    expect(script).toContain("fetch('http://127.0.0.1:3000/readyz')");
    const elsewhere = script.replace(':3000', ':1'); // no server listens there
    expect(spawnSync(process.execPath, ['-e', elsewhere], { timeout: 10_000 }).status).toBe(1);
  });

  it('waits for a Postgres that replays its log', () => {
    expect(service('postgres')).toMatch(/^ {6}start_period: 5m\n {6}start_interval: 1s$/m);
  });

  it("passes on all settings in .env, and accepts a file with the upstream's key", () => {
    expect(service('proxy')).toMatch(/^ {4}env_file:\n {6}- path: \.env\n {8}required: false$/m);
    expect(service('proxy')).toMatch(/^ {6}UPSTREAM_API_KEY: \$\{UPSTREAM_API_KEY:-\}$/m);
  });

  it('publishes the metrics of the worker on a port for scraping', () => {
    expect(read('Dockerfile')).toMatch(/^ENV NODE_ENV=production WORKER_PORT=9465$/m);
    expect(read('Dockerfile')).toMatch(/^EXPOSE 3000 9464 9465$/m);
  });

  it('gives Postgres a folder for its socket and memory for parallel joins', () => {
    expect(listOf('postgres', 'tmpfs')).toContain('/var/run/postgresql:uid=999,gid=999,mode=0775');
    expect(service('postgres')).toMatch(/^ {4}shm_size: 1gb$/m);
  });

  it('connects with a login without superuser rights, with a password of any characters', () => {
    expect(service('proxy')).toMatch(
      /^ {6}DATABASE_URL: postgresql:\/\/payout_owner@postgres:5432\/payout_proxy$/m,
    );
    expect(service('proxy')).toMatch(/^ {6}PGPASSWORD: \$\{POSTGRES_PASSWORD:\?/m);
    expect(service('postgres')).not.toContain('POSTGRES_USER');
    expect(service('postgres')).toContain('create-owner.sql:/docker-entrypoint-initdb.d/');
  });

  describe('with the owner of the records', () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-composed-'));
    const password = 'a/b+c=d@e#f%41:g';
    let postgres: EmbeddedPostgres;
    let admin: Client;
    let url: string;

    /** Repeats the image's setup of a new volume. The embedded server already has its payout_owner. */
    beforeAll(async () => {
      postgres = await startEmbeddedPostgres(dataDir);
      const there = new URL(postgres.urls.owner);
      there.pathname = '/postgres';
      admin = new Client({ connectionString: there.toString() });
      await admin.connect();
      for (const made of ['DATABASE payout_proxy', 'ROLE payout_proxy_login', 'ROLE payout_proxy'])
        await admin.query(`DROP ${made}`);
      const script = read('deploy/postgres/create-owner.sql')
        .replace(/^(--|\\).*$/gm, '')
        .replaceAll(":'password'", `'${password}'`)
        .replaceAll('payout_owner', 'composed_owner')
        .replace('ALTER ROLE postgres', 'ALTER ROLE sandbox'); // the embedded superuser
      for (const statement of script.split(';').filter((one) => one.trim() !== ''))
        await admin.query(statement);
      [there.username, there.password, there.pathname] = ['composed_owner', '', '/payout_proxy'];
      url = there.toString();
      process.env.PGPASSWORD = password;
    });
    afterAll(async () => {
      delete process.env.PGPASSWORD;
      await admin.end();
      await postgres.stop();
      removeDataDir(dataDir);
    });

    it('can prepare the database, and start on it again', async () => {
      const logins = { databaseUrl: url, databaseOwnerUrl: url, databaseSealerUrl: undefined };
      const settings = { ...logins, databaseSessionUrl: undefined, databaseReplicaUrl: undefined };
      expect((await prepareDatabase(settings, true)).applied).not.toEqual([]);
      expect((await prepareDatabase(settings, false)).applied).toEqual([]);
    });

    it('signs in with its password only', async () => {
      const wrong = url.replace('composed_owner@', 'composed_owner:wrong@');
      await expect(withConnection(wrong, (client) => client.query('SELECT 1'))).rejects.toThrow('password');
    });

    it('is not a superuser, and cannot become one', async () => {
      const roles = await admin.query(
        `SELECT rolname FROM pg_roles WHERE (rolsuper OR rolreplication OR rolbypassrls)
           AND pg_has_role('composed_owner', oid, 'MEMBER')`,
      );
      expect(roles.rows).toEqual([]);
      const become = withConnection(url, (client) => client.query('ALTER ROLE composed_owner SUPERUSER'));
      await expect(become).rejects.toThrow('permission denied to alter role');
    });
  });
});
