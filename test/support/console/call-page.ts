import { Page } from 'playwright-core';

/** Returns the text of a part of a page. */
export const textOf = (page: Page, region: string) =>
  page.getByRole('region', { name: region, exact: true }).innerText();

/** Returns the shown steps of a call's timeline. */
export const timelineOf = (page: Page) =>
  page.getByRole('region', { name: 'History', exact: true }).locator('[role=listitem]').allInnerTexts();

/** The part of the page that shows the proof. */
export const proofOf = (page: Page) => page.getByRole('region', { name: 'Proof', exact: true });

/**
 * Verifies the call on its page.
 * @returns the shown steps.
 */
export async function verify(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText(/^(Verified|Verification FAILED)$/).waitFor();
  return page.getByRole('list', { name: 'Steps of the verification' }).getByRole('listitem').allInnerTexts();
}

/** Returns the result of each of these steps. */
export const results = (steps: string[]) =>
  steps.map((step) => /\((right|wrong|not compared)\)/.exec(step)?.[1]);
