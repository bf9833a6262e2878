import { Page } from 'playwright-core';
import { OverviewService } from '../../../src/admin/overview/overview.service';
import { StorageService } from '../../../src/platform/storage/storage.service';
import { expectAccessible } from '../../support/console/accessible';
import { complaintsOf, widthOf } from '../../support/console/console';
import { ConsoleScene, consoleScene } from '../../support/console/console-scene';
import { refusalOf } from '../../support/databases/old-calls';
import supertest from '../../support/http/supertest';
import { enqueueCopy } from '../../support/queue/queueing';
import { live } from '../../support/records/intents';

const PROCESS = 7_071;

const airtime = (phoneNumber: string, valueInUSD: number) => ({
  airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }],
});

/** Returns the beginning of a day (UTC). */
const dayFromNow = (days: number) => new Date(Math.floor(Date.now() / 864e5 + days) * 864e5).toISOString();
const filtersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

describe('the console’s overview', () => {
  let proxy: ConsoleScene['proxy'];
  let app: string;
  let operator: string;
  let visit: ConsoleScene['visit'];

  beforeAll(async () => {
    ({ proxy, visit } = await consoleScene());
    app = (await proxy.client('shop', 'pay', 'read')).key;
    operator = (await proxy.client('operator', 'admin', 'audit', 'reconcile', 'approve')).key;
    await proxy.database.query(
      "UPDATE client SET daily_cap_usd = 10, approval_over_usd = 5 WHERE name = 'shop'",
    );
    await proxy.post(app, '/payouts/airtime', airtime('+254712345601', 1.1)).expect(200);
    await proxy.post(app, '/payouts/airtime', airtime('+254712345602', 6)).expect(202); // waits
    await proxy.post(app, '/payouts/airtime', { airtimes: [] }).expect(400);
  });

  it('shows payments, pending work and remaining caps, and updates live', async () => {
    const page = await visit(operator);
    const complaints = complaintsOf(page);
    const tile = (title: string) => page.locator('p', { hasText: new RegExp(`^${title}$`) }).locator('..');
    await tile('Pending approval').getByText('$6.00').waitFor();
    await tile('Calls in doubt').getByText('All outcomes are known.').waitFor();
    for (const title of ['Open findings', 'Last reconciliation']) {
      await tile(title).getByText('no run yet').waitFor();
    }
    await page.getByText('No findings yet, because no reconciliation has run.').waitFor();
    await tile('Upstream').getByText('answering', { exact: true }).waitFor();
    const caps = page.getByRole('region', { name: 'Caps used by clients' });
    await caps.getByText('$1.10 of $10.00').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    const figures = page.getByRole('table', { name: 'Figures by day and operation' });
    await figures.getByRole('cell', { name: '$1.10' }).waitFor();

    await proxy.post(app, '/payouts/airtime', airtime('+254712345603', 2.2)).expect(200);
    await caps.getByText('$3.30 of $10.00').waitFor(); // without a reload
    await figures.getByRole('cell', { name: '$3.30' }).waitFor(); // 1.1 + 2.2 is not 3.3000000000000003
    // A confirmed call counts as paid.
    const torn = await proxy.post(app, '/payouts/airtime', airtime('+254799990204', 0.5)).expect(502);
    await supertest(proxy.url)
      .post(`/v1/calls/${torn.headers['x-call-id']}/resolution`)
      .set('X-API-Key', operator)
      .send({ outcome: 'confirmed', reason: 'The provider lists it.' })
      .expect(200);
    await page.getByRole('region', { name: 'Outcomes' }).getByRole('link', { name: 'confirmed' }).waitFor();
    await figures.getByRole('cell', { name: '$3.80' }).waitFor();
    await page.getByText('Chart', { exact: true }).click();
    await page.getByRole('img', { name: /Bars by day and operation/ }).waitFor();
    expect(complaints).toEqual([]);
    await expectAccessible(page);
  });

  it('shows the queue while it has calls, and links to them', async () => {
    const { database } = proxy;
    const page = await visit(operator);
    const link = page.getByRole('link', { name: 'Queued calls', exact: true });
    await page.getByRole('link', { name: 'Pending approval', exact: true }).waitFor();
    expect(await link.count()).toBe(0);
    const paid = await proxy.post(app, '/payouts/airtime', airtime('+254712345604', 0.1)).expect(200);
    await live(database, PROCESS); // has claimed it, so no other process sends it
    const queued = await enqueueCopy(database, paid.headers['x-call-id'] ?? '', {}, { process: PROCESS });
    await page.getByText(/^The oldest since .+ None was sent in the last minute\.$/).waitFor();
    await expectAccessible(page);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    expect(filtersOf(page)).toEqual({ outcome: 'queued' });
    await page.getByText('1 on this page').waitFor();
    await page.goBack();
    await database.query('SELECT pg_advisory_unlock_all()');
    await database.query('UPDATE queued_call SET process = NULL WHERE intent_id = $1', [queued]);
    await link.waitFor({ state: 'detached' });
  });

  it('links each count to its list', async () => {
    const page = await visit(operator);
    await refusalOf(proxy.database, dayFromNow(-8)); // before the counted week
    const week = { from: dayFromNow(-6), to: dayFromNow(1) };
    await page.getByRole('region', { name: 'Outcomes' }).getByRole('link', { name: 'refused' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    expect(filtersOf(page)).toEqual({ ...week, outcome: 'refused' });
    await page.getByText('1 on this page').waitFor(); // of two
    await page.goBack();
    await page.getByText('Table', { exact: true }).click();
    const counted = page.getByRole('table', { name: 'Figures by day and operation' });
    await counted.getByRole('link', { name: /^\d+ payouts of POST \/payouts\/airtime/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor();
    expect(filtersOf(page)).toEqual({
      from: dayFromNow(0),
      to: dayFromNow(1),
      operation: 'POST /payouts/airtime',
    });
    await page.goBack();
    await page.getByRole('link', { name: 'Pending approval', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  });

  afterEach(() => jest.restoreAllMocks());

  it('loses its colours while it cannot be read, and shows since when', async () => {
    const page = await visit(operator);
    await page.getByText('live', { exact: true }).waitFor();
    const reading = jest
      .spyOn(proxy.app.get(OverviewService, { strict: false }), 'read')
      .mockRejectedValue(new Error('the database is away'));
    await page.getByText('cannot be reached; retrying').waitFor();
    await page.getByText(/^last updated /).waitFor();
    await page.getByRole('status').getByText('Not up to date.').waitFor();
    await page.getByText('live', { exact: true }).waitFor({ state: 'detached' });
    await page.locator('.stale').getByRole('region', { name: 'Outcomes' }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.stale')).filter")).toBe(
      'grayscale(1)',
    );
    await expectAccessible(page);
    reading.mockRestore();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('Not up to date.').waitFor({ state: 'detached' });
  });

  it('explains why the storage rejects writes, and what to do', async () => {
    const page = await visit(operator);
    const storage = proxy.app.get(StorageService, { strict: false });
    storage.note('database', 'io_error'); // it holds for a minute
    const alert = page.getByRole('alert').filter({ hasText: 'The storage of this instance rejects writes' });
    await alert.getByText(/^The database cannot read or write its files/).waitFor();
    await expectAccessible(page);
    storage.lower('database', 'io_error');
    await alert.waitFor({ state: 'detached' });
  });

  it('shows each key its own sections', async () => {
    const { key } = await proxy.client('reconciler', 'reconcile');
    const page = await visit(key);
    await page.getByRole('region', { name: 'Open findings by age' }).waitFor();
    for (const other of ['Outcomes', 'Caps used by clients']) {
      expect(await page.getByRole('region', { name: other }).count()).toBe(0);
    }
  });

  it('keeps its period in the address', async () => {
    const page = await visit(operator);
    await page.getByText('14 days').click();
    expect(page.url()).toBe(`${proxy.url}/console/?days=14`);
    await page.reload();
    await page.getByRole('radio', { name: '14 days', checked: true }).waitFor({ state: 'attached' });
  });

  it('fits a phone', async () => {
    const page = await visit(operator, '/', 360);
    await page.getByRole('img', { name: /Bars by day and operation/ }).waitFor();
    expect(await widthOf(page)).toBe(360);
  });
});
