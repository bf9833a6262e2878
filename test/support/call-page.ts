import { Page } from 'playwright-core';

/** What stands in a part of a page. */
export const textOf = (page: Page, region: string) =>
  page.getByRole('region', { name: region, exact: true }).innerText();

/** The steps of a call's story, as they stand there. */
export const storyOf = (page: Page) =>
  page.getByRole('region', { name: 'History', exact: true }).locator('[role=listitem]').allInnerTexts();

/** The part of the page that shows the proof. */
export const proofOf = (page: Page) => page.getByRole('region', { name: 'Proof', exact: true });

/** Has the page of a call verify it. @returns the steps, as they stand there. */
export async function verify(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText(/^(Verified|Verification FAILED)$/).waitFor();
  return page.getByRole('list', { name: 'Steps of the verification' }).getByRole('listitem').allInnerTexts();
}

/** What each of these steps found. */
export const results = (steps: string[]) => steps.map((step) => /\((right|wrong|not compared)\)/.exec(step)?.[1]);
