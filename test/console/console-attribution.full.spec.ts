import { ClientsService } from '../../src/access/clients/clients.service';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { startBrowser } from '../support/console/browser';
import { tabsOf } from '../support/console/console';
import { airtime } from '../support/payments/paying';
import { ReconciliationScene, startReconciling } from '../support/reconciliation/reconciliation-scene';

const PHONE = '+254712345678';

/** A lost payout of 2.5, which the upstream lists with an amount of 4. */
describe('the console, for a payout in doubt', () => {
  let scene: ReconciliationScene;
  let browser: Awaited<ReturnType<typeof startBrowser>>;

  beforeAll(async () => {
    scene = await startReconciling({ resolverQuietSeconds: 3_600, dualControl: true });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await scene.close();
  });

  it('attributes a transaction with two persons', async () => {
    await scene.fault({ fault: 'resetBeforeProcessing', operation: 'POST /payouts/airtime', nth: 1 });
    const call = (await scene.pay(PHONE).expect(502)).headers['x-call-id'] ?? '';
    const { airtimes } = airtime(PHONE);
    await scene.past('/payouts/airtime', { airtimes: [{ ...airtimes[0], valueInUSD: 4 }] }).expect(200);
    await scene.worker.get(ResolverService).runOnce();
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    await clients.create('approver', ['approve', 'audit']);
    const key = async (person: string) => (await clients.issueKey('approver', { person })).key;
    const visit = tabsOf(browser.browser, scene.proxy.url);

    const page = await visit(await key('grace'), `/calls/${call}`);
    await page.getByRole('button', { name: 'Attribute a transaction' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Transaction without a payout' }).click();
    await page.getByRole('option', { name: '$4.00' }).click();
    await dialog.getByLabel('Reason').fill('Case 17');
    await dialog.getByRole('button', { name: 'Attribute' }).click();
    await page.getByText('Another person must approve this change').waitFor();

    const other = await visit(await key('hopper'), '/changes');
    const change = other.getByRole('article', { name: 'Attribution of a transaction' });
    await change.getByText(`${call}.0`).waitFor();
    await other.getByRole('button', { name: 'Approve: Attribution of a transaction' }).click();
    await other.getByRole('dialog').getByLabel('Reason').fill('The provider confirms it');
    await other.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await other.getByText('No changes are pending.').waitFor();
    const { body } = await scene.proxy.get(scene.app, `/v1/payouts/${call}.0`).expect(200);
    expect(body).toMatchObject({ state: 'paid' });
  });
});
