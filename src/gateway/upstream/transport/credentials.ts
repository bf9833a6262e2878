import { Secret } from '../../../platform/config/secrets/secret';
import { headersOf } from './headers';
import { KeyRemover } from './key-remover';

/** The upstream's key, which requests carry and answers may quote. Replaceable during requests. */
export class Credentials {
  /** Removes every key of this process, because answers to earlier requests may quote a replaced one. */
  readonly remover = new KeyRemover();
  private current!: { headers: Record<string, string>; raw: string[]; rawWithBody: string[] };

  constructor(key: Secret) {
    this.replace(key);
  }

  /** The headers of a request. */
  get headers(): Readonly<Record<string, string>> {
    return this.current.headers;
  }

  /** The headers of a request without a body, as names and values in turn. */
  get raw(): readonly string[] {
    return this.current.raw;
  }

  get rawWithBody(): readonly string[] {
    return this.current.rawWithBody;
  }

  /** Uses another key for every unsent request. */
  replace(key: Secret): void {
    this.remover.add(key.reveal());
    const headers = headersOf(key.reveal());
    const raw = Object.entries(headers).flat();
    this.current = { headers, raw, rawWithBody: [...raw, 'Content-Type', 'application/json'] };
  }
}
