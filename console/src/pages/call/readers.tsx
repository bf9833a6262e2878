import { Button } from '@mantine/core';
import { useState } from 'react';
import type { AccessRecord, CallReaders } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Section } from '../../components/page/section';
import { WordBadge } from '../../components/values/badges';
import { formatCount } from '../../components/values/format';
import { Instant, Maybe } from '../../components/values/values';

const SHOWN_AT_FIRST = 10;

const COLUMNS: Column<AccessRecord>[] = [
  { id: 'read_at', title: 'When', render: ({ read_at }) => <Instant at={read_at} /> },
  {
    id: 'client',
    title: 'Client',
    render: ({ client }) => (client ? client.name : 'an operator, on the command line'),
  },
  { id: 'actor', title: 'Person', render: ({ actor }) => <Maybe text={actor} /> },
  { id: 'route', title: 'Requested', render: ({ route }) => <Maybe text={route} /> },
  {
    id: 'revealed',
    title: 'People',
    render: ({ revealed }) => (
      <WordBadge color={revealed ? 'orange' : 'gray'}>{revealed ? 'revealed' : 'masked'}</WordBadge>
    ),
  },
];

/** Lists the reads of the call, newest first. */
export function Readers({ readers }: { readers: CallReaders | undefined }) {
  const [all, setAll] = useState(false);
  const newest = readers?.newest;
  return (
    <Section title="Access history" lead={readers && leadOf(readers)}>
      <DataTable
        label="Readers"
        columns={COLUMNS}
        rows={all ? newest : newest?.slice(0, SHOWN_AT_FIRST)}
        keyOf={({ id }) => id}
        empty="No one has read this call before you."
      />
      {!all && newest && newest.length > SHOWN_AT_FIRST && (
        <Button variant="default" size="xs" onClick={() => setAll(true)} style={{ alignSelf: 'flex-start' }}>
          Show all {newest.length}
        </Button>
      )}
    </Section>
  );
}

function leadOf({ count, newest }: CallReaders): string {
  const times = count === 1 ? 'once' : `${formatCount(count)} times`;
  const listed = count > newest.length ? `; the latest ${newest.length} are listed` : '';
  return `Read ${times} before${listed}. Exports are not counted.`;
}
