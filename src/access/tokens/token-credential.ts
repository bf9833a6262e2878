import { AccessTokenClaims } from './access-token';

/** What a token says before it is verified. */
export interface Named {
  issuer: string;
  clientId: string;
  /** `afterClient` of the person (src/access/people/person-hash.ts). */
  person: string;
}

/** A verified token, and what it was verified against. */
export interface TokenCredential {
  kind: 'token';
  claims: AccessTokenClaims;
  named: Named;
  /** JSON of the `TokenSource`. */
  source: string;
  /** Monotonic, milliseconds. */
  validUntil: number;
}
