import { Pages } from './transport/pages.ts';
import type { Reader, ReadOptions } from './transport/reader.ts';
import type { CallPage, CallRecord, FullCallRecord, Receipt } from './types.ts';

/** Filters of a list of calls. */
export interface CallSearch extends ReadOptions {
  /** Idempotency key of the call. */
  idempotencyKey?: string;
  /** Name of the operation, such as `POST /payouts/airtime`. */
  operation?: string;
  /** State of the call, such as `queued`. */
  state?: CallRecord['outcome'];
  /** Number of calls per page. Defaults to the proxy's. */
  pageSize?: number;
  /** `nextPageToken` of an earlier page, to continue after it. */
  pageToken?: string;
}

/** Your own calls in the proxy's records. */
export class Calls {
  constructor(private readonly reader: Reader) {}

  /**
   * Reads a call: its outcome, and the state of each payout.
   * @param wait maximum number of seconds that the proxy waits for a change. Default: 0.
   * @throws ApiError for an unknown call, and {@link NetworkError} after all retries.
   * @example
   * const { outcome, items } = await client.calls.get(callId, { wait: 20 });
   */
  async get(id: string, { wait, signal }: ReadOptions & { wait?: number } = {}): Promise<FullCallRecord> {
    const path = `/v1/calls/${encodeURIComponent(id)}`;
    const extraMs = (wait ?? 0) * 1_000;
    const { body } = await this.reader.read({ method: 'GET', path, query: { wait }, signal, extraMs });
    return body as FullCallRecord;
  }

  /**
   * Lists your calls, newest first.
   * @example
   * for await (const { id, outcome } of client.calls.list({ operation: 'POST /payouts/airtime' }))
   *   console.log(id, outcome);
   */
  list(search: CallSearch = {}): Pages<CallRecord> {
    const { idempotencyKey, operation, state, pageSize, pageToken, signal } = search;
    return new Pages(async (token) => {
      const filters = { idempotency_key: idempotencyKey, operation, state };
      const query = { ...filters, page_size: pageSize, page_token: token };
      const { body } = await this.reader.read({ method: 'GET', path: '/v1/calls', query, signal });
      const { calls, next_page_token } = body as CallPage;
      return { entries: calls, nextPageToken: next_page_token ?? undefined };
    }, pageToken);
  }

  /**
   * Returns the receipt of a call, for `verifyReceipt`. Waits while a new record is not sealed yet.
   * @throws ApiError for an unknown call.
   */
  async receipt(id: string, { signal }: ReadOptions = {}): Promise<Receipt> {
    const path = `/v1/calls/${encodeURIComponent(id)}/receipt`;
    return (await this.reader.read({ method: 'GET', path, signal })).body as Receipt;
  }
}
