import { InvalidArgumentError, Option } from 'commander';
import { print } from './output';

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
export function printPage(page: { next_page_token: string | null }, rows: object[], json: boolean | undefined): void {
  print(json ? page : rows, json);
  if (!json && page.next_page_token) process.stdout.write(`Next page: --page-token ${page.next_page_token}\n`);
}
