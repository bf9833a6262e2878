import { Anchor, Group } from '@mantine/core';
import { Link } from 'wouter';
import type { CallRecord } from '../../api/generated/schema';
import { WordBadge } from './badges';
import { Maybe } from './values';

type RecordedRequester = Pick<CallRecord, 'actor' | 'actor_source' | 'person_id'>;
type Source = NonNullable<CallRecord['actor_source']>;

/** How a person is identified. */
export const SOURCE_WORDS: Record<Source, string> = {
  token: 'token',
  ephemeral: 'ephemeral key',
  session: 'page session',
  key: 'personal key or sign-in',
  claimed: 'claimed',
};

/** A claimed name is a warning, because anyone with a key of the client can claim it. */
const COLORS: Record<Source, string> = {
  token: 'teal',
  ephemeral: 'teal',
  session: 'teal',
  key: 'blue',
  claimed: 'orange',
};

/** Shows who requested a call and how the person is identified, with a link to all their calls. */
export function Requester({ of: { actor, actor_source: source, person_id: id } }: { of: RecordedRequester }) {
  if (id === null) return <Maybe text={actor} />;
  return (
    <Group component="span" gap="xs" wrap="nowrap" display="inline-flex">
      <Anchor
        component={Link}
        href={`/calls?person_id=${id}`}
        inherit
        title={`All calls of the person ${id}`}
      >
        {actor ?? `…${id.slice(-12)}`}
      </Anchor>
      {source !== null && <WordBadge color={COLORS[source]}>{SOURCE_WORDS[source]}</WordBadge>}
    </Group>
  );
}
