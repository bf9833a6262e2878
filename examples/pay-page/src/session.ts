import { PayoutProxy } from '@payout-proxy/sdk';
import type { SignIn } from './sign-in.ts';

/** Sign-in by the proxy. The browser holds a cookie that no script can read. The page holds no token. */
export class SessionSignIn implements SignIn {
  readonly client: PayoutProxy;

  /** @param client name of the proxy's client that this page belongs to. */
  constructor(baseUrl: string, client: string) {
    this.client = new PayoutProxy({ baseUrl, session: { client } });
  }

  async visitor(): Promise<string | undefined> {
    const session = await this.client.session.read();
    return session?.person_id;
  }

  begin(): void {
    location.assign(this.client.session.signInUrl(thisPage()));
  }

  async end(): Promise<void> {
    const atProvider = await this.client.session.signOut({ returnTo: thisPage() });
    location.assign(atProvider ?? thisPage());
  }
}

/** Returns the address that is registered at the provider. */
const thisPage = () => `${location.origin}${location.pathname}`;
