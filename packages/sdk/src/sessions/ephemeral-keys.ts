import { Pages } from '../transport/pages.ts';
import type { Reader, ReadOptions } from '../transport/reader.ts';
import type { EphemeralKey, EphemeralKeyPage, IssuedEphemeralKey, NewEphemeralKey } from '../types.ts';

const PATH = '/v1/ephemeral-keys';

/** Keys that your server issues for one person, for use in a page or an app. They need a secret key. */
export class EphemeralKeys {
  constructor(private readonly reader: Reader) {}

  /**
   * Issues a key, which is valid for minutes. Only this answer has its secret.
   * @throws ApiError if your key may not issue it.
   * @example
   * const { key } = await client.ephemeralKeys.create({
   *   actor: 'ada', operations: ['POST /payouts/airtime'], max_total: '20', expires_in: 600,
   * });
   */
  async create(request: NewEphemeralKey, { signal }: ReadOptions = {}): Promise<IssuedEphemeralKey> {
    // A retry after a lost answer issues another key. The secret of the first one is lost.
    const body = JSON.stringify(request);
    const answer = await this.reader.read({ method: 'POST', path: PATH, body, signal });
    return answer.body as IssuedEphemeralKey;
  }

  /**
   * Lists the keys, newest first, without their secrets.
   * @param actor person of the keys. Default: all persons.
   */
  list({
    actor,
    pageSize,
    signal,
  }: ReadOptions & { actor?: string; pageSize?: number } = {}): Pages<EphemeralKey> {
    return new Pages(async (token) => {
      const query = { actor, page_size: pageSize, page_token: token };
      const { body } = await this.reader.read({ method: 'GET', path: PATH, query, signal });
      const { ephemeral_keys, next_page_token } = body as EphemeralKeyPage;
      return { entries: ephemeral_keys, nextPageToken: next_page_token ?? undefined };
    });
  }

  /** Revokes one key, with immediate effect. */
  async revoke(id: string, { signal }: ReadOptions = {}): Promise<void> {
    await this.reader.read({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}`, signal });
  }

  /** Revokes all keys of a person, for example at sign-out. */
  async revokeAll(actor: string, { signal }: ReadOptions = {}): Promise<void> {
    await this.reader.read({ method: 'DELETE', path: PATH, query: { actor }, signal });
  }
}
