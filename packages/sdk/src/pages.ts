/** One page of a list. */
export interface Page<Entry> {
  entries: Entry[];
  /** Undefined on the last page. */
  nextPageToken: string | undefined;
}

/**
 * A list that arrives in pages. Iterate it to get every entry, or `byPage()` to get one page at a time.
 * Nothing is read before you do.
 */
export class Pages<Entry> implements AsyncIterable<Entry> {
  constructor(
    private readonly read: (pageToken: string | undefined) => Promise<Page<Entry>>,
    private readonly from?: string,
  ) {}

  /** Yields the pages. `nextPageToken` continues later where a page ended. */
  async *byPage(): AsyncGenerator<Page<Entry>, void, undefined> {
    let token = this.from;
    do {
      const page = await this.read(token);
      yield page;
      token = page.nextPageToken;
    } while (token !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const { entries } of this.byPage()) yield* entries;
  }
}
