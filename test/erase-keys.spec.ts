import { auditCommands } from '../src/cli/audit';
import { Secret } from '../src/platform/config/secret';
import { newSigningKey } from '../src/history/log/note';
import { cliOf } from './support/cli';
import { airtime, Paying, PHONE, startPaying } from './support/paying';

const KEY = newSigningKey('test');
const OTHER = '+2349099887766';

/** A key is part of a sealed record. An erasure cannot change it, so it must not keep quiet about it. */
describe('the idempotency keys that an erasure leaves', () => {
  let paying: Paying;
  const audit = cliOf(auditCommands);

  beforeAll(async () => {
    paying = await startPaying({ logSigningKey: new Secret(KEY) });
    Object.assign(process.env, {
      DATABASE_URL: paying.proxy.database.url,
      DATABASE_OWNER_URL: paying.proxy.database.ownerUrl,
      LOG_SIGNING_KEY: KEY,
    });
  });
  afterAll(async () => {
    delete process.env.LOG_SIGNING_KEY;
    await paying.close();
  });

  const pay = async (key: string) => {
    const sending = paying.proxy.post(paying.app, '/payouts/airtime', airtime(PHONE));
    return (await sending.set('Idempotency-Key', key).expect(200)).headers['x-call-id'];
  };
  const erase = (recipient: string, ...more: string[]) =>
    audit('erase', '--recipient', recipient, '--reason', 'case 17', ...more);

  it('are listed with their calls, in each spelling, and no other is', async () => {
    const naming: unknown[] = [];
    for (const key of ['order-2349099887766', '09099887766', '002349099887766', 'pay-234-90-9988-7766'])
      naming.push(await pay(key));
    for (const key of ['order-2349099887767', '0190f2a4-2349-7099-8877-667099887766', 'k-1']) await pay(key);

    const { stdout, exitCode } = await erase(OTHER, '--dry-run', '--json');
    expect([JSON.parse(stdout), exitCode]).toEqual([{ id: null, places: [], open: [], keys: naming }, 2]);
    const text = await erase(OTHER, '--yes');
    expect(text.stdout).toContain(
      `The idempotency keys of 4 calls contain the number, and stay until their months are pruned:\n${naming.join('\n')}\n`,
    );
    expect(text.exitCode).toBe(2);
  });

  it('are none of a person whose number was in none', async () => {
    const { stdout, exitCode } = await erase(PHONE, '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ open: [], keys: [] });
    expect(exitCode).toBeUndefined();
    const byEmail = await erase('ada@example.com', '--yes', '--json');
    expect(JSON.parse(byEmail.stdout)).toMatchObject({ places: [], keys: [] });
  });
});
