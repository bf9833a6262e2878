import { readFileSync } from 'node:fs';
import { Page } from 'playwright-core';
import { AT_START, ChangeRecords } from '../../../src/access/clients/changes';
import { SidePrisma } from '../../../src/platform/database/pools/side-prisma';
import { expectAccessible } from '../../support/console/accessible';
import { complaintsOf, follow, reasonOf, widthOf } from '../../support/console/console';
import { dialogOf, Operating, operating } from '../../support/console/operating';

/** The work of operators in the console, and its effect on apps. */
describe('the console for operators', () => {
  let on: Operating;
  beforeAll(async () => (on = await operating()));

  describe('clients', () => {
    it('get a key that is shown once, and works until it is revoked', async () => {
      const page = await on.open(on.admin, '/clients');
      const complaints = complaintsOf(page);
      await page.getByRole('button', { name: 'New client' }).click();
      await dialogOf(page).getByLabel('Name').fill('Kiosk');
      expect(await dialogOf(page).getByRole('combobox', { name: 'Account' }).count()).toBe(0);
      await dialogOf(page).getByRole('button', { name: 'Create' }).click();
      await dialogOf(page).getByText('must be 1 to 40 lowercase letters').first().waitFor();
      await dialogOf(page).getByText('is required for a client that may pay or redeem').first().waitFor();
      await expectAccessible(dialogOf(page));
      complaints.length = 0; // the browser complains about the refused request
      await dialogOf(page).getByLabel('Name').fill('kiosk');
      await dialogOf(page).getByLabel('Daily cap').fill('none');
      await dialogOf(page).getByLabel('Monthly cap').fill('20.5');
      await dialogOf(page).getByRole('button', { name: 'Create' }).click();
      await page.getByRole('dialog', { name: 'The new key of kiosk' }).waitFor();
      const key = (await dialogOf(page).locator('code').textContent()) ?? '';
      expect(key).toMatch(/^pp_kiosk_/);
      await expectAccessible(dialogOf(page));
      await page.keyboard.press('Escape');
      expect(await dialogOf(page).getByRole('button', { name: 'Close' }).isDisabled()).toBe(true);
      await dialogOf(page).getByLabel('I have stored the key').check();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      await page.getByRole('heading', { level: 1, name: 'kiosk' }).waitFor();
      expect(await everythingIn(page)).not.toContain(key);

      await on.pay(key, '+254755555555', 2.25).expect(200);
      await page.reload();
      await page.getByText('$2.25 of $20.50').waitFor();
      await page.getByRole('button', { name: `Revoke pp_kiosk_…${key.slice(-4)}` }).click();
      await dialogOf(page).getByText('It is the last key of kiosk').waitFor();
      await expectAccessible(dialogOf(page));
      await dialogOf(page).getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('This client has no valid key').waitFor();
      expect((await on.pay(key, '+254755555555', 2.25)).status).toBe(401);

      await page.getByRole('button', { name: 'Issue another key' }).click();
      await dialogOf(page).getByLabel('Person').fill('ada@example.com');
      await dialogOf(page).getByRole('button', { name: 'Issue' }).click();
      await dialogOf(page).getByText('must not be an email address or phone number').waitFor();
      complaints.length = 0;
      await dialogOf(page).getByLabel('Person').fill('ada');
      await dialogOf(page).getByLabel('Never expires').check();
      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.method() === 'POST' && sent.url().endsWith('/keys')),
        dialogOf(page).getByRole('button', { name: 'Issue' }).click(),
      ]);
      expect(request.postDataJSON()).toEqual({ person: 'ada', expires_at: null });
      const other = (await dialogOf(page).locator('code').textContent()) ?? '';
      await on.pay(other, '+254755555556', 2).expect(200);
      expect(complaints).toEqual([]);
    });

    const everythingIn = (page: Page) =>
      page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, ' +
          'document.documentElement.outerHTML, history.state])',
      );

    it('have limits that are changed one by one, and apply from the next payout', async () => {
      const app = await on.cautious('spender', 'pay', 'read');
      await on.pay(app, '+254766666661', 2).expect(200);
      const page = await on.open(on.admin, '/clients/spender');
      const cap = page.getByLabel('Daily cap');
      await cap.fill('much');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('must be an amount of US dollars from 0').waitFor();
      expect(await cap.getAttribute('aria-invalid')).toBe('true');
      await expectAccessible(page);
      await cap.fill('3');
      await page.getByText('Daily cap: $3.00, was no limit').waitFor();
      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.method() === 'PATCH'),
        page.getByRole('button', { name: 'Save' }).click(),
      ]);
      expect(request.postDataJSON()).toEqual({ daily_cap_usd: '3' });
      await page.getByText('$2.00 of $3.00').waitFor();
      const { body } = await on.pay(app, '+254766666662', 2).expect(403);
      expect(body.code).toBe('cap_exceeded');
      await cap.fill('');
      await page.getByText('Daily cap: no limit, was $3.00').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('There are no changes to save').waitFor();
      await on.pay(app, '+254766666663', 2).expect(200);
    });
  });

  describe('the activity of administrators', () => {
    it('shows each change with its states and its author, and links to the later calls', async () => {
      const watched = await on.proxy.client('watched', 'pay');
      const { key } = await on.clients.issueKey('admin', { person: 'grace' });
      const change = (body: object) =>
        fetch(`${on.proxy.url}/v1/clients/watched`, {
          method: 'PATCH',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      expect((await change({ daily_cap_usd: '10', reason: 'case 17' })).status).toBe(200);
      await on.pay(watched.key, '+254788888881', 2).expect(200);
      const page = await on.open(await on.auditingAdmin(), '/activity');
      const row = page.getByRole('row').filter({ hasText: 'case 17' });
      await row.getByText('Daily cap: $10.00, was none').waitFor();
      expect(await row.textContent()).toMatch(
        /limits changed.*watched.*grace.*of admin, through the API, from 127\.0\.0\.1/,
      );
      await expectAccessible(page);
      await page.getByLabel('Action', { exact: true }).selectOption('client_created');
      await row.waitFor({ state: 'detached' });
      await page.getByRole('row').filter({ hasText: 'client created' }).first().waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByLabel('By person').fill('grace');
      await page.keyboard.press('Enter');
      await page.getByRole('table').getByRole('row').nth(2).waitFor({ state: 'detached' });
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export' }).click();
      const file = await saving;
      expect(file.suggestedFilename()).toBe('payout-proxy-activity.csv');
      expect(readFileSync(await file.path(), 'utf8')).toMatch(
        /^[^\n]+\n[^\n]*,limits_changed,watched,[^\n]*,grace,api,[^\n]*,case 17\r\n$/,
      );
      await row.getByRole('link', { name: 'later calls of watched' }).click();
      await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
      await page.getByText('Client: watched').waitFor();
      await page.getByRole('region', { name: 'Calls' }).getByText('$2.00').first().waitFor();
    });

    it('shows a changed configuration by variable, and links to the later calls of all clients', async () => {
      const stateOf = (configuration: Record<string, string | null>) => ({ process: 'proxy', configuration });
      const before = stateOf({ MAX_ITEMS: '1000', SCREENING_URL: null });
      const after = stateOf({ MAX_ITEMS: '7', SCREENING_URL: 'https://screen.example' });
      const change = { action: 'configuration_changed', client: null, keyId: null, before, after } as const;
      const records = on.proxy.app.get(ChangeRecords, { strict: false });
      const prisma = on.proxy.app.get(SidePrisma, { strict: false });
      await prisma.$transaction((tx) => records.record(tx, [change], AT_START));
      const page = await on.open(await on.auditingAdmin(), '/activity?action=configuration_changed');
      const row = page.getByRole('row').filter({ hasText: 'configuration changed' });
      expect(await row.first().innerText()).toMatch(
        /Process: proxy\s+MAX_ITEMS: 7, was 1000\s+SCREENING_URL: https:\/\/screen\.example, was none/,
      );
      await expectAccessible(page);
      await row.getByRole('link', { name: 'later calls of all clients' }).click();
      await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    });
  });

  describe('the stop switch', () => {
    it('stops payouts with a reason that apps and all pages show, and resumes them', async () => {
      const { key: app } = await on.proxy.client('stopped', 'pay', 'read');
      const page = await on.open(on.admin, '/stops');
      await page.getByText('Nothing is stopped').waitFor();
      await page.getByRole('combobox', { name: 'Operation' }).fill('payouts/airtime');
      await page.getByRole('option', { name: 'POST /payouts/airtime' }).click();
      await page.getByRole('button', { name: 'Stop…' }).click();
      await dialogOf(page).getByText('Reads continue').waitFor();
      await expectAccessible(dialogOf(page));
      await dialogOf(page).getByLabel('Reason').fill('the upstream pays twice');
      await dialogOf(page).getByRole('button', { name: 'Stop it' }).click();
      await page.getByRole('heading', { name: 'Stopped: POST /payouts/airtime of all clients' }).waitFor();
      await expectAccessible(page);
      const { body } = await on.pay(app, '+254777777771', 2).expect(503);
      expect([body.code, body.error]).toEqual([
        'stopped',
        expect.stringContaining('the upstream pays twice'),
      ]);

      const elsewhere = await on.open(on.approver, '/approvals');
      await elsewhere.getByRole('status').getByText('the upstream pays twice').waitFor();
      await page.getByRole('button', { name: 'Lift this stop' }).click();
      await dialogOf(page).getByRole('button', { name: 'Lift it' }).click();
      await page.getByText('Nothing is stopped').waitFor();
      await on.pay(app, '+254777777771', 2).expect(200);
      await page.getByRole('region', { name: 'Lifted stops' }).getByText('the upstream pays twice').waitFor();
    });

    it('refuses to lift a stop by the proxy before the database is recovered', async () => {
      await on.proxy.database.query(
        `INSERT INTO stop (id, reason, cause, epoch)
          SELECT gen_random_uuid(), 'it lacks 1 commit', 'database_behind', max(number) FROM epoch`,
      );
      const page = await on.open(on.admin, '/stops');
      await page.getByText('by the proxy itself').waitFor();
      await page.getByText('An operator must run database recover').waitFor();
      await page.getByRole('button', { name: 'Lift this stop' }).click();
      await dialogOf(page).getByRole('button', { name: 'Lift it' }).click();
      await dialogOf(page).getByText('Run database recover first').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
      await on.proxy.database.query(
        `INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`,
      );
      await page.getByRole('button', { name: 'Lift this stop' }).click();
      await dialogOf(page).getByRole('button', { name: 'Lift it' }).click();
      await page.getByText('Nothing is stopped').waitFor();
    });

    it('stops everything only after the user typed a confirmation', async () => {
      const page = await on.open(on.admin, '/stops');
      await page.getByLabel('Everything, of all clients').check();
      await page.getByRole('button', { name: 'Stop…' }).click();
      await dialogOf(page).getByLabel('Reason').fill('a drill');
      const button = dialogOf(page).getByRole('button', { name: 'Stop everything' });
      expect(await reasonOf(button)).toBe('Type “stop everything” first.');
      await dialogOf(page).getByLabel('Type “stop everything” to confirm').fill('stop everything');
      await button.click();
      await page.getByRole('heading', { name: 'Stopped: Everything' }).waitFor();
      const { body } = await on.proxy.get(on.admin, '/v1/stops').expect(200);
      expect(body.stops).toMatchObject([{ everything: true, reason: 'a drill' }]);
      await page.getByRole('button', { name: 'Lift this stop' }).click();
      await dialogOf(page).getByRole('button', { name: 'Lift it' }).click();
      await page.getByText('Nothing is stopped').waitFor();
    });
  });

  it('fits a phone', async () => {
    const app = await on.cautious('phone', 'pay', 'read');
    const id = await on.hold(app, '+254788888888');
    const approving = await on.open(on.approver, '/approvals', 360);
    await approving.getByRole('link', { name: 'phone, 1 payout' }).click();
    await approving.getByRole('heading', { level: 1, name: 'Approval', exact: true }).waitFor();
    expect(new URL(approving.url()).pathname).toBe(`/console/approvals/${id}`);
    const operating = await on.open(on.admin, '/clients', 360);
    const texts = [
      [approving, `/approvals/${id}`, 'Client, today (UTC)'],
      [approving, '/approvals', 'phone, 1 payout'],
      [operating, '/clients', 'admin'],
      [operating, '/clients/phone', 'Permissions and limits'],
      [operating, '/stops', 'Nothing is stopped'],
    ] as const;
    for (const [page, path, text] of texts) {
      await follow(page, path);
      await page.getByRole('main').getByText(text).first().waitFor();
      expect([path, await widthOf(page)]).toEqual([path, 360]);
      // the other pages are checked above
      if (['/approvals', '/clients'].includes(path)) await expectAccessible(page);
    }
  });
});
