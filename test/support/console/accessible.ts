import { readFileSync } from 'node:fs';
import { Locator, Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Of the Web Content Accessibility Guidelines 2.1, levels A and AA. */
const WCAG_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Waits until colours no longer change: each element begins with its own once its parent has ended. */
const SETTLED = `(async () => {
  const moving = () => document.getAnimations().filter((each) => each instanceof CSSTransition);
  while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;

/**
 * Contrast is most of what axe takes time for. Two elements have the same colours if they and all elements around them have
 * the same tags and attributes, such as the rows of a table or the frame around all pages. `colours` gives the elements of a
 * part that have text in colours that were not checked before, and marks them for axe's rule.
 */
const COLOURS = `(() => {
  const NOT_LOOKS = /^(id|for|href|name|title|value|datetime|aria-(label|labelledby|describedby|controls|owns)|data-contrast)$/;
  const GENERATED = /__m__\\S+/g; // the component library's own, different for each element
  const CONTROLS = 'input, select, textarea';
  const looks = new Map();
  const numberOf = (look) => looks.get(look) ?? (looks.set(look, looks.size + 1), looks.size);
  const checked = { light: new Set(), dark: new Set() };
  const hasText = (element) =>
    element.matches(CONTROLS) || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  globalThis.colours = (part, scheme) => {
    const marked = [];
    const visit = (element, around) => {
      const attributes = [...element.attributes].filter(({ name }) => !NOT_LOOKS.test(name));
      const named = attributes.map(({ name, value }) => name + '=' + value.replace(GENERATED, '')).sort();
      const look = [around, element.tagName, ...named].join(' ');
      const number = numberOf(look);
      element.removeAttribute('data-contrast');
      if (part.contains(element) && hasText(element) && element.checkVisibility() && !checked[scheme].has(number)) {
        checked[scheme].add(number);
        element.setAttribute('data-contrast', '');
        marked.push(element);
      }
      for (const child of element.children) visit(child, number);
    };
    visit(document.documentElement, 0);
    return marked;
  };
  axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] });
})()`;

/** As much of the scripts above as is used. The types of axe need those of a browser. */
interface InPage {
  axe: {
    run(
      element: unknown,
      options: object,
    ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
  };
  colours: (element: unknown, scheme: string) => unknown[];
}

/**
 * Checks a page, or a part of it, against WCAG in light and in dark, which differ in nothing but their colours. The specs call
 * it once for each page and each dialog.
 */
export async function expectAccessible(what: Page | Locator): Promise<void> {
  const part = 'page' in what ? what : what.locator('html');
  const page = part.page();
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(`${AXE}; ${COLOURS}`);
  for (const [colorScheme, rules] of [
    ['light', { type: 'tag', values: WCAG_AA }],
    ['dark', { type: 'rule', values: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await page.evaluate(SETTLED);
    const faults = await part.evaluate(
      async (element, { colorScheme, runOnly }) => {
        const { axe, colours } = globalThis as unknown as InPage;
        const isNew = colours(element, colorScheme).length > 0;
        if (colorScheme === 'dark' && !isNew) return [];
        const { violations } = await axe.run(element, { runOnly, resultTypes: ['violations'] });
        return violations.map(({ id, nodes: [first] }) => `${id}: ${first?.html} ${first?.failureSummary}`);
      },
      { colorScheme, runOnly: rules },
    );
    expect([colorScheme, faults]).toEqual([colorScheme, []]);
  }
}
