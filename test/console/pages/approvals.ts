import { Decimal } from 'decimal.js';
import { expectAccessible } from '../../support/console/accessible';
import { complaintsOf, reasonOf } from '../../support/console/console';
import { dialogOf, Operating, operating } from '../../support/console/operating';
import { InterfaceClient } from '../../support/http/interface-client';
import supertest from '../../support/http/supertest';
import { editRecord } from '../../support/records/documents';
import { tamper } from '../../support/records/sealing';

/** The decisions of approvers in the console, and their effect on apps. */
describe("the console's approvals", () => {
  let on: Operating;
  beforeAll(async () => (on = await operating()));

  const approvalOf = async (id: string) =>
    (await on.proxy.get(on.approver, `/v1/approvals/${id}`).expect(200)).body;
  const transactions = async (key: string) =>
    (await new InterfaceClient(on.proxy.url, key).transactions()).text;

  it('are decided by keyboard alone: one is sent, another is rejected, each with its reason', async () => {
    const app = await on.cautious('shop', 'pay', 'read', 'account');
    const first = await on.hold(app, '+254711111111');
    const page = await on.open(on.approver, '/approvals');
    await page.clock.install();
    await page.reload();
    const complaints = complaintsOf(page);
    const chosen = page.getByRole('list', { name: 'Approvals' }).locator('[aria-current]');
    const detail = page.getByRole('region', { name: 'Selected approval' });
    await detail.getByText('+254••••1111').waitFor();
    const second = await on.hold(app, '+254722222222');
    await page.clock.runFor('00:15');
    await page.locator(`#approval-${second}`).waitFor(); // without a reload
    expect(await chosen.getAttribute('id')).toBe(`approval-${first}`); // the selection stays
    await page.keyboard.press('k');
    await detail.getByText('+254••••2222').waitFor();
    await page.keyboard.press('?');
    await dialogOf(page).getByText('Reject, after you enter a reason').waitFor();
    await page.keyboard.press('r'); // does nothing while a dialog is open
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await detail.getByText('+254••••1111').waitFor();
    expect(new URL(page.url()).searchParams.get('chosen')).toBe(first);
    expect(await page.content()).not.toMatch(/\+2547(1{8}|2{8})/);

    const { approval } = await approvalOf(first);
    await page.keyboard.press('a');
    await dialogOf(page).getByText('POST /payouts/airtime of shop: 1 payout, $6.25').waitFor();
    await expectAccessible(dialogOf(page));
    await page.keyboard.press('Control+Enter'); // nothing is sent without a reason
    expect(await reasonOf(dialogOf(page).getByRole('button', { name: 'Approve and send' }))).toBe(
      'Enter a reason first.',
    );
    await dialogOf(page).getByLabel('Reason').focus();
    await page.keyboard.type('ours, and jar? right'); // none of the keys acts while one types
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().endsWith('/approve')),
      page.keyboard.press('Control+Enter'),
    ]);
    expect(request.postDataJSON()).toEqual({
      reason: 'ours, and jar? right',
      content_hash: approval?.content_hash,
    });
    await page.getByText('Outcome: succeeded').first().waitFor();
    expect(await approvalOf(first)).toMatchObject({
      outcome: 'succeeded',
      approval: { status: 'approved', reason: 'ours, and jar? right' },
    });
    expect(await transactions(app)).toContain('+254711111111');
    await page.getByRole('link', { name: 'Full history of this call' }).waitFor();

    await page.keyboard.press('j');
    await detail.getByText('+254••••2222').waitFor();
    await page.keyboard.press('r');
    await dialogOf(page).locator('textarea:focus').waitFor();
    await page.keyboard.type('nobody knows it');
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    await page.getByText('Your reason is recorded').waitFor();
    expect(await approvalOf(second)).toMatchObject({
      outcome: 'declined',
      approval: {
        status: 'rejected',
        reason: 'nobody knows it',
        decided_by: { client: { name: 'approver' } },
      },
    });
    expect(await transactions(app)).not.toContain('+254722222222');
    await page.getByText('No calls are pending approval').waitFor();
    expect(complaints).toEqual([]);
  });

  it('are closed to the requester, and explain it', async () => {
    const both = await on.cautious('both', 'pay', 'approve');
    const id = await on.hold(both, '+254733333333');
    const page = await on.open(both, '/approvals');
    await page.getByRole('link', { name: 'both, 1 payout' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Approval', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/approvals/${id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    await dialogOf(page).getByLabel('Reason').fill('mine');
    await dialogOf(page).getByRole('button', { name: 'Approve and send' }).click();
    await dialogOf(page).getByText('You cannot approve your own request').waitFor();
    expect((await approvalOf(id)).approval?.status).toBe('pending');
  });

  it('show their effect on the caps, and their obstacles', async () => {
    const app = await on.cautious('capped', 'pay', 'read', 'account');
    await on.pay(app, '+254744444440', 1.5).expect(200);
    const id = await on.hold(app, '+254744444444');
    await on.change('capped', { dailyCapUsd: new Decimal('7.5') });
    const page = await on.open(on.approver, `/approvals/${id}`);
    const day = page.getByRole('row', { name: 'Client, today (UTC)' });
    await day.waitFor();
    expect((await day.getByRole('cell').allTextContents()).slice(1, 5)).toEqual([
      '$7.50',
      '$1.50',
      '$7.75 over',
      '$0.00',
    ]);
    await page.getByText('This call exceeds a cap,').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('a');
    await dialogOf(page).getByLabel('Reason').fill('still');
    await page.keyboard.press('Control+Enter');
    await dialogOf(page).getByText('daily cap is 7.5 US dollars, with 6 US dollars left').waitFor();
    await expectAccessible(dialogOf(page));
    await page.keyboard.press('Escape');

    await on.change('capped', { dailyCapUsd: null });
    await page.keyboard.press('r');
    await supertest(on.proxy.url)
      .post(`/v1/approvals/${id}/approve`)
      .set('X-API-Key', on.approver)
      .send({ reason: 'faster' })
      .expect(200);
    await dialogOf(page).getByLabel('Reason').fill('too late');
    await page.keyboard.press('Control+Enter');
    await dialogOf(page).getByText('This call was already decided').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('approved by the key of approver').waitFor();
  });

  it('allow only the rejection of a call whose content was lost with the database', async () => {
    const app = await on.cautious('restored', 'pay');
    const id = await on.hold(app, '+254766666666');
    await editRecord(on.proxy.database, 'intent', id, (record) => ({ ...record, recovered: true }));
    await tamper(on.proxy.database, `DELETE FROM intent_body WHERE intent_id = '${id}'`);
    const page = await on.open(on.approver, `/approvals?chosen=${id}`);
    await page.getByText('You cannot approve it, because it was restored from a copy').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('a');
    await dialogOf(page).getByLabel('Reason').fill('still');
    await page.keyboard.press('Control+Enter');
    await dialogOf(page).getByText('restored without its content').waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${on.proxy.url}/console/calls/${id}`);
    await page.getByText('From a copy, by database recover').waitFor();
    await page.getByText('Intent restored').waitFor();
  });
});
