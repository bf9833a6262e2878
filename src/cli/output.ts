import { InvalidArgumentError, Option } from 'commander';

/** Prints a result as one line of JSON or as a table. */
export function print(result: object | object[], json: boolean | undefined): void {
  const rows: object[] = Array.isArray(result) ? (result as object[]) : [result];
  process.stdout.write(`${json ? JSON.stringify(result).replace(CONTROLS, escaped) : table(rows)}\n`);
}

/** Characters of untrusted text that move a terminal's cursor, change its color or reverse its text. */
const CONTROLS = /[^\n\P{Cc}]|\p{Bidi_Control}/gu;

/** Makes untrusted text safe to print on a terminal. */
export function forTerminal(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

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
 * Returns a repeatable option. The proxy checks its names and values.
 * @param example a filter of the list, for the error message.
 */
export function filterOption(description: string, example: string): Option {
  return new Option('--filter <name=value>', description)
    .default([], 'none')
    .argParser((text: string, before: Filters): Filters => {
      const index = text.indexOf('=');
      if (index < 1) throw new InvalidArgumentError(`It must be name=value, such as ${example}.`);
      return [...before, [text.slice(0, index), text.slice(index + 1)]];
    });
}

export const PAGE_TOKEN = ['--page-token <token>', 'token of the next page, from the previous list'] as const;

/** Returns the query of a page of 200 rows. */
export function pageQuery(filters: Filters, pageToken: string | undefined): string {
  const query = new URLSearchParams([...filters, ['page_size', '200']]);
  if (pageToken !== undefined) query.set('page_token', pageToken);
  return query.toString();
}

/** Prints a page as JSON, or its rows and the token of the next page. */
export function printPage(
  page: { next_page_token: string | null },
  rows: object[],
  json: boolean | undefined,
): void {
  print(json ? page : rows, json);
  if (!json && page.next_page_token)
    process.stdout.write(`Next page: --page-token ${page.next_page_token}\n`);
}
