import { Page } from 'playwright-core';
import { expectAccessible } from '../../support/console/accessible';
import {
  button,
  CallsScene,
  everyShown,
  field,
  MANY,
  MASKED_PHONE,
  PHONE,
  shown,
  callsScene,
  table,
} from '../../support/console/calls-scene';
import { complaintsOf, follow, widthOf } from '../../support/console/console';

/** The filters, columns, views and pages of the lists of calls and payouts. */
describe("the console's lists of calls and payouts", () => {
  let scene: CallsScene;

  beforeAll(async () => (scene = await callsScene()));

  const chosen = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true });
  async function choose(page: Page, name: string, option: string): Promise<void> {
    await chosen(page, name).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  }

  it('find a payout by a phone number in any spelling, and link to its call', async () => {
    const page = await scene.open('/payouts');
    const complaints = complaintsOf(page);
    await field(page, 'Recipient').fill('+254 712 345-678');
    await field(page, 'Recipient').press('Enter');
    expect(await shown(page, 1, 'Payouts')).toEqual([scene.toPhone]);
    expect(new URL(page.url()).search).toBe(`?${new URLSearchParams({ recipient: PHONE }).toString()}`);
    expect(await table(page, 'Payouts').textContent()).toContain(MASKED_PHONE);
    await field(page, 'Recipient').fill('+2547123*');
    await field(page, 'Recipient').press('Enter');
    await page.getByRole('button', { name: 'Remove the filter Recipient starts with +2547123' }).waitFor();
    expect(await shown(page, 1, 'Payouts')).toEqual([scene.toPhone]);
    for (const typed of ['0712 345 678', '712345678', '254712345678']) {
      await field(page, 'Recipient').fill('nobody');
      await field(page, 'Recipient').press('Enter');
      await page.getByText('No payouts match these filters').waitFor();
      await field(page, 'Recipient comparison').selectOption('is');
      await field(page, 'Recipient').fill(typed);
      await field(page, 'Recipient').press('Enter');
      expect(await shown(page, 1, 'Payouts')).toEqual([scene.toPhone]);
    }
    await table(page, 'Payouts').getByRole('link').click();
    await page.waitForURL(`${scene.proxy.url}/console/calls/${scene.toPhone}`);
    expect(complaints).toEqual([]);
  });

  it('search for people only with permitted keys, and explain it to others', async () => {
    const page = await scene.open('/payouts', scene.masked);
    expect(await field(page, 'Recipient').isDisabled()).toBe(true);
    await page.getByText('Searching for a person requires the scope audit:pii.').waitFor();
  });

  it('are reproduced by a link in another profile, and remove a filter with a click', async () => {
    const page = await scene.open('/calls');
    await everyShown(scene, page);
    await choose(page, 'Operation', 'POST /payouts/airtime');
    await choose(page, 'Outcome', 'succeeded');
    await button(page, 'Today').click();
    await field(page, 'Order').selectOption('Largest first');
    await button(page, 'More filters').click();
    await field(page, 'Payout, at least (USD)').fill('1.5');
    await field(page, 'Payout, at least (USD)').press('Tab');
    expect(await shown(page, 1)).toEqual([scene.toPhone]);

    const other = await scene.openElsewhere(`${page.url().slice(`${scene.proxy.url}/console`.length)}`);
    expect(await shown(other, 1)).toEqual([scene.toPhone]);
    expect(await chosen(other, 'Outcome').inputValue()).toBe('succeeded');
    expect(await chosen(other, 'Operation').inputValue()).toBe('POST /payouts/airtime');
    expect(await button(other, 'Today').getAttribute('aria-pressed')).toBe('true');
    await button(other, 'Remove the filter Payout of at least $1.50').click();
    expect((await shown(other, MANY + 1))[0]).toBe(scene.toPhone);
    await other.context().close();
  });

  it("show the proxy's errors at their fields", async () => {
    const page = await scene.open('/calls?min_total_usd=much&from=yesterday&recipient_prefix=a');
    await page.getByRole('alert').waitFor();
    for (const [label, fault] of [
      ['Call, at least (USD)', 'must be a decimal number of US dollars'],
      ['From', 'must be an ISO 8601 time with a time zone'],
      ['Recipient', 'must be 3 to 254 characters from the beginning'],
    ] as const) {
      const ids = await field(page, label).getAttribute('aria-describedby');
      const words = page.locator(
        (ids ?? '')
          .split(' ')
          .map((id) => `[id="${id}"]`)
          .join(', '),
      );
      expect((await words.allTextContents()).join()).toContain(fault);
    }
    await button(page, 'Clear all').click();
    await everyShown(scene, page);
  });

  it('keep the selected columns and views, and recipients only on request', async () => {
    const page = await scene.open('/calls');
    await button(page, 'Columns').click();
    await page.getByRole('checkbox', { name: 'Reference' }).uncheck();
    await page.getByRole('checkbox', { name: 'X-Request-Id' }).check();
    await page.keyboard.press('Escape');
    await choose(page, 'Outcome', 'refused');
    await field(page, 'Recipient').fill(PHONE);
    await field(page, 'Recipient').press('Enter');
    await page.getByText('No calls match these filters').waitFor();
    const save = async (name: string, withRecipient: boolean) => {
      await button(page, 'Views').click();
      await page.getByRole('menuitem', { name: 'Save this view' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      if (withRecipient) await page.getByLabel('Include the recipient').check();
      await button(page, 'Save').click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    };
    const kept = () => page.evaluate<string>('JSON.stringify({ ...localStorage })');
    await save('What was refused', false);
    expect(await kept()).toContain('What was refused');
    expect(await kept()).not.toContain(PHONE.slice(1));
    await save('Of one person', true);
    expect(await kept()).toContain(PHONE);

    await follow(page, '/calls');
    await everyShown(scene, page);
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'What was refused' }).click();
    await everyShown(scene, page, 'outcome=refused');
    expect(new URL(page.url()).search).toBe('?outcome=refused');
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Rename or delete' }).click();
    await page.getByLabel('Name of What was refused').fill('Refusals');
    await page.getByLabel('Name of What was refused').press('Enter');
    await button(page, 'Delete Of one person').click();
    await page.keyboard.press('Escape');
    await page.reload();
    await table(page, 'Calls').waitFor();
    const titles = (await table(page, 'Calls').getByRole('columnheader').allTextContents()).join();
    expect(titles).toBe('Time,Operation,Client,Outcome,Payouts,Total,Recipients,Latency,ID,X-Request-Id');
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Refusals' }).waitFor();
    expect((await page.getByRole('menuitem').allTextContents()).slice(0, 5)).toEqual([
      'In doubt',
      'Pending approval',
      'Rejected today',
      'Largest of last 7 days',
      'Refusals',
    ]);
    expect(await kept()).not.toContain(PHONE.slice(1));
  });

  it('move through pages without repeated rows, and back', async () => {
    const page = await scene.open('/calls?page_size=5&outcome=succeeded&operation=POST+%2Fpayouts%2Fairtime');
    const first = await shown(page, 5);
    const next = async (rows: number, before: string[]) => {
      await button(page, 'Next').click();
      await page.locator(`tbody tr:first-child a[href$="${before[0]}"]`).waitFor({ state: 'detached' });
      return shown(page, rows);
    };
    const second = await next(5, first);
    const third = await next(3, second);
    expect([...first, ...second, ...third]).toEqual([...scene.toMany, scene.toPhone].reverse());
    expect(await button(page, 'Next').isDisabled()).toBe(true);
    await button(page, 'Previous').click();
    await table(page, 'Calls').locator(`tbody tr:first-child a[href$="${second[0]}"]`).waitFor();
    expect(await shown(page, 5)).toEqual(second);
  });

  it('sum up the results of the filters on request', async () => {
    const page = await scene.open('/payouts?client=app');
    await button(page, 'Sum up').click();
    await table(page, 'Sums').getByRole('row', { name: /^All / }).waitFor();
    const rows = await table(page, 'Sums').getByRole('row').allTextContents();
    const calls = await scene.count('client=app');
    expect(rows.slice(1)).toEqual([
      `succeeded${calls - 1}15$21.50$21.50$0.00$0.00$0.00$0.00`,
      'refused10$0.00$0.00$0.00$0.00$0.00$0.00',
      `All${calls}15$21.50$21.50$0.00$0.00$0.00$0.00`,
    ]);
  });

  it('fit a phone', async () => {
    const page = await scene.open('/calls?outcome=succeeded', scene.seeing, 360);
    await table(page, 'Calls').waitFor();
    await button(page, 'More filters').click();
    await field(page, 'Country').waitFor();
    expect(await widthOf(page)).toBe(360);
    await follow(page, '/payouts?outcome=succeeded');
    await table(page, 'Payouts').waitFor();
    expect(await widthOf(page)).toBe(360);
  });

  it('are accessible, with their filters, menus and dialogs', async () => {
    const page = await scene.open('/calls?outcome=succeeded&page_size=3');
    const complaints = complaintsOf(page);
    await table(page, 'Calls').waitFor();
    await button(page, 'More filters').click();
    await field(page, 'Country').waitFor();
    await expectAccessible(page);
    for (const [opener, inside] of [
      [button(page, 'Columns'), 'Latency'],
      [button(page, 'Views'), 'In doubt'],
      [button(page, 'Export'), 'NDJSON'],
      [field(page, 'From'), 'Hours'],
    ] as const) {
      await opener.click();
      const within = page
        .getByLabel(inside, { exact: true })
        .or(page.getByRole('menuitem', { name: inside }));
      await within.last().waitFor();
      await expectAccessible(page.getByRole('dialog').or(page.getByRole('menu')).filter({ has: within }));
      await page.keyboard.press('Escape');
    }
    await follow(page, '/payouts?outcome=succeeded&page_size=3');
    await table(page, 'Payouts').waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});
