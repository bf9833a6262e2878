import { Page } from 'playwright-core';
import { ClientsService } from '../../src/access/clients/clients.service';
import { NO_PROVIDERS } from '../support/access/clients-api';
import { expectAccessible } from '../support/console/accessible';
import { complaintsOf, widthOf } from '../support/console/console';
import { ConsoleScene, startConsoleScene } from '../support/console/console-scene';

const ISSUER = 'https://id.example';

/** The forms of a client's providers of access tokens and of page sessions. */
describe('the console form of identity providers', () => {
  let scene: ConsoleScene;
  let admin: string;

  beforeAll(async () => {
    scene = await startConsoleScene();
    admin = (await scene.proxy.client('admin', 'admin', 'audit')).key;
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    await clients.create('phone', ['pay'], { kind: 'public' });
    await clients.create('shop', ['pay'], { kind: 'public', origins: ['https://shop.example'] });
  });
  afterAll(() => scene.close());

  const dialogOf = (page: Page) => page.getByRole('dialog');
  const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
  const errorOf = async (page: Page, label: string): Promise<string> => {
    const input = field(page, label);
    expect([label, await input.getAttribute('aria-invalid')]).toEqual([label, 'true']);
    const ids = (await input.getAttribute('aria-describedby'))?.split(' ').filter(Boolean) ?? [];
    return (await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()))).join(' ');
  };
  /** Saves the form. @returns the body of the request. */
  const save = async (page: Page): Promise<unknown> => {
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      page.getByRole('button', { name: 'Save' }).click(),
    ]);
    return request.postDataJSON() as unknown;
  };
  const saved = (page: Page) => page.getByText('There are no changes to save').waitFor();
  const clientOf = async (name: string) =>
    (await scene.proxy.get(admin, `/v1/clients/${name}` as '/v1/clients/{name}').expect(200)).body;

  it('sets, changes and removes the provider of access tokens', async () => {
    const page = await scene.visit(admin, '/clients/phone');
    const complaints = complaintsOf(page);
    await field(page, 'Token issuer').fill('http://id.example');
    await field(page, 'Token audience').fill('two words');
    await field(page, 'URL of its keys (JWKS)').fill(`${ISSUER}/jwks`);
    await save(page);
    await page.getByText('must be a URL with https').first().waitFor();
    expect(await errorOf(page, 'Token issuer')).toContain('must be a URL with https');
    expect(await errorOf(page, 'Token audience')).toContain('printable ASCII characters without spaces');
    await expectAccessible(page);
    await field(page, 'Token issuer').fill(ISSUER);
    await field(page, 'Token audience').fill('https://pay.example');
    await save(page);
    await page.getByText('is required for a client that accepts access tokens').waitFor();
    expect(await errorOf(page, 'Client ID of the app')).toContain(
      'is required for a client that accepts access tokens',
    );
    complaints.length = 0; // the browser complains about the refused requests
    await field(page, 'Client ID of the app').fill(' phone-app ');
    await page.getByText('Token issuer: https://id.example, was none').waitFor();
    expect(await save(page)).toEqual({
      token_issuer: ISSUER,
      token_audience: 'https://pay.example',
      token_jwks_uri: `${ISSUER}/jwks`,
      token_client_id: 'phone-app',
    });
    await saved(page);
    await page.getByRole('cell', { name: 'tokens of the provider', exact: true }).waitFor();
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Save' }) });
    for (const algorithm of ['ES256', 'RS256', 'PS256', 'EdDSA']) {
      await form.getByText(algorithm, { exact: true }).first().waitFor();
    }

    await page.getByRole('combobox', { name: 'Signature algorithms' }).press('Space');
    await page.getByRole('option', { name: 'RS256' }).click();
    await page.keyboard.press('Escape');
    await field(page, 'Tokens bound to a key').check();
    await page
      .getByText('Signature algorithms: ES256, PS256, EdDSA, was ES256, RS256, PS256, EdDSA')
      .waitFor();
    await page.getByText('Tokens bound to a key: yes, was no').waitFor();
    expect(await save(page)).toEqual({ token_algorithms: ['ES256', 'PS256', 'EdDSA'], token_dpop: true });
    await saved(page);
    await page.getByRole('row').filter({ hasText: 'tokens of the provider' }).nth(1).waitFor();

    await field(page, 'Token issuer').fill('');
    await page.getByText('Token issuer: none, was https://id.example').waitFor();
    expect(await save(page)).toEqual({ token_issuer: null });
    await saved(page);
    for (const label of [
      'Token issuer',
      'Token audience',
      'URL of its keys (JWKS)',
      'Client ID of the app',
    ]) {
      expect([label, await field(page, label).inputValue()]).toEqual([label, '']);
    }
    expect(await field(page, 'Tokens bound to a key').isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Revoke tokens of the provider' }).waitFor({ state: 'detached' });
    expect(await clientOf('phone')).toMatchObject(NO_PROVIDERS);
    expect(complaints).toEqual([]);
  });

  it('sets, changes and removes the page provider, and ends all sessions by its key', async () => {
    const page = await scene.visit(admin, '/clients/shop');
    const complaints = complaintsOf(page);
    await page.getByText('or sign in to its pages').waitFor();
    await field(page, 'Page issuer').fill('id.example');
    await field(page, 'Client ID at the page issuer').fill('ä');
    await save(page);
    await page.getByText('must be a URL with https').first().waitFor();
    expect(await errorOf(page, 'Page issuer')).toContain('must be a URL with https');
    expect(await errorOf(page, 'Client ID at the page issuer')).toContain(
      'printable ASCII characters without spaces',
    );
    await expectAccessible(page);
    await field(page, 'Page issuer').fill(ISSUER);
    await field(page, 'Client ID at the page issuer').fill('');
    await save(page);
    await page.getByText('is required for a client with page sessions').waitFor();
    expect(await errorOf(page, 'Client ID at the page issuer')).toContain(
      'is required for a client with page sessions',
    );
    complaints.length = 0; // the browser complains about the refused requests
    await field(page, 'Client ID at the page issuer').fill('shop-pages');
    await page.getByText('Page issuer: https://id.example, was none').waitFor();
    expect(await save(page)).toEqual({ page_issuer: ISSUER, page_client_id: 'shop-pages' });
    await saved(page);
    await page.getByRole('cell', { name: 'sessions on pages', exact: true }).waitFor();

    const origins = page.getByRole('combobox', { name: 'Web origins' });
    await origins.press('Backspace');
    await save(page);
    await page.getByText('is required for a client with page sessions').waitFor();
    complaints.length = 0;
    await origins.fill('https://shop.example');
    await origins.press('Enter');
    await saved(page);

    await field(page, 'Client ID at the page issuer').fill('new-pages');
    await page.getByText('Client ID at the page issuer: new-pages, was shop-pages').waitFor();
    await save(page);
    await page.getByRole('row').filter({ hasText: 'sessions on pages' }).nth(1).waitFor();
    expect(await clientOf('shop')).toMatchObject({ page_issuer: ISSUER, page_client_id: 'new-pages' });

    await page.getByRole('button', { name: 'Revoke sessions on pages' }).click();
    await dialogOf(page).getByText('All page sessions of the client shop are rejected').waitFor();
    await dialogOf(page).getByText('remove the provider of page sessions and set it again').waitFor();
    await expectAccessible(dialogOf(page));
    await dialogOf(page).getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('button', { name: 'Revoke sessions on pages' }).waitFor({ state: 'detached' });

    await field(page, 'Page issuer').fill('');
    await page.getByText('Page issuer: none, was https://id.example').waitFor();
    expect(await save(page)).toEqual({ page_issuer: null });
    await saved(page);
    expect(await field(page, 'Client ID at the page issuer').inputValue()).toBe('');
    expect(await clientOf('shop')).toMatchObject(NO_PROVIDERS);
    expect(complaints).toEqual([]);
  });

  it('sets both for a new client', async () => {
    const page = await scene.visit(admin, '/clients');
    const complaints = complaintsOf(page);
    await page.getByRole('button', { name: 'New client' }).click();
    const fields = {
      Name: 'both',
      'Daily cap, USD': '10',
      'Token issuer': ISSUER,
      'Token audience': 'https://pay.example',
      'URL of its keys (JWKS)': `${ISSUER}/jwks`,
      'Client ID of the app': 'both-app',
      'Page issuer': ISSUER,
    };
    await dialogOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('public');
    for (const [label, text] of Object.entries(fields))
      await dialogOf(page).getByLabel(label).first().fill(text);
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    await dialogOf(page).getByText('is required for a client with page sessions').first().waitFor();
    await expectAccessible(dialogOf(page));
    complaints.length = 0; // the browser complains about the refused request
    await dialogOf(page).getByLabel('Client ID at the page issuer').fill('both-pages');
    await dialogOf(page).getByRole('combobox', { name: 'Web origins' }).fill('https://both.example');
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'tokens of the provider', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'sessions on pages', exact: true }).waitFor();
    expect(await clientOf('both')).toMatchObject({
      token_client_id: 'both-app',
      page_client_id: 'both-pages',
    });
    expect(complaints).toEqual([]);
  });

  it('fits a phone', async () => {
    const page = await scene.visit(admin, '/clients/both', 360);
    await page.getByRole('heading', { name: 'Provider of page sessions' }).waitFor();
    await page.getByRole('cell', { name: 'sessions on pages', exact: true }).waitFor();
    expect(await widthOf(page)).toBe(360);
    await expectAccessible(page);
  });
});
