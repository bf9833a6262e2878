import { Badge, Button, Group, Paper, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { changeRecordStatusValues as STATUSES, type ChangeRecord } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { useGate } from '../../components/forms/gate';
import { useAddress } from '../../components/lists/address';
import { Choice } from '../../components/lists/filter-inputs';
import { Pager } from '../../components/lists/pager';
import { Page } from '../../components/page/page';
import { Answer, Empty } from '../../components/page/states';
import { ChangedFields } from '../../components/values/changed-fields';
import { Facts } from '../../components/values/facts';
import { inWords } from '../../components/values/format';
import { Instant } from '../../components/values/values';
import { changeTitle } from '../../words/activity';
import { DecideDialog, type Decision } from './decide-dialog';

type Status = ChangeRecord['status'];

interface OpenDecision {
  change: ChangeRecord;
  decision: Decision;
}

/** Lists the changes that need a second person. */
export default function ChangesPage() {
  const { values, change, page } = useAddress(['status'] as const);
  const status = (values.status ?? 'pending') as Status;
  const query = { status, ...page };
  const changes = api.useQuery('get', '/v1/changes', { params: { query } });
  // The dialog outlives the decided change in the list, because it may explain a failed change.
  const [deciding, setDeciding] = useState<OpenDecision>();
  return (
    <Page
      title="Changes"
      lead={
        'Changes that let a client do more, lifts of stops, merges of people, forgotten fees, and ' +
        'settlements that give amounts back. A person other than the requester must approve them with ' +
        'their own key.'
      }
    >
      <Group role="search" aria-label="Filters">
        <Choice
          label="Status"
          value={values.status}
          choose={(chosen) => change({ status: chosen })}
          all="Pending"
          others={STATUSES.filter((one) => one !== 'pending').map((value) => ({
            value,
            label: inWords(value),
          }))}
        />
      </Group>
      <Answer of={changes} lines={8}>
        {({ changes: all }) => <List changes={all} status={status} decide={setDeciding} />}
      </Answer>
      <Pager next={changes.data?.next_page_token} />
      {deciding && <DecideDialog {...deciding} close={() => setDeciding(undefined)} />}
    </Page>
  );
}

interface ListProps {
  changes: ChangeRecord[];
  status: Status;
  decide: (deciding: OpenDecision) => void;
}

function List({ changes, status, decide }: ListProps) {
  if (changes.length === 0) {
    return <Empty>{status === 'pending' ? 'No changes are pending.' : `No changes are ${status}.`}</Empty>;
  }
  return (
    <Stack component="section" aria-label="Changes">
      {changes.map((change) => (
        <Change key={change.id} change={change} decide={(decision) => decide({ change, decision })} />
      ))}
    </Stack>
  );
}

function Change({ change, decide }: { change: ChangeRecord; decide: (decision: Decision) => void }) {
  const { status, expands, before, after, holders, reason, requested_by: by, decided_by: decider } = change;
  const persons = [...new Set(holders.map(({ person }) => person ?? 'a key without a person'))];
  return (
    <Paper withBorder p="md" component="article" aria-label={changeTitle(change)}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h3" className="wrap-anywhere">
            {changeTitle(change)}
          </Title>
          {status !== 'pending' && <Badge variant="light">{inWords(status)}</Badge>}
        </Group>
        <ChangedFields of={{ before, after }} />
        <Facts
          of={{
            'Needs a second person for': expands.map(inWords).join(', '),
            'Keys that gain permissions': persons.length === 0 ? undefined : persons.join(', '),
            'Requested by': (
              <>
                {by.person}, <Instant at={change.requested_at} />
              </>
            ),
            Reason: reason ?? undefined,
            'Can be approved until': status === 'pending' ? <Instant at={change.expires_at} /> : undefined,
            'Decided by': decider ? (
              <>
                {decider.person}, <Instant at={change.decided_at} />
                {change.decision_reason && ` – ${change.decision_reason}`}
              </>
            ) : undefined,
          }}
        />
        {status === 'pending' && <Buttons change={change} decide={decide} />}
      </Stack>
    </Paper>
  );
}

function Buttons({ change, decide }: { change: ChangeRecord; decide: (decision: Decision) => void }) {
  const { session } = useSession();
  const gate = useGate(obstacleOf(change, session.person));
  const name = changeTitle(change);
  return (
    <Group>
      <Button onClick={() => decide('approve')} aria-label={`Approve: ${name}`} {...gate.button}>
        Approve
      </Button>
      <Button
        variant="default"
        onClick={() => decide('reject')}
        aria-label={`Reject: ${name}`}
        {...gate.button}
      >
        Reject
      </Button>
      {gate.hint}
    </Group>
  );
}

/** Returns the reason why this key cannot decide. The proxy enforces the same rule. */
function obstacleOf({ is_own: isOwn }: ChangeRecord, person: string | null): string | undefined {
  if (person === null) return 'Your key does not belong to a person, so it cannot decide.';
  if (isOwn)
    return 'You requested this change, it merges you, or it settles your call. Another person must decide.';
  return undefined;
}
