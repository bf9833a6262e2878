import { Pages } from '../pages.ts';
import type { Reader } from '../reader.ts';
import type { EphemeralKey, EphemeralKeyPage, IssuedEphemeralKey, NewEphemeralKey } from '../types.ts';

const PATH = '/v1/ephemeral-keys';

interface Asking {
  signal?: AbortSignal | undefined;
}

/** Keys that your server makes for one person, to be used in a page or an app. They need a secret key. */
export class EphemeralKeys {
  constructor(private readonly reader: Reader) {}

  /** Makes a key, which is valid for minutes. It is shown only once. */
  async create(asked: NewEphemeralKey, { signal }: Asking = {}): Promise<IssuedEphemeralKey> {
    // If an answer is lost, another key is made. Nobody has the first one.
    const { body } = await this.reader.read({
      method: 'POST',
      path: PATH,
      body: JSON.stringify(asked),
      signal,
    });
    return body as IssuedEphemeralKey;
  }

  /**
   * Lists the keys, newest first, without their secrets.
   * @param actor whose keys to list. All by default.
   */
  list({
    actor,
    pageSize,
    signal,
  }: Asking & { actor?: string; pageSize?: number } = {}): Pages<EphemeralKey> {
    return new Pages(async (token) => {
      const query = { actor, page_size: pageSize, page_token: token };
      const { body } = await this.reader.read({ method: 'GET', path: PATH, query, signal });
      const { ephemeral_keys, next_page_token } = body as EphemeralKeyPage;
      return { entries: ephemeral_keys, nextPageToken: next_page_token ?? undefined };
    });
  }

  /** Revokes one key. Requests with it are refused at once. */
  async revoke(id: string, { signal }: Asking = {}): Promise<void> {
    await this.reader.read({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}`, signal });
  }

  /** Revokes all keys of a person, such as on sign-out. */
  async revokeAll(actor: string, { signal }: Asking = {}): Promise<void> {
    await this.reader.read({ method: 'DELETE', path: PATH, query: { actor }, signal });
  }
}
