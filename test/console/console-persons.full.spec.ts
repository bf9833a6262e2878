import { Page } from 'playwright-core';
import { ISSUER, PAGE_ISSUER, PersonsScene, startPersonsScene } from '../support/access/persons-scene';
import { expectAccessible } from '../support/console/accessible';
import { complaintsOf, follow, reasonOf, widthOf } from '../support/console/console';
import { dialogOf } from '../support/console/operating';

const LIST = '/clients/shop/persons';

/** Administrators read and limit the people of an app. */
describe('the console page of people', () => {
  let on: PersonsScene;
  let alice: string;

  beforeAll(async () => {
    on = await startPersonsScene();
    alice = await on.keyOf('alice');
    await on.pay(alice, 2.25).expect(200);
    await on.limit({ name: 'eve@example.com', issuer: ISSUER, max_item_usd: 1 }).expect(200);
  });
  afterAll(() => on.close());

  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const because = (page: Page, reason: string) => dialogOf(page).getByLabel('Reason').fill(reason);
  const save = (page: Page) => dialogOf(page).getByRole('button', { name: 'Save' }).click();

  it('shows the spending against the cap of each, with links to the person and the calls', async () => {
    const page = await on.visit(on.keys.ada, '/clients/shop');
    const complaints = complaintsOf(page);
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page
      .getByText('Default limits of each person: daily cap $10.00, requests per minute 60.')
      .waitFor();
    await rowOf(page, 'alice').getByText('$2.25 of $10.00').waitFor();
    await rowOf(page, 'alice').getByText('$7.75 left').waitFor();
    await rowOf(page, 'e••@example.com').getByText('Largest item: $1.00').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Name', { exact: true }).fill('alice');
    await page.keyboard.press('Enter');
    await rowOf(page, 'e••@example.com').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Calls of alice' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await page.getByRole('region', { name: 'Calls' }).getByText('$2.25').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'alice', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor();
    await page.getByText('$2.25 of $10.00').waitFor();
    await page.getByText('Never revoked.').waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('links each call to its person', async () => {
    const { headers } = await on.pay(alice, 0.5).expect(200);
    const page = await on.visit(on.keys.ada, `/calls/${headers['x-call-id']}`);
    await page.getByRole('link', { name: 'Limits and spending' }).click();
    await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor();
    await page.getByText('$2.75 of $10.00').waitFor();
  });

  it('finds people by their ID in records, and by their exact name only', async () => {
    const page = await on.visit(on.keys.ada, LIST);
    await page.getByLabel('Name', { exact: true }).fill('ali');
    await page.keyboard.press('Enter');
    await page.getByText('No person of this client has exactly this name.').waitFor();
    const id = await on.idOf('alice');
    await page.getByLabel('Person ID').fill(id);
    await page.keyboard.press('Enter');
    await page.getByText('alice', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console${LIST}/${id}`);
    await follow(page, `${LIST}/nobody`);
    await page.getByRole('alert').getByText('person').first().waitFor();
  });

  it('shows names only on request, to keys that may see people', async () => {
    const adas = await on.visit(on.keys.ada, LIST);
    await rowOf(adas, 'e••@example.com').waitFor();
    expect(await adas.getByLabel('Show people').count()).toBe(0);
    await adas.getByLabel('Name', { exact: true }).fill('eve@example.com');
    await adas.keyboard.press('Enter');
    await adas.getByRole('alert').getByText('audit:pii').waitFor();

    const graces = await on.visit(on.keys.grace, `${LIST}?name=eve@example.com`);
    await rowOf(graces, 'e••@example.com').waitFor();
    expect(await graces.getByRole('link', { name: 'Calls of' }).count()).toBe(0); // without the scope audit
    await graces.getByLabel('Show people (recorded)').check();
    await rowOf(graces, 'eve@example.com').waitFor();
    await expectAccessible(graces);
    await graces.getByRole('link', { name: 'eve@example.com' }).click();
    await graces.getByText('e••@example.com').waitFor();
    await graces.getByLabel('Show people (recorded)').check();
    await graces.getByText('eve@example.com').waitFor();
  });

  it('applies lower limits of a person immediately, and holds higher ones for a second person', async () => {
    const page = await on.visit(on.keys.ada, `${LIST}/${await on.idOf('alice')}`);
    await page.getByRole('button', { name: 'Change limits' }).click();
    const button = dialogOf(page).getByRole('button', { name: 'Save' });
    expect(await reasonOf(button)).toBe('Change a limit first.');
    await expectAccessible(dialogOf(page));
    await dialogOf(page).getByLabel('Daily cap').fill('much');
    await dialogOf(page).getByLabel('Requests per minute').fill('1.5');
    await because(page, 'Case 17');
    await save(page);
    await dialogOf(page).getByText('must be an amount of US dollars from 0').first().waitFor();
    await dialogOf(page).getByText('must be a whole number').first().waitFor();
    await dialogOf(page).getByLabel('Daily cap').fill('4');
    await dialogOf(page).getByLabel('Requests per minute').fill('');
    const patch = page.waitForRequest((sent) => sent.method() === 'PATCH');
    const [request] = await Promise.all([patch, save(page)]);
    expect(request.postDataJSON()).toEqual({ daily_cap_usd: '4', reason: 'Case 17' });
    await page.getByText('$2.75 of $4.00').waitFor();
    await page.getByText('default: $10.00').waitFor();
    expect((await on.pay(alice, 2).expect(403)).body.code).toBe('cap_exceeded');

    await page.getByRole('button', { name: 'Change limits' }).click();
    await dialogOf(page).getByRole('button', { name: 'Back to the defaults' }).click();
    await because(page, 'Case 17 is closed');
    await save(page);
    await page.getByText('Another person must approve this change').waitFor();
    await page.getByText('$2.75 of $4.00').waitFor();
    const bobs = await on.visit(on.keys.bob, '/changes');
    const change = bobs.getByRole('article').filter({ hasText: 'Case 17 is closed' });
    await change.getByRole('button', { name: 'Approve' }).click();
    await because(bobs, 'agreed');
    await dialogOf(bobs).getByRole('button', { name: 'Approve' }).click();
    await bobs.getByText('No changes are pending.').waitFor();
    await page.reload();
    await page.getByText('$2.75 of $10.00').waitFor();
    await on.pay(alice, 2).expect(200);
  });

  it('limits a person before their first call', async () => {
    const page = await on.visit(on.keys.ada, LIST);
    await page.getByRole('button', { name: 'Limit a person' }).click();
    await dialogOf(page).getByLabel('Daily cap').fill('0.5');
    expect(await reasonOf(dialogOf(page).getByRole('button', { name: 'Save' }))).toBe(
      'Enter the person first.',
    );
    const providers = await dialogOf(page).getByLabel('Named by').locator('option').allTextContents();
    expect(providers).toEqual([ISSUER, PAGE_ISSUER, 'the app']);
    await dialogOf(page).getByLabel('Named by').selectOption('the app');
    await dialogOf(page).getByRole('textbox', { name: 'Name' }).fill('mallory@example.com');
    await because(page, 'reported');
    await save(page);
    await dialogOf(page).getByText('no email address or phone number').first().waitFor();
    await expectAccessible(dialogOf(page));
    await dialogOf(page).getByRole('textbox', { name: 'Name' }).fill('mallory');
    await save(page);
    await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor();
    await page.getByText('$0.00 of $0.50').waitFor();
    expect((await on.pay(await on.keyOf('mallory'), 1).expect(403)).body.code).toBe('cap_exceeded');
  });

  it('revokes the credentials of one person, with a reason', async () => {
    const walter = await on.keyOf('walter');
    const page = await on.visit(on.keys.ada, `${LIST}/${await on.idOf('walter')}`);
    await page.getByRole('button', { name: 'Revoke credentials' }).click();
    const button = dialogOf(page).getByRole('button', { name: 'Revoke credentials' });
    expect(await reasonOf(button)).toBe('Enter a reason first.');
    await expectAccessible(dialogOf(page));
    await because(page, 'lost phone');
    await button.click();
    await page.getByText('Those issued before').waitFor();
    expect((await on.pay(walter, 1)).status).toBe(401);
    await on.pay(alice, 1).expect(200);
    const { body } = await on.proxy.get(on.keys.ada, '/v1/activity?action=person_revoked').expect(200);
    expect(body.activity).toMatchObject([{ reason: 'lost phone' }]);
    await follow(page, '/activity?client=shop&action=person_revoked');
    await page.getByRole('link', { name: 'the person' }).click();
    await page.getByText('Those issued before').waitFor();
  });

  it('revokes all ephemeral keys of a client', async () => {
    const heidi = await on.keyOf('heidi');
    const page = await on.visit(on.keys.ada, '/clients/shop');
    await page.getByText(/^Valid ephemeral keys: [2-9]$/).waitFor();
    await page.getByRole('button', { name: 'Revoke all ephemeral keys' }).click();
    await expectAccessible(dialogOf(page));
    await because(page, 'a leak');
    await dialogOf(page).getByRole('button', { name: 'Revoke all' }).click();
    await page.getByText('There are no valid ephemeral keys.').waitFor();
    for (const key of [alice, heidi]) expect((await on.pay(key, 1)).status).toBe(401);
    await on.proxy.get(on.keys.shop, '/v1/limits').expect(200);
  });

  it('lists people in pages', async () => {
    await on.proxy.database.query(
      `INSERT INTO person (id, client_id, sha256)
       SELECT uuid_floor(now() - n * interval '1 day'), id, sha256(n::text::bytea)
       FROM client, generate_series(1, 51) n WHERE name = 'shop'`,
    );
    const page = await on.visit(on.keys.ada, LIST);
    await rowOf(page, 'alice').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await rowOf(page, 'alice').waitFor({ state: 'detached' });
    await rowOf(page, 'without a name').first().waitFor();
  });

  it('fits a phone', async () => {
    const page = await on.visit(on.keys.ada, LIST, 360);
    for (const [path, text] of [
      [LIST, 'alice'],
      [`${LIST}/${await on.idOf('alice')}`, 'Change limits'],
      ['/clients/shop', 'Permissions and limits'],
    ] as const) {
      await follow(page, path);
      await page.getByRole('main').getByText(text).first().waitFor();
      expect([path, await widthOf(page)]).toEqual([path, 360]);
      if (path !== '/clients/shop') await expectAccessible(page); // operating.ts checks that page
    }
    await follow(page, LIST);
    await page.getByRole('button', { name: 'Limit a person' }).click();
    await dialogOf(page).getByLabel('Daily cap').waitFor();
    expect(await widthOf(page)).toBe(360);
    await expectAccessible(dialogOf(page));
  });
});
