import { Locator, Page } from 'playwright-core';
import { phones } from '../payments/paying';
import { signIn } from './console';
import { startConsoleScene } from './console-scene';

/** Number of payouts to phones without other calls. */
export const MANY = 12;

export const PHONE = '+254712345678';
export const MASKED_PHONE = '+254••••5678';
export const EMAIL = 'ada.lovelace@example.com';
export const HANDLE = '@AdaLovelace';

/** A scene with payouts to many phones and to the people above, a refused request, and a browser. */
async function startCallsScene() {
  const { proxy, browser, visit, close } = await startConsoleScene();
  const { key: app } = await proxy.client('app', 'pay', 'read');
  const { key: seeing } = await proxy.client('seeing', 'audit', 'audit:pii');
  const { key: masked } = await proxy.client('masked', 'audit');
  const pay = async (path: string, body: object, status = 200) =>
    (await proxy.post(app, path, body).expect(status)).headers['x-call-id'] as string;
  const airtime = (phoneNumber: string, valueInUSD: number) =>
    pay('/payouts/airtime', { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] });

  const toMany: string[] = [];
  for (const phone of phones(MANY)) toMany.push(await airtime(phone, 1));
  const toPhone = await airtime(PHONE, 2.5);
  const credits = [
    { email: EMAIL, valueInUSD: 3 },
    { twitter: HANDLE, valueInUSD: 4 },
  ];
  await pay('/payouts/credit', { credits });
  await pay('/payouts/airtime', {}, 400);
  return {
    proxy,
    seeing,
    masked,
    toMany,
    toPhone,
    /** Returns the number of calls, including the proxy's own and refused requests of auditors. */
    count: async (filters = ''): Promise<number> => {
      const { body } = await proxy.get(masked, `/v1/audit/calls?page_size=200&${filters}`).expect(200);
      return body.calls.length;
    },
    open: async (at: string, key = seeing, width = 1280): Promise<Page> => {
      const page = await visit(key, at, width);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    },
    /** Uses a separate profile. */
    openElsewhere: (at: string): Promise<Page> => signIn(browser, proxy.url, seeing, { at }),
    close,
  };
}

export type CallsScene = Awaited<ReturnType<typeof startCallsScene>>;

let scene: Promise<CallsScene> | undefined;

/** Shared within a spec file, which closes it. */
export const callsScene = () => (scene ??= startCallsScene());

export const field = (page: Page, label: string): Locator => page.getByLabel(label, { exact: true });
export const table = (page: Page, name: string): Locator => page.getByRole('table', { name });
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** Returns the IDs of the shown calls, once there are this many. */
export async function shown(page: Page, rows: number, name = 'Calls'): Promise<string[]> {
  await table(page, name).locator(`tbody > tr:nth-child(${rows}):last-child`).waitFor();
  await page.locator('[aria-busy=false]').waitFor();
  const links = table(page, name).locator('tbody a');
  return links.evaluateAll((all: { getAttribute(name: string): string | null }[]) =>
    all.map((link) => link.getAttribute('href')?.split('/').at(-1) ?? ''),
  );
}

/** Waits until every call is shown. Reloads, because the proxy also records calls of its own. */
export async function everyShown(scene: CallsScene, page: Page, filters = ''): Promise<void> {
  const rows = table(page, 'Calls').locator('tbody > tr');
  for (let tries = 0; tries < 10; tries++) {
    await rows.first().waitFor();
    await page.locator('[aria-busy=false]').waitFor();
    if ((await rows.count()) === (await scene.count(filters))) return;
    await page.reload();
  }
  throw new Error('The list and the API do not agree on the number of calls.');
}
