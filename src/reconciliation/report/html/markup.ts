/** Text that is already HTML. All other text is escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | Markup[] | string | number | false | null | undefined;

/** White space of the source that does not belong to the page. */
const INDENTATION = /\n\s+/g;

/** Builds HTML. It escapes inserted values unless they are `Markup`, and omits missing values. */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(
    texts.map((text, place) => text.replace(INDENTATION, '\n') + written(parts[place])).join(''),
  );
}

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(({ text }) => text).join('');
  return escaped(String(part));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const MARKS = {
  tick: markup`<path d="M2.5 8.5 6.5 12.5 13.5 4" class="line"/>`,
  cross: markup`<path d="M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5" class="line"/>`,
  triangle: markup`<path d="M8 1.5 15.5 14.5H0.5Z"/>`,
};

/** Draws a symbol without a font. */
export function mark(name: keyof typeof MARKS): Markup {
  return markup`<svg viewBox="0 0 16 16" aria-hidden="true" class="mark">${MARKS[name]}</svg>`;
}
