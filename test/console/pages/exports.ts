import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import {
  button,
  CallsScene,
  EMAIL,
  everyShown,
  HANDLE,
  MANY,
  MASKED_PHONE,
  PHONE,
  shown,
  callsScene,
  table,
} from '../../support/console/calls-scene';
import { startAfresh } from '../../support/console/console';

/** Exports and people of the lists of calls and payouts. */
describe("the console's exports, and the people in its lists", () => {
  let scene: CallsScene;

  beforeAll(async () => (scene = await callsScene()));

  it('export the shown calls with progress, and check the file against the manifest', async () => {
    const page = await scene.open(`/calls?page_size=100&recipient_prefix=${encodeURIComponent('+2547000')}`);
    const listed = await shown(page, MANY);
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    await page.route('**/v1/audit/export*', async (route) => {
      await gate;
      await route.continue();
    });
    await button(page, 'Export').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByRole('progressbar').waitFor();
    const download = page.waitForEvent('download');
    go();
    const file = await (await download).path();
    await dialog.getByText(`Complete, ${MANY} rows`).waitFor();
    await dialog.getByText('The checksum matches').waitFor();
    const rows: { id: string; outcome: string }[] = parse(readFileSync(file, 'utf8'), { columns: true });
    expect(rows.map(({ id }) => id)).toEqual([...listed].reverse());
    const saving = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save the manifest' }).click();
    const manifest = await saving;
    expect(manifest.suggestedFilename()).toMatch(/\.csv\.manifest\.json$/);
    expect(JSON.parse(readFileSync(await manifest.path(), 'utf8'))).toMatchObject({
      rows: MANY,
      format: 'csv',
    });
  });

  it('discard an export that was cancelled, or that differs from its manifest', async () => {
    const page = await scene.open('/payouts');
    const downloads: unknown[] = [];
    page.on('download', (download) => downloads.push(download));
    await button(page, 'Export').click();
    const dialog = page.getByRole('dialog');
    await page.route('**/v1/audit/export*', () => new Promise(() => undefined));
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('progressbar').waitFor({ state: 'hidden' });
    await page.unroute('**/v1/audit/export*');
    for (const [pattern, replacement, says] of [
      ['Kenya', 'Kenia', 'The export was changed in transit'],
      [/\r\n[^\n]*\r\n$/, '\r\n', 'rows, but its manifest says'],
    ] as const) {
      await page.route('**/v1/audit/export*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(pattern, replacement) });
      });
      await dialog.getByRole('button', { name: 'Export' }).click();
      await dialog.getByText(says).waitFor();
      await page.unroute('**/v1/audit/export*');
    }
    expect(downloads).toEqual([]);
  });

  it('reveal people to permitted keys, announce the record, and mask them again', async () => {
    const page = await scene.open(`/payouts?upstream_ref=&recipient=${encodeURIComponent(PHONE)}`);
    await page.getByText(MASKED_PHONE).waitFor();
    await page.getByLabel('Show people (recorded)').check();
    await table(page, 'Payouts').getByText(PHONE).waitFor();
    const { body } = await scene.proxy.get(scene.seeing, '/v1/audit/accesses?page_size=1').expect(200);
    expect(body.accesses[0]).toMatchObject({ revealed: true, call_ids: [scene.toPhone] });
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await page.goBack();
    await table(page, 'Payouts').getByText(MASKED_PHONE).waitFor();
    expect(await page.getByLabel('Show people (recorded)').isChecked()).toBe(false);
  });

  it('never show an unmasked person to an auditor without `audit:pii`, on any page', async () => {
    const page = await scene.open('/calls', scene.masked);
    const bodies: string[] = [];
    // Other requests load the console's own files.
    await page.route('**/v1/**', async (route) => {
      const response = await route.fetch();
      bodies.push(await response.text());
      await route.fulfill({ response });
    });
    await startAfresh(page, '/calls');
    await everyShown(scene, page);
    expect(await page.getByText('Show people').count()).toBe(0);
    await button(page, 'Sum up').click();
    await table(page, 'Sums').waitFor();
    for (const recipient of [PHONE, EMAIL, HANDLE]) {
      await startAfresh(page, `/payouts?${new URLSearchParams({ recipient }).toString()}`);
      await page.getByText(/requires a key with the scope audit:pii/).waitFor();
    }
    await startAfresh(page, '/payouts');
    await table(page, 'Payouts').getByText(MASKED_PHONE).waitFor();
    expect(await page.getByLabel('Recipient', { exact: true }).isDisabled()).toBe(true);
    for (const format of ['CSV', 'NDJSON']) {
      await button(page, 'Export').click();
      await page.getByText('your key does not have access to them').waitFor();
      await page.getByRole('radio', { name: format, exact: true }).check();
      await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
      await page.getByText('The checksum matches').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    await table(page, 'Payouts').getByRole('link').first().click();
    await page.waitForURL(/calls\/[0-9a-f-]{36}$/);
    await startAfresh(page, `/calls/${scene.toPhone}`);
    await page.getByRole('region', { name: 'Items' }).getByText(MASKED_PHONE).waitFor();
    await page.getByRole('region', { name: 'Readers' }).getByText('masked').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' }); // The page polls, even while the browser closes.
    const wire = bodies.join('\n');
    for (const part of [scene.toPhone, MASKED_PHONE, '"sha256"', 'Kenya']) expect(wire).toContain(part);
    for (const person of [PHONE.slice(1), EMAIL, HANDLE]) {
      expect(wire.toLowerCase().split(person.toLowerCase())).toHaveLength(1);
    }
  });
});
