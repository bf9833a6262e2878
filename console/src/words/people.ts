import type { CallRecord } from '../api/generated/schema';

export type Source = NonNullable<CallRecord['actor_source']>;

/** How a person is identified. */
export const SOURCE_WORDS: Record<Source, string> = {
  token: 'token',
  ephemeral: 'ephemeral key',
  session: 'page session',
  key: 'personal key or sign-in',
  claimed: 'claimed',
};

/** A claimed name is a warning, because anyone with a key of the client can claim it. */
export const SOURCE_COLORS: Record<Source, string> = {
  token: 'teal',
  ephemeral: 'teal',
  session: 'teal',
  key: 'blue',
  claimed: 'orange',
};
