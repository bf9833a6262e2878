import { Anchor, Group } from '@mantine/core';
import { Link } from 'wouter';
import type { CallRecord } from '../../api/generated/schema';
import { SOURCE_COLORS, SOURCE_WORDS } from '../../words/people';
import { WordBadge } from './badges';
import { Maybe } from './values';

type RecordedRequester = Pick<CallRecord, 'actor' | 'actor_source' | 'person_id'>;

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
      {source !== null && <WordBadge color={SOURCE_COLORS[source]}>{SOURCE_WORDS[source]}</WordBadge>}
    </Group>
  );
}
