import { Client } from 'pg';
import { nameOfServer, readDatabaseUrl, urlOfServer } from './database-url';

const faultsOf = (url: string, use: 'writing' | 'reading' = 'writing') => readDatabaseUrl(url, use).faults;

describe('the address of a database', () => {
  it.each<[url: string, ...servers: string[]]>([
    ['postgresql://u:p@one:5432,two:5433/db', 'one:5432', 'two:5433'],
    ['postgres://u@one,two/db', 'one:5432', 'two:5432'],
    ['postgresql://u@one,two/db?port=6543', 'one:6543', 'two:6543'],
    ['postgresql://u@/db?host=one,two&port=1,2', 'one:1', 'two:2'],
    [
      'postgresql://u@[2001:db8::1]:5432,[::1],h.example/db',
      '[2001:db8::1]:5432',
      '[::1]:5432',
      'h.example:5432',
    ],
    ['postgresql://one%2Ehost,two/db', 'one.host:5432', 'two:5432'],
    ['postgresql://u@%2Frun%2Fpostgresql,two:5433/db', '/run/postgresql:5432', 'two:5433'],
  ])('%s lists its servers', (url, ...servers) => {
    const address = readDatabaseUrl(url);
    expect(address.faults).toEqual([]);
    expect(address.target).toBe('read-write');
    expect(address.servers.map(nameOfServer)).toEqual(servers);
    for (const server of address.servers) {
      const { host, port, database } = new Client({ connectionString: urlOfServer(address, server) });
      expect({ host, port, database }).toEqual({ ...server, database: 'db' });
    }
  });

  it('keeps its login, its database and its parameters for each server', () => {
    const parameters =
      'sslmode=disable&application_name=mine&options=-c%20role%3Dx&target_session_attrs=primary';
    const address = readDatabaseUrl(`postgresql://us%40er:p%2Fa%3As%25s@one,two:5433/my%20db?${parameters}`);
    expect(address).toMatchObject({ faults: [], target: 'read-write', options: '-c role=x' });
    const client = new Client({ connectionString: urlOfServer(address, address.servers[1]) });
    expect(client).toMatchObject({
      host: 'two',
      port: 5433,
      user: 'us@er',
      password: 'p/a:s%s',
      database: 'my db',
    });
    expect(client.connection).toMatchObject({ ssl: false });
    expect(urlOfServer(address, address.servers[1])).not.toMatch(/options|target_session_attrs/);
  });

  it('of one server stays as pg reads it', () => {
    for (const url of [
      'postgresql://proxy:pass%40word@db_host:5433/payouts?sslmode=require',
      'postgresql:///payouts?host=%2Frun%2Fpg&user=x',
    ]) {
      const address = readDatabaseUrl(url);
      expect(address).toMatchObject({ faults: [], target: 'any' });
      expect(urlOfServer(address, undefined)).toBe(url);
    }
  });

  it('may only lead payments to servers that take writes', () => {
    const several = 'postgresql://one,two/db?target_session_attrs=';
    for (const target of ['read-write', 'primary']) expect(faultsOf(several + target)).toEqual([]);
    for (const target of ['any', 'standby', 'prefer-standby', 'read-only', 'primray', ''])
      expect(faultsOf(several + target)).toEqual([
        'must have a target_session_attrs of read-write, primary. Payments need a server that takes writes',
      ]);
    expect(faultsOf('postgresql://one/db?target_session_attrs=any')).toEqual([]);
    expect(faultsOf('postgresql://one/db?target_session_attrs=standby')).toHaveLength(1);
  });

  it('may lead reads to a standby', () => {
    const several = 'postgresql://one,two/db';
    expect(readDatabaseUrl(several, 'reading')).toMatchObject({ faults: [], target: 'prefer-standby' });
    for (const target of ['any', 'standby', 'prefer-standby', 'read-only'])
      expect(faultsOf(`${several}?target_session_attrs=${target}`, 'reading')).toEqual([]);
    expect(faultsOf(`${several}?target_session_attrs=primary`, 'reading')).toHaveLength(1);
  });

  it.each([
    ['channel_binding=require', /channel_binding.*sslmode=verify-full/],
    ['require_auth=scram-sha-256', /require_auth.*sslmode=verify-full/],
    ['sslcrl=/x.crl', /sslcrl.*Remove it/],
    ['schema=payouts', /schema.*Remove it/],
    ['pgbouncer=true', /pgbouncer.*DATABASE_SESSION_URL/],
    ['connection_limit=5', /connection_limit.*DATABASE_POOL_SIZE/],
    ['connect_timeout=5', /connect_timeout.*Remove it/],
    ['SSLMODE=verify-full', /a parameter that is not supported.*sslmode/],
    ['gssencmode=require', /a parameter that is not supported/],
    ['constructor=x', /a parameter that is not supported/],
  ])('refuses the parameter %s, which nothing would obey', (parameter, fault) => {
    for (const url of ['postgresql://u@one/db?sslmode=verify-full&', 'postgresql://one,two/db?']) {
      expect(faultsOf(url + parameter)).toEqual([expect.stringMatching(fault)]);
    }
  });

  it('has only parameters that pg or the proxy obeys', () => {
    const timeouts = { statement_timeout: '1', lock_timeout: '2', idle_in_transaction_session_timeout: '3' };
    const parameters = { ...timeouts, query_timeout: '4', application_name: 'mine', client_encoding: 'UTF8' };
    const url = `postgresql://u@one/db?${new URLSearchParams(parameters).toString()}`;
    expect(faultsOf(url)).toEqual([]);
    const { connectionParameters } = new Client({ connectionString: url }) as unknown as Record<
      string,
      object
    >;
    expect(connectionParameters).toMatchObject(parameters);
  });

  it('names every fault, and never quotes a password that is not encoded', () => {
    expect(
      faultsOf('postgresql://u:secret@one:0,,two:many/db?target_session_attrs=all&hostaddr=1.2.3.4'),
    ).toEqual([
      'must have a port from 1 to 65535 for host 1',
      'must have a name for host 2',
      'must have a port from 1 to 65535 for host 3',
      'must not have the parameter hostaddr, which is not supported. Write the address as the host',
      'must have a target_session_attrs of read-write, primary. Payments need a server that takes writes',
    ]);
    expect(faultsOf('postgresql://one,two,three/db?port=1,2')).toContain(
      'must have one port for all hosts, or one for each',
    );
    expect(faultsOf('postgresql://u@::1,two/db')).toContain(
      'must have brackets around the IPv6 address of host 1',
    );
    expect(faultsOf('postgresql://one%zz,two/db')).toContain(
      'must have a name for host 1 whose percent-encoding is valid',
    );
    for (const url of [
      'postgresql://u:sec/ret@one,two/db',
      'postgresql://u:sec ret@one/db',
      'postgresql://u:sec#ret@one/db',
      'postgresql://u:pass?sec&ret=1@one/db',
      'postgresql://',
      'db',
    ]) {
      const text = faultsOf(url).join();
      expect(text).not.toBe('');
      expect(text).not.toMatch(/sec|ret/);
    }
  });
});
