import { Pages } from './pages.ts';
import type { Reader } from './reader.ts';
import type { CallPage, CallRecord, FullCallRecord, Receipt } from './types.ts';

interface Reading {
  signal?: AbortSignal | undefined;
}

/** Which calls to list. */
export interface CallSearch extends Reading {
  idempotencyKey?: string;
  /** The name of the operation, such as `POST /payouts/airtime`. */
  operation?: string;
  /** Calls per page. */
  pageSize?: number;
  /** Where to continue. */
  pageToken?: string;
}

/** Your own calls, as the proxy has them on record. */
export class Calls {
  constructor(private readonly reader: Reader) {}

  /**
   * Reads a call: its outcome, and the state of each payout.
   * @param wait how many seconds the proxy waits for news before it answers.
   */
  async get(id: string, { wait, signal }: Reading & { wait?: number } = {}): Promise<FullCallRecord> {
    const path = `/v1/calls/${encodeURIComponent(id)}`;
    const extraMs = (wait ?? 0) * 1_000;
    const { body } = await this.reader.read({ method: 'GET', path, query: { wait }, signal, extraMs });
    return body as FullCallRecord;
  }

  /** Lists your calls, newest first. */
  list({ idempotencyKey, operation, pageSize, pageToken, signal }: CallSearch = {}): Pages<CallRecord> {
    return new Pages(async (token) => {
      const query = { idempotency_key: idempotencyKey, operation, page_size: pageSize, page_token: token };
      const { body } = await this.reader.read({ method: 'GET', path: '/v1/calls', query, signal });
      const { calls, next_page_token } = body as CallPage;
      return { entries: calls, nextPageToken: next_page_token ?? undefined };
    }, pageToken);
  }

  /**
   * Returns the receipt of a call. `verifyReceipt` checks it offline. A new record is sealed within seconds.
   */
  async receipt(id: string, { signal }: Reading = {}): Promise<Receipt> {
    const path = `/v1/calls/${encodeURIComponent(id)}/receipt`;
    return (await this.reader.read({ method: 'GET', path, signal })).body as Receipt;
  }
}
