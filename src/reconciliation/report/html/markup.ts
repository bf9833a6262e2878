/** Text that is HTML already; all other text is escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Part = Markup | Markup[] | string | number | false | null | undefined;

/** Of the source, not of the page. */
const INDENTATION = /\n\s+/g;

/** Puts HTML together: what is put in is escaped, unless it is `Markup`; what is not there leaves nothing. */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(texts.map((text, place) => text.replace(INDENTATION, '\n') + written(parts[place])).join(''));
}

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(({ text }) => text).join('');
  return escaped(String(part));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
