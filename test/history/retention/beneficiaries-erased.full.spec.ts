import { auditCommands } from '../../../src/cli/audit/audit';
import { newSigningKey } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { mint } from '../../support/access/minting';
import { RegisterScene, startRegistering } from '../../support/access/registering';
import supertest from '../../support/http/supertest';
import { cliOf } from '../../support/processes/cli';

const KEY = newSigningKey('test');
const EMAIL = 'Canary.Bird@nest.example';

describe('an erased person in a register', () => {
  let api: RegisterScene;
  const audit = cliOf(auditCommands);

  beforeAll(async () => {
    api = await startRegistering({ logSigningKey: new Secret(KEY) });
    const { url, ownerUrl } = api.approving.proxy.database;
    Object.assign(process.env, { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, LOG_SIGNING_KEY: KEY });
  });
  afterAll(async () => {
    delete process.env.LOG_SIGNING_KEY;
    await api.approving.close();
  });

  const erase = async (...more: string[]) => {
    const args = ['--recipient', EMAIL.toLowerCase(), '--reason', 'case 17', '--json', ...more];
    return JSON.parse((await audit('erase', ...args)).stdout) as { places: string[] };
  };
  const listOf = async (name: string) => {
    const path = `/v1/clients/${name}/beneficiaries` as const;
    const asked = supertest(api.approving.proxy.url).get(path).set('X-API-Key', api.admin);
    return (await asked.expect(200)).body.beneficiaries;
  };

  it('is no longer allowed, and stays blocked but hidden', async () => {
    const [allowing, blocking] = [await api.client({ beneficiariesOnly: true }), await api.client()];
    await api.allow(allowing.name, EMAIL, 'bob@example.com');
    await api.block(blocking.name, EMAIL, 'bob@example.com');
    await api.credit(allowing.key, { email: EMAIL }).expect(200);
    const [allowed, blocked] = [await listOf(allowing.name), await listOf(blocking.name)];
    const { id, key } = await mint(api.approving.proxy, allowing.key, {
      recipients: [EMAIL],
      operations: ['POST /payouts/credit'],
    });
    const entries = [allowed[0], blocked[0]].map((entry) => `beneficiary/${entry?.id}`);
    const places = [...entries, `ephemeral_key/${id}`].sort();
    expect((await erase('--dry-run')).places).toEqual(expect.arrayContaining(places));
    expect([await listOf(allowing.name), await listOf(blocking.name)]).toEqual([allowed, blocked]);
    expect((await erase('--yes')).places).toEqual(expect.arrayContaining(places));
    expect(await listOf(allowing.name)).toEqual([allowed[1]]);
    expect(await listOf(blocking.name)).toEqual([{ ...blocked[0], recipient: null }, blocked[1]]);
    await api.credit(allowing.key, { email: EMAIL }).expect(403);
    await api.credit(blocking.key, { email: EMAIL }).expect(403);
    await api.credit(key, { email: EMAIL }).expect(403);
    expect((await erase('--yes')).places).toEqual([]);
  });

  it('is unblocked by name or entry ID', async () => {
    const remove = [(entry: { id?: string } | undefined) => entry?.id ?? '', () => EMAIL];
    for (const textOf of remove) {
      const { name, key } = await api.client();
      await api.block(name, EMAIL);
      await erase('--yes');
      const [entry] = await listOf(name);
      const { removed } = (await api.change(name, { list: 'blocked', remove: [textOf(entry)] }).expect(200))
        .body;
      expect(removed).toEqual([{ ...entry, recipient: null }]);
      await api.credit(key, { email: EMAIL }).expect(200);
    }
  });
});
