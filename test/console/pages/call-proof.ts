import { expectAccessible } from '../../support/console/accessible';
import { startBrowser, TestBrowser } from '../../support/console/browser';
import { proofOf, results, verify } from '../../support/console/call-page';
import { complaintsOf, tabsOf } from '../../support/console/console';
import type { Receipt } from '../../support/http/api';
import { CallTimelines, callTimelines } from '../../support/reconciliation/call-timelines';

/** The proof on the page of a call, in a real browser. */
describe('the proof of a call', () => {
  let scene: CallTimelines;
  let browser: TestBrowser;
  let visit: ReturnType<typeof tabsOf>;

  beforeAll(async () => {
    [scene, browser] = await Promise.all([callTimelines(), startBrowser()]);
    visit = tabsOf(browser.browser, scene.proxy.url);
  });
  afterAll(() => browser.close());

  const open = async (kind: 'paid' | 'rejected') => {
    const page = await visit(scene.auditor, `/calls/${scene.calls[kind]}`);
    await page.getByRole('heading', { level: 1, name: '/payouts/' }).waitFor();
    return page;
  };

  it('verifies the proof, remembers the log, and compares it the next time', async () => {
    const page = await open('paid');
    const complaints = complaintsOf(page);
    const masked = await verify(page);
    expect(results(masked)).toEqual([
      ...Array<string>(4).fill('right'),
      ...Array<string>(3).fill('not compared'),
    ]);
    await page.getByRole('button', { name: 'Reveal people' }).click();
    await page.getByText('Your access was recorded').waitFor();
    expect(results(await verify(page))).toEqual(Array(7).fill('right'));
    await page.getByText('Details').first().click();
    const seal = (await scene.timeline(scene.calls.paid)).seals[0]!;
    const leaf = Buffer.from(seal.leaf_hash!, 'hex').toString('base64');
    // the given and the computed hash
    expect(await page.getByText(leaf, { exact: true }).count()).toBe(2);
    await expectAccessible(proofOf(page));
    expect(complaints).toEqual([]);
  });

  it.each<[string, (answer: Receipt) => unknown, RegExp]>([
    [
      'a record was changed',
      (it) => (it.records[0]!.record.total_usd = '3.76'),
      /intent was changed: its hash differs/,
    ],
    ['a proof was changed', (it) => it.records[1]!.proof.reverse(), /outcome is not proven/],
    [
      'a checkpoint was changed',
      (it) => (it.checkpoint = it.checkpoint.replace(/\n(\d)/, '\n1$1')),
      /does not match its text/,
    ],
    [
      'a record is of another call',
      (it) => (it.records[0]!.record.id = it.records[0]!.record.key_id),
      /belongs to another record/,
    ],
  ])('reports where %s', async (_what, change, says) => {
    const page = await open('paid');
    await page.route('**/v1/audit/log/proof?*', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as Receipt;
      change(json);
      await route.fulfill({ response, json });
    });
    const steps = await verify(page);
    expect(steps.filter((step) => step.includes('(wrong)')).join()).toMatch(says);
    expect(await page.evaluate('localStorage.getItem("payout-proxy.log")')).toBeNull(); // not remembered
  });

  it('detects a record that the owner of the database changed with all triggers off', async () => {
    const change = (usd: string) =>
      scene.proxy.database.query(
        `DO $$ BEGIN SET LOCAL session_replication_role = replica;
         UPDATE intent SET record = regexp_replace(record, '"total_usd":"[^"]*"', '"total_usd":"${usd}"')
           WHERE id = '${scene.calls.rejected}'; END $$`,
      );
    await change('4');
    const page = await open('rejected');
    const steps = await verify(page);
    expect(results(steps).slice(0, 3)).toEqual(['wrong', 'wrong', 'right']);
    expect(steps[0]).toContain('The intent was changed');
    await expectAccessible(proofOf(page));
    await change('3');
    expect(results(await verify(page)).slice(0, 3)).toEqual(['right', 'right', 'right']);
  });

  it('warns about another key of the log, and trusts it only on request', async () => {
    const page = await open('paid');
    await verify(page);
    await page.evaluate(() => {
      type Strings = Record<'getItem' | 'setItem', (...texts: string[]) => string>;
      const { localStorage } = globalThis as unknown as { localStorage: Strings };
      const seen = JSON.parse(localStorage.getItem('payout-proxy.log')) as object;
      localStorage.setItem('payout-proxy.log', JSON.stringify({ ...seen, keys: ['payouts+00000000+AAAA'] }));
    });
    const steps = await verify(page);
    expect(results(steps).slice(5)).toEqual(['wrong', 'not compared']);
    expect(steps[5]).toContain('THE KEY HAS CHANGED');
    await page.getByRole('button', { name: 'Trust it from now on' }).click();
    await page.getByText('Verified', { exact: true }).waitFor();
  });

  it('explains what to do if the browser cannot verify', async () => {
    const page = await open('paid');
    await page.evaluate("crypto.subtle.generateKey = () => Promise.reject(new Error('not here'))");
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('npm run cli -- audit verify').waitFor();
    await expectAccessible(proofOf(page));
    await page.evaluate('delete crypto.subtle.generateKey');
  });
});
