import { Page } from 'playwright-core';
import { expectAccessible } from '../support/console/accessible';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { complaintsOf, signIn, startAfresh } from '../support/console/console';
import { eventually, PHONE } from '../support/payments/paying';
import { LyingLedger } from '../support/reconciliation/lying-ledger';
import { reconcile, untilNow } from '../support/reconciliation/reconciliation-scene';

/** What the console shows about an upstream whose answers and listing contradict each other. */
describe('an upstream that lies, in the console', () => {
  let ledger: LyingLedger;
  let browser: TestBrowser;
  let staff: string;
  let page: Page;

  beforeAll(async () => {
    [ledger, browser] = await Promise.all([LyingLedger.start(), startBrowser()]);
    const { proxy } = ledger.paying;
    staff = (await proxy.client('staff', 'audit', 'reconcile')).key;
    page = await signIn(browser.browser, proxy.url, staff);
  });
  afterAll(async () => {
    await browser.close();
    await ledger.paying.close();
  });

  const falseRejections = () => page.getByRole('status').filter({ hasText: 'False rejections' });

  it('shows each operation whose rejections are doubted, on every page', async () => {
    const complaints = complaintsOf(page);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await falseRejections().count()).toBe(0);
    ledger.lie = { status: 400, body: { status: 'error', error: 'no' }, pays: 'now' };
    const call = (await ledger.paying.pay(PHONE).expect(400)).headers['x-call-id'] ?? '';
    ledger.lie = undefined;
    await ledger.round();
    await eventually(async () => {
      const { body } = await ledger.paying.proxy.get(staff, '/v1/overview').expect(200);
      return body.doubted_operations.length > 0;
    });
    await page.reload(); // the page asks again after a minute
    await falseRejections().waitFor();
    await startAfresh(page, '/reconciliation');
    await falseRejections().waitFor();
    const text = await falseRejections().textContent();
    expect(text).toContain('False rejections: POST /payouts/airtime, account main.');
    expect(text).toContain('The upstream rejected 1 call and carried it out.');
    await expectAccessible(page);
    await falseRejections().getByRole('link', { name: 'Go to the activity' }).click();
    await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    await page.getByText(call.slice(0, 8)).first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('names the payout and the transaction that a duplicate repeats', async () => {
    const { proxy } = ledger.paying;
    const call = (await ledger.paying.pay('+254712345670').expect(200)).headers['x-call-id'] ?? '';
    const one = ledger.transactions.at(-1);
    if (!one) throw new Error('the upstream has no transaction');
    ledger.transactions.push({ ...one, chiRef: 'again', id: 'id-again', issueID: 'batch-again' });
    await reconcile({ url: proxy.url, key: staff }, untilNow());
    const path = '/v1/reconciliation/findings?category=duplicate_upstream' as '/v1/reconciliation/findings';
    const [finding] = (await proxy.get(staff, path).expect(200)).body.findings;
    await startAfresh(page, `/reconciliation/findings/${finding?.id}`);
    await page.getByRole('heading', { level: 1, name: finding?.title ?? '' }).waitFor();
    const field = page.getByRole('row', { name: /duplicate_of/ });
    await field.waitFor();
    expect(await field.textContent()).toContain(`${call}/0`);
    expect(await field.textContent()).toContain(one.chiRef);
    const twin = page.getByRole('region', { name: 'The transaction that it repeats or gives back' });
    await twin.getByText(one.chiRef).first().waitFor();
    await expectAccessible(page);
    await twin.getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/console/calls/${call}`));
  });
});
