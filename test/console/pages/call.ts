import { expectAccessible } from '../../support/console/accessible';
import { startBrowser, TestBrowser } from '../../support/console/browser';
import { results, textOf, timelineOf, verify } from '../../support/console/call-page';
import { complaintsOf, tabsOf, widthOf } from '../../support/console/console';
import type { Receipt } from '../../support/http/api';
import { readJson } from '../../support/processes/process';
import { ADA, CallTimelines, callTimelines } from '../../support/reconciliation/call-timelines';

type Kind = keyof CallTimelines['calls'];

/** The page of one call in a real browser: its timeline, its payouts and its settlement. */
describe('the page of a call', () => {
  let scene: CallTimelines;
  let browser: TestBrowser;
  let visit: ReturnType<typeof tabsOf>;

  beforeAll(async () => {
    [scene, browser] = await Promise.all([callTimelines(), startBrowser()]);
    visit = tabsOf(browser.browser, scene.proxy.url);
  });
  afterAll(() => browser.close());

  const get = <const Path extends string>(path: Path) => scene.proxy.get(scene.auditor, path);
  const open = async (kind: Kind, key = scene.auditor, width?: number) => {
    const page = await visit(key, `/calls/${scene.calls[kind]}`, width);
    await page.getByRole('heading', { level: 1, name: '/payouts/' }).waitFor();
    return page;
  };

  it('shows the history, the items and the messages, with people masked', async () => {
    const page = await open('paid');
    const complaints = complaintsOf(page);
    const timeline = (await timelineOf(page)).map((step) => step.split('\n')[0]);
    expect(timeline).toEqual([
      'Received',
      'Intent recorded',
      'Sent to the upstream',
      'Answered with 200',
      'Outcome recorded',
      'Sealed',
    ]);
    expect((await timelineOf(page))[2]).toMatch(/\+\d+ ms[^]*It took [\d.]+ ms; status 200/);
    const items = await textOf(page, 'Items');
    expect(items).toMatch(/a••@example\.com[^]*\$2\.50[^]*b••@example\.com[^]*\$1\.25/);
    expect(await textOf(page, 'Other transactions')).toContain('$9.00');
    expect(await textOf(page, 'Request body')).toContain('"email": "••••"');
    expect(await textOf(page, 'Response body')).toContain('"chiRef": "chi-1"');
    expect(await textOf(page, 'Facts')).toMatch(/\$3\.75 in 2 items[^]*grace[^]*order-17/);
    expect(await textOf(page, 'Changes in the day before')).toContain('client created');
    expect(await page.content()).not.toMatch(/lovelace/i);
    // The third transaction belongs to no item.
    await page.getByText('The records of this call contradict each other').waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('reveals people to keys that may see them, and records it', async () => {
    const page = await open('approved');
    expect(await textOf(page, 'Items')).not.toContain(ADA.email);
    await page.getByRole('button', { name: 'Reveal people' }).click();
    await page.getByRole('region', { name: 'Items' }).getByText(ADA.email).waitFor();
    expect(await textOf(page, 'Request body')).toContain(`"email": "${ADA.email}"`);
    const { body } = await get(`/v1/audit/accesses?call=${scene.calls.approved}`).expect(200);
    expect(body.accesses).toContainEqual(
      expect.objectContaining({
        route: 'GET /v1/audit/calls/:id',
        revealed: true,
        call_id: scene.calls.approved,
      }),
    );
    await page.getByRole('region', { name: 'Readers' }).getByText('revealed').first().waitFor();
    await page.getByRole('button', { name: 'Mask people again' }).click();
    await page.getByRole('region', { name: 'Items' }).getByText('a••@example.com').waitFor();
    expect(await page.content()).not.toMatch(/lovelace/i);
  });

  it('offers the receipt, and the call as curl', async () => {
    const page = await open('paid');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download receipt' }).click(),
    ]);
    const receipt = readJson<Receipt>(await download.path());
    expect(download.suggestedFilename()).toBe(`receipt-${scene.calls.paid}.json`);
    expect(receipt).toMatchObject({ format: 'payout-proxy/receipt/1', call_id: scene.calls.paid });
    expect(receipt.records.map(({ openings }) => openings)).toEqual([[], []]); // masked
    await page.getByText('same response and nothing is paid twice').waitFor();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = await clipboard();
    expect(command).toMatch(/^curl -sS -X POST '.*\/api\/v0\.1\/payouts\/credit' [^]*\$PAYOUT_PROXY_KEY/);
    expect(command).toMatch(/Idempotency-Key: order-17[^]*••••/);
  });

  it.each<[Kind, RegExp[]]>([
    [
      'refused',
      [
        /^Received/,
        /^Refused: invalid request[^]*\/credits\/0\/valueInUSD: must be/,
        /^Sealed[^]*refusal, leaf/,
      ],
    ],
    ['repeated', [/^Received/, /^Refused: [^]*[0-9a-f-]{36}/, /^Sealed/]],
    ['held', [/^Received/, /^Intent/, /^Held for approval[^]*threshold/, /^Pending/, /^Sealed/]],
    [
      'declined',
      [
        /^Received/,
        /^Intent/,
        /^Held/,
        /^Rejected[^]*hopper \(approver\)[^]*“nobody knows order 17”/,
        /^Sealed/,
      ],
    ],
    [
      'doubtful',
      [
        /^Received/,
        /^Intent/,
        /^Sent[^]*may have received the request/,
        /^Timed out/,
        /^Outcome/,
        /^In doubt[^]*never sent again/,
        /^Sealed/,
      ],
    ],
  ])('tells the timeline of a call that is %s', async (kind, expected) => {
    const page = await open(kind);
    const timeline = await timelineOf(page);
    expect(timeline.map((step, at) => (expected[at]?.test(step) ? 'as expected' : step))).toEqual(
      expected.map(() => 'as expected'),
    );
    expect(results(await verify(page))).not.toContain('wrong');
    if (kind === 'doubtful')
      // it has what the others have
      await expectAccessible(page.getByRole('region', { name: 'History', exact: true }));
  });

  it('lets an approver settle a call in doubt with a reason, and shows the settlement', async () => {
    const page = await open('doubtful', scene.approver);
    await page.getByText('Your key does not have access to people').waitFor();
    expect(await page.getByRole('button', { name: /Reveal/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Settle manually' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle a call in doubt' });
    await expectAccessible(dialog);
    await dialog.getByLabel('Reason').fill('The provider lists it.');
    await dialog.getByLabel('Confirmed: the call was carried out').check();
    await dialog.getByRole('button', { name: 'Settle' }).click();
    await page.getByText('Settled: confirmed').waitFor();
    expect(await scene.timeline(scene.calls.doubtful)).toMatchObject({
      outcome: 'confirmed',
      resolution: {
        outcome: 'confirmed',
        reason: 'The provider lists it.',
        resolved_by: { actor: 'hopper' },
      },
    });
    await page.getByRole('button', { name: 'Settle manually' }).waitFor({ state: 'detached' });
    expect(await textOf(page, 'Items')).toContain('paid');
    await page.getByRole('button', { name: 'Show the ledger of item 2' }).click();
    expect(await textOf(page, 'Ledger of item 2')).toMatch(
      /reserved\s+available\s+reserved\s+\$1\.25\s+request[^]*paid\s+reserved\s+recipient\s+\$1\.25\s+person/,
    );
    await page.getByText('Nothing needs to be done.').waitFor();
    await expectAccessible(page.getByRole('region', { name: 'Items', exact: true }).first());
    await page.getByRole('button', { name: 'Hide the ledger of item 2' }).click();
    await page.getByRole('region', { name: 'Ledger of item 2' }).waitFor({ state: 'detached' });
  });

  it('fits a phone', async () => {
    const page = await open('paid', scene.auditor, 360);
    await verify(page);
    expect(await widthOf(page)).toBe(360);
  });

  it('reports an unknown call', async () => {
    const page = await visit(scene.auditor, '/calls/nothing');
    await page.getByText('No call has this ID').waitFor();
  });
});
