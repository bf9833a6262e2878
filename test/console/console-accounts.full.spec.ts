import { Page } from 'playwright-core';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import { expectAccessible } from '../support/console/accessible';
import { complaintsOf, widthOf } from '../support/console/console';
import { ConsoleScene, startConsoleScene } from '../support/console/console-scene';

const KENYA = {
  name: 'kenya',
  baseUrl: undefined,
  apiKey: new Secret('a-key-unknown-to-the-sandbox'),
  webhookSecret: undefined,
  subAccount: undefined,
  wallet: undefined,
  fees: new Map<string, string>(),
};

describe("the console's accounts and registers", () => {
  let scene: ConsoleScene;
  let admin: string;

  beforeAll(async () => {
    scene = await startConsoleScene({ namedAccounts: [KENYA] });
    admin = (await scene.proxy.client('admin', 'admin', 'audit')).key;
  });
  afterAll(() => scene.close());

  const dialogOf = (page: Page) => page.getByRole('dialog');
  const clients = () => scene.proxy.app.get(ClientsService, { strict: false });

  describe('fees', () => {
    it('lists rules and learned fees, and forgets those of an account', async () => {
      const operation = 'POST /payouts/airtime';
      for (const account of ['main', 'kenya']) {
        await scene.proxy.database.query(
          `INSERT INTO call_fee (account, operation, size_usd, call_id, day, usd)
           SELECT $1, $2, 20, gen_random_uuid(), (now() AT TIME ZONE 'UTC')::date, 0.3
           FROM generate_series(1, 3)`,
          [account, operation],
        );
      }
      const page = await scene.visit(admin, '/clients');
      const complaints = complaintsOf(page);
      const table = page.getByRole('table', { name: 'Fees of the upstream' });
      const row = table.getByRole('row').filter({ hasText: 'main' }).filter({ hasText: operation });
      for (const name of ['$20.00 to below $50.00', '$0.30', '3']) {
        await row.getByRole('cell', { name, exact: true }).waitFor();
      }
      await row.getByRole('button', { name: `Forget the fees of ${operation}, main` }).click();
      await expectAccessible(dialogOf(page));
      await dialogOf(page).getByRole('button', { name: 'Forget them' }).click();
      await row.waitFor({ state: 'detached' });
      await table.getByRole('row').filter({ hasText: 'kenya' }).waitFor();
      await page.mouse.move(0, 0); // off the row that the dialog covered
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });
  });

  describe('accounts', () => {
    it('selects the account of a new client, and shows it with each client', async () => {
      const page = await scene.visit(admin, '/clients');
      const complaints = complaintsOf(page);
      await page.getByRole('button', { name: 'New client' }).click();
      await dialogOf(page).getByLabel('Name').fill('kiosk');
      await dialogOf(page).getByRole('combobox', { name: 'Account' }).selectOption('kenya');
      await dialogOf(page).getByLabel('Daily cap').fill('none');
      await expectAccessible(dialogOf(page));
      await dialogOf(page).getByRole('button', { name: 'Create' }).click();
      await dialogOf(page).getByLabel('I have stored the key').check();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      await page.getByRole('heading', { level: 1, name: 'kiosk' }).waitFor();
      await page.getByRole('main').getByText('kenya', { exact: true }).waitFor();
      expect((await scene.proxy.get(admin, '/v1/clients/kiosk').expect(200)).body.account).toBe('kenya');
      await page.getByRole('link', { name: 'All clients' }).click();
      const row = page.getByRole('row').filter({ hasText: 'kiosk' });
      await row.getByRole('cell', { name: 'kenya' }).waitFor();
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });

    it('names unknown accounts, because their clients cannot pay', async () => {
      await clients().create('stall', ['pay'], { account: 'uganda' });
      const page = await scene.visit(admin, '/clients', 360);
      await page
        .getByText('This instance does not know the upstream account of these clients: uganda.')
        .waitFor();
      expect(await widthOf(page)).toBe(360);
    });

    it('filters calls by account, and shows the state of each in the overview', async () => {
      const [kiosk, shop] = [await clients().issueKey('kiosk'), await scene.proxy.client('shop', 'read')];
      await scene.proxy.get(shop.key, '/api/v0.1/info/airtime-countries');
      await scene.proxy.get(kiosk.key, '/api/v0.1/info/airtime-countries').expect(502);
      const page = await scene.visit(admin, '/calls');
      await page.getByRole('cell', { name: 'kiosk (kenya)' }).waitFor();
      await page.getByRole('cell', { name: 'shop', exact: true }).waitFor();
      await page.getByRole('button', { name: 'More filters' }).click();
      await page.getByRole('combobox', { name: 'Account' }).click();
      await page.getByRole('option', { name: 'kenya' }).click();
      await page.getByRole('button', { name: 'Remove the filter Account: kenya' }).waitFor();
      await page.getByRole('cell', { name: 'shop', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: 'kiosk (kenya)' }).waitFor();
      expect(new URL(page.url()).searchParams.get('account')).toBe('kenya');
      await expectAccessible(page);
      const overview = await scene.visit(admin, '/');
      await overview.getByText(/^main: .*Answered/).waitFor();
      await overview.getByText(/^kenya: .*Answered/).waitFor();
      await expectAccessible(overview);
    });
  });

  describe('registers of recipients', () => {
    beforeAll(() => clients().create('till', ['pay']));

    it('changes a register with a reason, and lists masks', async () => {
      const page = await scene.visit(admin, '/clients/till');
      const complaints = complaintsOf(page);
      await page.getByRole('link', { name: 'Register of recipients' }).click();
      await page.getByText('till may pay everyone except blocked recipients.').waitFor();
      await page.getByText('No recipients are registered yet.').waitFor();
      const add = async (list: string, recipients: string) => {
        await page.getByRole('button', { name: 'Add recipients' }).click();
        await dialogOf(page).getByRole('combobox', { name: 'List' }).selectOption(list);
        await dialogOf(page).getByLabel('Recipients').fill(recipients);
        await dialogOf(page).getByLabel('Reason').fill('Case 17');
        await dialogOf(page).getByRole('button', { name: 'Add' }).click();
      };
      await add('allowed', '+254712345678\nnobody');
      await dialogOf(page).getByText('nobody must be an email address, a phone number').waitFor();
      await expectAccessible(dialogOf(page));
      complaints.length = 0; // the browser complains about the refused request
      await dialogOf(page).getByLabel('Recipients').fill('+254712345678\n\n ada@example.com');
      await dialogOf(page).getByRole('button', { name: 'Add' }).click();
      await dialogOf(page).waitFor({ state: 'detached' });
      await add('blocked', '+254712345679');
      for (const mask of ['+254••••5678', 'a••@example.com', '+254••••5679']) {
        await page.getByRole('cell', { name: mask, exact: true }).waitFor();
      }
      expect(await page.content()).not.toMatch(/71234567|ada@/);
      await expectAccessible(page);

      await page.getByLabel('List').selectOption('blocked');
      await page.getByRole('cell', { name: 'a••@example.com', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Remove +254••••5679 from blocked' }).click();
      await dialogOf(page).getByText('The client may then pay them.').waitFor();
      await expectAccessible(dialogOf(page));
      await dialogOf(page).getByLabel('Reason').fill('Case 17 is closed');
      await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
      await page.getByText('This list has no recipients.').waitFor();
      const { body } = await scene.proxy
        .get(admin, '/v1/activity?client=till&action=beneficiary_removed')
        .expect(200);
      expect(body.activity.map(({ reason }) => reason)).toEqual(['Case 17 is closed']);
      expect(complaints).toEqual([]);
    });

    it('fits a phone', async () => {
      const page = await scene.visit(admin, '/clients/till/beneficiaries', 360);
      await page.getByRole('cell', { name: '+254••••5678', exact: true }).waitFor();
      expect(await widthOf(page)).toBe(360);
      await expectAccessible(page);
    });
  });
});
