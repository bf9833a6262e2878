import { clientsCommands } from '../../src/cli/clients/clients';
import { keysCommands } from '../../src/cli/clients/keys';
import { TestDatabase } from '../support/databases/test-database';
import { cliOf, createCommandDatabase } from '../support/processes/cli';

/** The commands for clients with known end users. */
describe('the end user commands', () => {
  let database: TestDatabase;

  beforeAll(async () => (database = await createCommandDatabase()));
  afterAll(() => database.close());

  const clients = cliOf(clientsCommands);
  const keys = cliOf(keysCommands);
  const create = async (name: string, ...args: string[]) => {
    const options = ['--name', name, '--scopes', 'pay,read', '--daily-cap', 'none', '--json'];
    return JSON.parse((await clients('create', ...options, ...args)).stdout) as Record<string, unknown>;
  };

  it('create a public client, which has no key', async () => {
    expect(Object.keys(await create('phone', '--kind', 'public'))).toEqual(['id', 'name']);
    expect(Object.keys(await create('backend', '--kind', 'server'))).toEqual(['id', 'name', 'key']);
    const issuing = keys('issue', '--client', 'phone');
    await expect(issuing).rejects.toThrow(/the client phone is public, so it has no secret keys/);
    await expect(create('wrong', '--kind', 'native')).rejects.toThrow(
      '--kind must be one of server, public.',
    );
    for (const option of ['--person', '--expires']) {
      const creating = create('wrong', '--kind', 'public', option, 'ada');
      await expect(creating).rejects.toThrow(
        'A public client has no secret keys. Leave out --person and --expires.',
      );
    }
  });

  it('set, change and remove the token provider of a client', async () => {
    const provider = `--token-issuer https://id.example --token-audience https://pay.example
      --token-jwks-uri https://id.example/jwks --token-client-id web-app`.split(/\s+/);
    await create('web', '--kind', 'public', ...provider);
    const update = async (...args: string[]) =>
      JSON.parse((await clients('update', '--name', 'web', '--json', ...args)).stdout) as object;
    expect(await update('--token-dpop', '--token-algorithms', 'ES256, EdDSA')).toMatchObject({
      token_issuer: 'https://id.example',
      token_algorithms: ['ES256', 'EdDSA'],
      token_dpop: true,
    });
    expect(await update('--no-token-dpop')).toMatchObject({ token_dpop: false });
    expect(await update('--token-max-age', '900')).toMatchObject({ token_max_age: 900 });
    for (const age of ['59', 'none', '1h']) {
      await expect(update('--token-max-age', age)).rejects.toThrow(
        /^--token-max-age must be a whole number of seconds/,
      );
    }
    const listed = JSON.parse((await keys('list', '--client', 'web', '--json')).stdout) as object[];
    expect(listed).toMatchObject([
      { kind: 'provider', state: 'revoked' },
      { kind: 'provider', hint: 'provider', state: 'active' },
    ]);
    await expect(update('--token-issuer', 'http://id.example')).rejects.toThrow(
      /^--token-issuer must be a URL with https/,
    );
    await expect(create('half', '--token-issuer', 'https://id.example')).rejects.toThrow(
      'a client that accepts access tokens needs token_audience, token_jwks_uri, token_client_id, too',
    );
    expect(await update('--token-issuer', 'none')).toMatchObject({
      token_issuer: null,
      token_algorithms: [],
    });
  });

  it('set, change and remove the page provider of a client', async () => {
    const provider = ['--page-issuer', 'https://id.example', '--page-client-id', 'shop-pages'];
    const missing = 'a client with page sessions needs origins, too';
    await expect(create('pages', '--kind', 'public', ...provider)).rejects.toThrow(missing);
    await create('pages', '--kind', 'public', ...provider, '--origins', 'https://shop.example');
    const update = async (...args: string[]) =>
      JSON.parse((await clients('update', '--name', 'pages', '--json', ...args)).stdout) as object;
    const kinds = async () => {
      const listed = JSON.parse((await keys('list', '--client', 'pages', '--json')).stdout) as Record<
        string,
        string
      >[];
      return listed.map(({ kind, state }) => `${kind} ${state}`);
    };
    expect(await kinds()).toEqual(['page active']);
    expect(await update('--page-client-id', 'new-pages')).toMatchObject({
      page_issuer: 'https://id.example',
      page_client_id: 'new-pages',
    });
    expect(await kinds()).toEqual(['page revoked', 'page active']);
    await expect(update('--page-issuer', 'id.example', '--page-client-id', 'a b')).rejects.toThrow(
      /^--page-issuer must be a URL with https.*\. --page-client-id must be 1 to 500 printable/,
    );
    await expect(create('half', '--page-issuer', 'https://id.example')).rejects.toThrow(
      'a client with page sessions needs page_client_id, origins, too',
    );
    expect(await update('--page-issuer', 'none')).toMatchObject({ page_issuer: null, page_client_id: null });
    expect(await kinds()).toEqual(['page revoked', 'page revoked']);
  });

  it('list people, and change the limits of one person', async () => {
    await create('shop', '--person-daily-cap', '10');
    const limits = async (...args: string[]) =>
      JSON.parse(
        (await clients('persons', 'limits', '--client', 'shop', '--json', ...args)).stdout,
      ) as object;
    const alice = await limits('--name', 'alice', '--daily-cap', '50', '--rpm', '7');
    expect(alice).toMatchObject({ name: 'alice', daily_cap_usd: '50', requests_per_minute: 7 });
    await limits('--name', 'bob', '--max-item', '2');
    expect(await limits('--name', 'alice', '--daily-cap', 'default')).toMatchObject({ daily_cap_usd: null });
    const { stdout } = await clients('persons', 'list', '--client', 'shop', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'bob', max_item_usd: '2' },
      { name: 'alice', requests_per_minute: 7 },
    ]);
    await expect(limits('--name', 'alice')).rejects.toThrow(/^Give at least one of --daily-cap, /);
    await expect(limits('--name', 'alice', '--rpm', 'x')).rejects.toThrow(
      '--rpm must be a whole number from 1 to',
    );
    await expect(limits('--name', 'a@b.example', '--rpm', '1')).rejects.toThrow(
      /^the name must be the subject at a provider/,
    );
  });
});
