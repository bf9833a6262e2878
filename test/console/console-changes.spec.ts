import { Page } from 'playwright-core';
import { ClientsService } from '../../src/access/clients/clients.service';
import { expectAccessible } from '../support/console/accessible';
import { complaintsOf, reasonOf, widthOf } from '../support/console/console';
import { ConsoleScene, startConsoleScene } from '../support/console/console-scene';

/** Ada requests expansions, and Bob decides about them. */
describe("the console's changes", () => {
  let scene: ConsoleScene;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    scene = await startConsoleScene({ dualControl: true });
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    await clients.create('admin', ['admin', 'audit']);
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    await clients.create('shop', ['pay'], { maxItems: 10, countries: ['Kenya'] });
  });
  afterAll(() => scene.close());

  const ask = (body: object) =>
    fetch(`${scene.proxy.url}/v1/clients/shop`, {
      method: 'PATCH',
      headers: { 'x-api-key': ada, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const shop = async () => (await scene.proxy.get(ada, '/v1/clients/shop').expect(200)).body;
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const change = 'Change of client shop';

  it('need approval by a second person, who sees the state before and after', async () => {
    expect((await ask({ max_items: 20, reason: 'a busy season' })).status).toBe(202);
    const own = await scene.visit(ada, '/changes');
    await own.getByRole('article', { name: change }).waitFor();
    const approve = own.getByRole('button', { name: `Approve: ${change}` });
    expect(await reasonOf(approve)).toBe(
      'You requested this change, it merges you, or it settles your call. Another person must decide.',
    );

    const page = await scene.visit(bob, '/changes');
    const complaints = complaintsOf(page);
    const article = page.getByRole('article', { name: change });
    await article.getByText('Max items: 20, was 10').waitFor();
    await article.getByText('a busy season').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: `Approve: ${change}` }).click();
    await dialogOf(page).getByText('It applies to shop immediately').waitFor();
    await expectAccessible(dialogOf(page));
    await dialogOf(page).getByLabel('Reason').fill('agreed with ada');
    await dialogOf(page).getByRole('button', { name: 'Approve' }).click();
    await page.getByText('No changes are pending.').waitFor();
    expect((await shop()).max_items).toBe(20);
    await page.getByLabel('Status').selectOption('approved');
    await page.getByText(/bob,.*agreed with ada/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('are not made after a rejection, or if the client changed in the meantime', async () => {
    expect((await ask({ countries: ['Kenya', 'Ghana'] })).status).toBe(202);
    const page = await scene.visit(bob, '/changes');
    await page.getByRole('button', { name: `Reject: ${change}` }).click();
    await dialogOf(page).getByLabel('Reason').fill('not agreed');
    await dialogOf(page).getByRole('button', { name: 'Reject' }).click();
    await page.getByText('No changes are pending.').waitFor();

    expect((await ask({ max_items: 30 })).status).toBe(202);
    expect((await ask({ max_items: 5 })).status).toBe(200);
    await page.reload();
    await page.getByRole('button', { name: `Approve: ${change}` }).click();
    await dialogOf(page).getByLabel('Reason').fill('agreed');
    await dialogOf(page).getByRole('button', { name: 'Approve' }).click();
    await dialogOf(page).getByText('have changed since').waitFor();
    expect(await shop()).toMatchObject({ max_items: 5, countries: ['Kenya'] });
  });

  it('are listed in pages', async () => {
    await scene.proxy.database.query(
      `INSERT INTO pending_change (id, kind, client, expands, change, client_id, key_id, person, expires_at)
       SELECT uuid_floor(now() - n * interval '1 minute'), 'create_client', 'made-' || n, '{scopes}',
         '{"permissions":{}}', gen_random_uuid(), gen_random_uuid(), 'ada', now() + interval '1 hour'
       FROM generate_series(1, 51) n`,
    );
    const page = await scene.visit(bob, '/changes');
    await page.getByRole('article', { name: 'New client made-50', exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await page
      .getByRole('article', { name: 'New client made-50', exact: true })
      .waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'New client made-51', exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBe(1);
    await scene.proxy.database.query(`DELETE FROM pending_change WHERE client LIKE 'made-%'`);
  });

  it('include the register of recipients', async () => {
    const own = await scene.visit(ada, '/clients/shop/beneficiaries');
    await own.getByRole('button', { name: 'Add recipients' }).click();
    await dialogOf(own).getByLabel('Recipients').fill('+254712345678');
    await dialogOf(own).getByLabel('Reason').fill('a new supplier');
    await dialogOf(own).getByRole('button', { name: 'Add' }).click();
    await own.getByText('Another person must approve this change').waitFor();
    await own.getByText('No recipients are registered yet.').waitFor();
    const page = await scene.visit(bob, '/changes');
    const article = page.getByRole('article').filter({ hasText: 'a new supplier' });
    await article.getByText('+254••••5678').waitFor();
    await article.getByRole('button', { name: 'Reject' }).click();
    await dialogOf(page).getByLabel('Reason').fill('not agreed');
    await dialogOf(page).getByRole('button', { name: 'Reject' }).click();
    await page.getByText('No changes are pending.').waitFor();

    // A block protects money, and does not wait.
    await own.getByRole('button', { name: 'Add recipients' }).click();
    await dialogOf(own).getByRole('combobox', { name: 'List' }).selectOption('blocked');
    await dialogOf(own).getByLabel('Recipients').fill('+254712345678');
    await dialogOf(own).getByLabel('Reason').fill('fraud');
    await dialogOf(own).getByRole('button', { name: 'Add' }).click();
    await own.getByRole('cell', { name: '+254••••5678', exact: true }).waitFor();
  });

  it('show the names of merged people', async () => {
    await scene.proxy.app.get(ClientsService, { strict: false }).issueKey('admin', { person: 'grace' });
    await fetch(`${scene.proxy.url}/v1/person-merges`, {
      method: 'POST',
      headers: { 'x-api-key': ada, 'content-type': 'application/json' },
      body: JSON.stringify({ kept: 'bob', merged: 'grace', reason: 'renamed' }),
    });
    const page = await scene.visit(bob, '/changes');
    const article = page.getByRole('article', { name: 'Merge of two people' });
    await article.getByText('Merged person: grace').waitFor();
    expect(await article.getByText(/^(Kept|Merged) person: /).allTextContents()).toEqual([
      'Kept person: bob',
      'Merged person: grace',
    ]);
    const approve = article.getByRole('button', { name: 'Approve: Merge of two people' });
    expect(await reasonOf(approve)).toBe(
      'You requested this change, it merges you, or it settles your call. Another person must decide.',
    );
  });

  it('fit a phone', async () => {
    expect((await ask({ max_items: 40 })).status).toBe(202);
    const page = await scene.visit(bob, '/changes', 360);
    await page.getByRole('article', { name: change }).waitFor();
    expect(await widthOf(page)).toBe(360);
  });
});
