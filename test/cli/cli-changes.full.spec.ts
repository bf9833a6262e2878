import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DualControlService } from '../../src/access/dual-control/dual-control.service';
import { runCli } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** The commands of operators, with dual control and a running proxy. */
describe('a command that requires a second person', () => {
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-changes-'));
  let proxy: TestProxy;
  let ada = '';
  let grace = '';

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', dualControl: true });
    await proxy.app.get(DualControlService, { strict: false }).recordSetting();
  });
  afterAll(async () => {
    await proxy.close();
    rmSync(dir, { recursive: true });
  });

  /** Runs a command on the database, or through the proxy with a personal key. */
  const cli = (args: string[], key?: string, more: Record<string, string> = {}) => {
    const { url: DATABASE_URL, ownerUrl: DATABASE_OWNER_URL } = proxy.database;
    const file = join(dir, 'key');
    if (key !== undefined) writeFileSync(file, key);
    const asking = key === undefined ? [] : ['--url', proxy.url, '--key-file', file];
    return runCli([...args, ...asking], { DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR: dir, ...more }, dir);
  };
  const refused = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stderr } = await cli(args, undefined, more);
    expect(code).toBe(1);
    return stderr;
  };
  const done = async (args: string[], key?: string) => {
    const { code, stdout, stderr } = await cli([...args, '--json'], key);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const acts = () =>
    proxy.database.query(
      `SELECT action, via, actor, reason FROM activity WHERE via = 'cli' ORDER BY acted_at, id`,
    );

  it('creates only the first administrator directly in the database', async () => {
    expect(
      await refused(['clients', 'create', '--name', 'shop', '--scopes', 'pay', '--daily-cap', '1']),
    ).toMatch(/Dual control is on/);
    expect(await refused(['clients', 'create', '--name', 'admin', '--scopes', 'admin'])).toMatch(
      /Dual control is on/,
    );
    ada =
      (await done(['clients', 'create', '--name', 'admin', '--scopes', 'admin,audit', '--person', 'ada']))
        .key ?? '';
    for (const args of [
      ['clients', 'create', '--name', 'other', '--scopes', 'admin', '--person', 'mallory'],
      ['clients', 'update', '--name', 'admin', '--scopes', 'admin,audit:pii'],
      ['keys', 'issue', '--client', 'admin', '--person', 'mallory'],
    ]) {
      expect(await refused(args)).toMatch(/Dual control is on/);
      // A variable of the command does not turn off the recorded setting.
      expect(await refused(args, { DUAL_CONTROL: 'false' })).toMatch(/Dual control is on/);
    }
  });

  it('refuses another first administrator, even after all others are gone', async () => {
    await proxy.database.query(`UPDATE client SET scopes = '{audit}' WHERE name = 'admin'`);
    await refused(['clients', 'create', '--name', 'other', '--scopes', 'admin', '--person', 'mallory']);
    await proxy.database.query(`UPDATE client SET scopes = '{admin,audit}' WHERE name = 'admin'`);
  });

  it('records an emergency as such, with its reason', async () => {
    const args = ['keys', 'issue', '--client', 'admin', '--person', 'grace', '--emergency'];
    expect(await refused(args)).toMatch(/--emergency requires --reason/);
    grace = (await done([...args, '--reason', 'second administrator'])).key ?? '';
    const by = { via: 'cli', actor: userInfo().username };
    expect((await acts()).slice(-2)).toEqual([
      { ...by, action: 'emergency_change', reason: 'second administrator' },
      { ...by, action: 'key_issued', reason: 'second administrator' },
    ]);
    const { body } = await proxy.get(ada, '/v1/activity?action=emergency_change').expect(200);
    expect(body.activity).toMatchObject([
      { target: { client: { name: 'admin' } }, after: { acts: ['key_issued'] } },
    ]);
  });

  it('sends a change to the proxy with a personal key, and another person approves it', async () => {
    const args = 'clients create --name shop --scopes pay,read --daily-cap 10 --countries Kenya'.split(' ');
    const { change_id: id = '', status, key = '' } = await done(args, ada);
    expect([status, key.startsWith('pp_shop_')]).toEqual(['pending_approval', true]);
    expect(await done(['changes', 'list'], grace)).toMatchObject({
      changes: [{ id, client: 'shop', requested_by: { person: 'ada' }, after: { daily_cap_usd: '10' } }],
    });
    expect((await cli(['changes', 'approve', id, '--reason', 'mine'], ada)).stderr).toMatch(
      /Another person must decide/,
    );
    await done(['changes', 'approve', id, '--reason', 'agreed'], grace);
    expect(await done(['clients', 'update', '--name', 'shop', '--daily-cap', '9'], ada)).toMatchObject({
      daily_cap_usd: '9',
    });
    const raised = await done(
      ['clients', 'update', '--name', 'shop', '--daily-cap', '11', '--reason', 'Case 3'],
      ada,
    );
    const issued = await done(['keys', 'issue', '--client', 'shop', '--expires', 'never'], ada);
    for (const asked of [raised, issued]) {
      await done(['changes', 'reject', asked.change_id ?? '', '--reason', 'no'], grace);
    }
    expect((await cli(['changes', 'list', '--status', 'rejected'], grace)).stdout).toContain('Case 3');
    const { body: page } = await proxy.get(ada, '/v1/changes?status=rejected&page_size=1').expect(200);
    const rest = ['changes', 'list', '--status', 'rejected', '--page-token', page.next_page_token ?? ''];
    expect(await done(rest, grace)).toMatchObject({
      changes: [{ id: raised.change_id }],
      next_page_token: null,
    });
    const reader = await done(['clients', 'create', '--name', 'reader', '--scopes', 'read'], ada);
    await done(['changes', 'approve', reader.change_id ?? '', '--reason', 'agreed'], grace);
  });

  it("gives a key to the person with the approver's claim code", async () => {
    const asked = await done(['keys', 'issue', '--client', 'admin', '--person', 'carol'], ada);
    expect(Object.keys(asked)).toEqual(['status', 'change_id', 'expires_at']);
    const { claim_code: code = '' } = await done(
      ['changes', 'approve', asked.change_id ?? '', '--reason', 'agreed'],
      grace,
    );
    const file = join(dir, 'claim-code');
    writeFileSync(file, code);
    const args = ['keys', 'claim', '--url', proxy.url, '--code-file', file, '--json'];
    const claimed = await runCli(args, { DATA_DIR: dir }, dir);
    expect([claimed.code, claimed.stderr]).toEqual([0, '']);
    const { key, person } = JSON.parse(claimed.stdout) as Record<string, string>;
    expect(person).toBe('carol');
    await proxy.get(key ?? '', '/v1/clients').expect(200);
  });

  it('lifts a stop of the database with a second person, or in an emergency', async () => {
    const { id = '' } = await done(['stop', 'client', 'shop', '--reason', 'Leaked']);
    expect(await refused(['stop', 'lift', id])).toMatch(/Dual control is on/);
    const { change_id: change = '' } = await done(['stop', 'lift', id, '--reason', 'replaced'], ada);
    await done(['changes', 'approve', change, '--reason', 'agreed'], grace);
    expect(await done(['stop', 'list'])).toEqual([]);
    const another = await done(['stop', 'client', 'shop', '--reason', 'Leaked']);
    await done(['stop', 'lift', another.id ?? '', '--emergency', '--reason', 'Case 5']);
    expect((await acts()).at(-1)).toMatchObject({ action: 'emergency_change', reason: 'Case 5' });
  });

  it('changes registers and clients under the same rules', async () => {
    const command = (action: string, list: string, recipients: string) => {
      const about = ['--name', 'shop', '--list', list, '--recipients', recipients];
      return ['clients', 'beneficiaries', action, ...about];
    };
    const add = command('add', 'allowed', '+254712345678, @ada');
    const block = command('add', 'blocked', '@mallory');
    for (const args of [add, block, command('remove', 'blocked', '@mallory')]) {
      expect(await refused(args)).toMatch(/Dual control is on/);
    }
    const entries = (answer: unknown) =>
      answer as { status?: string; change_id?: string; recipient?: string }[];
    expect(entries(await done(block, ada))).toMatchObject([{ list: 'blocked', recipient: '@m••' }]);
    const [asked] = entries(await done(add, ada));
    expect(asked?.status).toBe('pending_approval');
    await done(['changes', 'approve', asked?.change_id ?? '', '--reason', 'agreed'], grace);
    const listed = entries(
      await done(['clients', 'beneficiaries', 'list', '--name', 'shop', '--list', 'allowed']),
    );
    expect(listed.map(({ recipient }) => recipient)).toEqual(['+254••••5678', '@a••']);
    await done([...command('remove', 'blocked', '@mallory'), '--emergency', '--reason', 'Case 4']);
    expect((await acts()).slice(-2)).toMatchObject([
      { action: 'emergency_change', reason: 'Case 4' },
      { action: 'beneficiary_removed', reason: 'Case 4' },
    ]);
  });

  it('revokes a key and stops directly in the database', async () => {
    const [{ id = '' } = {}] = (await done(['keys', 'list', '--client', 'reader'])) as unknown as {
      id: string;
    }[];
    await done(['keys', 'revoke', id, '--reason', 'Leaked']);
    await done(['stop', 'client', 'shop', '--reason', 'Leaked']);
  });

  it('merges persons by two persons, or by one in an emergency', async () => {
    const merge = ['clients', 'persons', 'merge', '--kept', 'ada', '--merged', 'grace'];
    expect(await refused(merge)).toMatch(/Dual control is on/);
    const { status, change_id: change = '' } = await done(merge, ada);
    expect(status).toBe('pending_approval');
    await done([...merge, '--emergency', '--reason', 'Case 6']);
    expect((await acts()).slice(-2)).toMatchObject([
      { action: 'emergency_change' },
      { action: 'people_merged' },
    ]);
    const { stderr } = await cli(['changes', 'approve', change, '--reason', 'agreed'], grace);
    expect(stderr).toContain('Another person must decide');
  });
});
