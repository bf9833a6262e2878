import { GrantField } from './limit-fields';
import { placeField, wordField } from './provider-field';

/**
 * The OpenID provider at which people sign in to the pages of a client. Either both fields are set, or none: then its pages
 * have no sessions.
 */
export interface PageProvider {
  /** As its ID tokens name it (`iss`). */
  pageIssuer: string | null;
  /** The client at the provider (`aud` of its ID tokens). Together with the issuer, it belongs to one client only. */
  pageClientId: string | null;
}

export const NO_PAGE_PROVIDER: PageProvider = { pageIssuer: null, pageClientId: null };

export const PAGE_PROVIDER_FIELDS = {
  pageIssuer: placeField('page_issuer'),
  pageClientId: wordField('page_client_id'),
} satisfies Record<keyof PageProvider, GrantField>;

export const PAGE_PROVIDER_KEYS = Object.keys(PAGE_PROVIDER_FIELDS) as (keyof PageProvider)[];

/** Returns what a change implies. Without an issuer, nobody signs in. */
export function impliedPageFields(change: Partial<PageProvider>): Partial<PageProvider> {
  return change.pageIssuer === null ? NO_PAGE_PROVIDER : {};
}

/** Returns the changed fields that let people in who could not sign in before. */
export function pageWidenings(before: PageProvider, after: PageProvider): (keyof PageProvider)[] {
  if (after.pageIssuer === null) return [];
  return PAGE_PROVIDER_KEYS.filter((key) => before[key] !== after[key]);
}
