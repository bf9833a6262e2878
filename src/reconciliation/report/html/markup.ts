/** Text that is already HTML. All other text is escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Part = Markup | Markup[] | string | number | false | null | undefined;

/** White space of the source that is no part of the page. */
const INDENTATION = /\n\s+/g;

/** Builds HTML. It escapes inserted values unless they are `Markup`, and leaves out missing values. */
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
