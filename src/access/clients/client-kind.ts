/**
 * The kinds of clients. A `server` keeps secret keys. A `public` client, such as a mobile app or a page, has none, because
 * everybody can read what it contains. Its people send access tokens, or sign in on its pages. A client keeps its kind.
 */
export const CLIENT_KINDS = ['server', 'public'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];
