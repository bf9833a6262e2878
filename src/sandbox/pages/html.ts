/** Markup that is safe to show. Texts of callers in it are escaped. */
export class Html {
  constructor(readonly markup: string) {}
}

type Part = Html | string | number | undefined | false | Part[];

/**
 * Builds markup from a template. Values are escaped unless they are markup themselves, and `undefined` and `false` are
 * left out.
 */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, index) => text + markupOf(parts[index])).join(''));
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(markupOf).join('\n');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
