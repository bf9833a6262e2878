import { auditCommands } from '../../../src/cli/audit/audit';
import { newSigningKey } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { mint } from '../../support/access/minting';
import { everythingIn } from '../../support/databases/everything';
import { succeed } from '../../support/network/fake-upstream';
import { AIRTIME, PaymentScene, startPaying } from '../../support/payments/paying';
import { cliOf } from '../../support/processes/cli';

const KEY = newSigningKey('test');
const NAME = 'canary-bird.17';

/** A person who pays with ephemeral keys, before and after an erasure. */
describe('an erased end user', () => {
  let paying: PaymentScene;
  const audit = cliOf(auditCommands);
  const keyOf = async (actor = NAME) => (await mint(paying.proxy, paying.app, { actor })).key;
  const pay = (key: string, idempotencyKey: string) =>
    paying.proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', idempotencyKey);
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';

  beforeAll(async () => {
    paying = await startPaying({ logSigningKey: new Secret(KEY) });
    paying.upstream.behaviour = succeed;
    Object.assign(process.env, {
      DATABASE_URL: paying.proxy.database.url,
      DATABASE_OWNER_URL: paying.proxy.database.ownerUrl,
      LOG_SIGNING_KEY: KEY,
    });
    await paying.proxy.database.query("UPDATE client SET person_daily_cap_usd = 6 WHERE name = 'app'");
  });
  afterAll(async () => {
    delete process.env.LOG_SIGNING_KEY;
    await paying.close();
  });

  it('is named nowhere, has no key that restores the name, and pays nothing twice', async () => {
    const before = await keyOf();
    const paid = idOf(await pay(before, 'order-1').expect(200));
    const {
      person_id: person,
      actor,
      actor_source: source,
    } = await paying.record({ headers: { 'x-call-id': paid } });
    expect([actor, source]).toEqual([NAME, 'ephemeral']);
    const { stdout } = await audit('erase', '--person', NAME, '--reason', 'case 21', '--json', '--yes');
    expect(JSON.parse(stdout)).toMatchObject({ places: [`person/${person}`], open: [], kept: [] });
    const all = await everythingIn(paying.proxy.database);
    for (const [table, rows] of Object.entries(all))
      expect([table, rows]).toEqual([table, expect.not.stringMatching(/canary/i)]);

    expect((await pay(before, 'order-1').expect(401)).body.code).toBe('ephemeral_key_ended');
    expect(Object.values(await everythingIn(paying.proxy.database)).join('\n')).not.toMatch(/canary/i);

    const sent = paying.upstream.received.length;
    const again = await keyOf();
    const replayed = await pay(again, 'order-1').expect(200);
    expect([idOf(replayed), replayed.headers['idempotent-replayed']]).toEqual([paid, 'true']);
    expect(paying.upstream.received.length).toBe(sent);
    await pay(again, 'order-2').expect(200);
    expect((await pay(again, 'order-3').expect(403)).body.code).toBe('cap_exceeded');
    expect(await paying.record({ headers: { 'x-call-id': paid } })).toMatchObject({
      actor: null,
      person_id: person,
    });
    await pay(await keyOf('grace'), 'order-1').expect(200);
  });

  it('is found by client and issuer', async () => {
    const issuers = ['https://id.example', 'https://other.example'];
    for (const issuer of issuers) {
      await paying.proxy.database.query(
        `INSERT INTO person (id, client_id, sha256, issuer, name, salt)
         SELECT gen_random_uuid(), id, sha256(convert_to($1, 'UTF8')), $1, 'twin', sha256('x')
         FROM client WHERE name = 'app'`,
        [issuer],
      );
    }
    const found = async (...more: string[]) => {
      const { stdout } = await audit(
        'erase',
        '--person',
        'twin',
        '--reason',
        'case 22',
        '--json',
        '--dry-run',
        ...more,
      );
      return (JSON.parse(stdout) as { places: string[] }).places.length;
    };
    expect(await found()).toBe(2);
    expect(await found('--client', 'app')).toBe(2);
    expect(await found('--client', 'auditor')).toBe(0);
    expect(await found('--issuer', issuers[0] ?? '')).toBe(1);
    expect(await found('--issuer', 'https://id.example.net')).toBe(0);
  });
});
