import { Markup, markup } from './markup';

const MARKS = {
  tick: markup`<path d="M2.5 8.5 6.5 12.5 13.5 4" class="line"/>`,
  cross: markup`<path d="M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5" class="line"/>`,
  triangle: markup`<path d="M8 1.5 15.5 14.5H0.5Z"/>`,
};

/** Draws a sign that needs no font. */
export function mark(name: keyof typeof MARKS): Markup {
  return markup`<svg viewBox="0 0 16 16" aria-hidden="true" class="mark">${MARKS[name]}</svg>`;
}
