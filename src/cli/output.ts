import { InvalidArgumentError, Option } from 'commander';

/** Prints a result: one line of JSON for machines, a table for people. */
export function print(result: object | object[], json: boolean | undefined): void {
  const rows: object[] = Array.isArray(result) ? (result as object[]) : [result];
  process.stdout.write(`${json ? JSON.stringify(result).replace(UNSEEN, escaped) : table(rows)}\n`);
}

/**
 * Characters that move a terminal's cursor, color it or reverse its text. Upstreams, statements and callers
 * may write them.
 */
const UNSEEN = /[^\n\P{Cc}]|\p{Bidi_Control}/gu;

/** Makes untrusted text safe to print on a terminal. */
export function forTerminal(text: string): string {
  return text.replace(UNSEEN, '\ufffd');
}

/** Escapes a character. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

type Cell = string | number | boolean | object | null | undefined;

function table(rows: object[]): string {
  const [first] = rows;
  if (!first) return '(none)';
  const header = Object.keys(first);
  const lines = [
    header,
    ...rows.map((row) => header.map((name) => cell((row as Record<string, Cell>)[name]))),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return forTerminal(value.join(',')).replaceAll('\n', ' ');
  return forTerminal(typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\n', ' ');
}

/** Filters of a list: names and values of query parameters. */
export type Filters = [name: string, value: string][];

/**
 * An option that can be repeated. The proxy checks its names and values.
 * @param example a filter of the list, for the message about another text.
 */
export function filterOption(description: string, example: string): Option {
  return new Option('--filter <name=value>', description)
    .default([])
    .argParser((given: string, before: Filters): Filters => {
      const place = given.indexOf('=');
      if (place < 1) throw new InvalidArgumentError(`It must be name=value, such as ${example}.`);
      return [...before, [given.slice(0, place), given.slice(place + 1)]];
    });
}

export const PAGE_TOKEN = ['--page-token <token>', 'token of the next page, from the previous list'] as const;

/** Returns the query of a page of 200 rows. */
export function pageQuery(filters: Filters, pageToken: string | undefined): string {
  const query = new URLSearchParams([...filters, ['page_size', '200']]);
  if (pageToken !== undefined) query.set('page_token', pageToken);
  return query.toString();
}

/** Prints the page for machines, or its rows and where the next page begins for people. */
export function printPage(
  page: { next_page_token: string | null },
  rows: object[],
  json: boolean | undefined,
): void {
  print(json ? page : rows, json);
  if (!json && page.next_page_token)
    process.stdout.write(`Next page: --page-token ${page.next_page_token}\n`);
}
