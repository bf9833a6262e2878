/** One page of a list. */
export interface Page<Entry> {
  entries: Entry[];
  /** Token for the page after this one. Undefined on the last page. */
  nextPageToken: string | undefined;
}

/**
 * A paged list, which is read only while you iterate it.
 * @example
 * for await (const call of client.calls.list()) console.log(call.id);
 * for await (const { entries } of client.calls.list({ pageSize: 100 }).byPage()) console.log(entries.length);
 */
export class Pages<Entry> implements AsyncIterable<Entry> {
  constructor(
    private readonly read: (pageToken: string | undefined) => Promise<Page<Entry>>,
    private readonly from?: string,
  ) {}

  /** Yields the pages. Pass `nextPageToken` as `pageToken` to continue later. */
  async *byPage(): AsyncGenerator<Page<Entry>, void, undefined> {
    let token = this.from;
    do {
      const page = await this.read(token);
      yield page;
      token = page.nextPageToken;
    } while (token !== undefined);
  }

  /** Yields every entry. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const { entries } of this.byPage()) yield* entries;
  }
}
