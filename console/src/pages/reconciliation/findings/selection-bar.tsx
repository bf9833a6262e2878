import { Alert, Anchor, Button, Group, List, Paper, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'wouter';
import { http } from '../../../api/client';
import { useGate } from '../../../components/forms/gate';
import { formatCount } from '../../../components/values/format';
import { ProblemAlert } from '../problem-alert';
import { type Conflicts, Decide, MAX_DECISIONS } from './decide';
import { type Filters, toQuery } from './findings-query';
import type { useSelection } from './selection';

interface Props {
  chosen: ReturnType<typeof useSelection>;
  filters: Filters;
  /** Whether the list has other pages. */
  more: boolean;
  conflicts: Conflicts;
  setConflicts: (conflicts: Conflicts) => void;
}

/** Shows the number of selected findings, with the actions for them. */
export function SelectionBar({ chosen, filters, more, conflicts, setConflicts }: Props) {
  const [isDeciding, { open, close }] = useDisclosure();
  const { findings, add, drop } = chosen;
  const count = findings.length;
  const gate = useGate(count === 0 ? 'No findings selected. Select the findings to decide.' : undefined);
  return (
    <Paper withBorder p="xs" role="region" aria-label="Selected findings">
      <Group gap="xs">
        <div role="status">{gate.hint ?? <Text size="sm">{formatCount(count)} selected</Text>}</div>
        <Button size="xs" onClick={open} {...gate.button}>
          Decide
        </Button>
        {more && <SelectAll filters={filters} add={add} />}
        {count > 0 && (
          <Button size="xs" variant="subtle" onClick={() => drop(chosen.ids)}>
            Clear selection
          </Button>
        )}
      </Group>
      <Conflicting conflicts={conflicts} />
      {isDeciding && (
        <Decide
          findings={findings}
          close={close}
          onDecided={() => {
            setConflicts(new Map());
            drop(chosen.ids);
          }}
          onConflict={(refused) => {
            setConflicts(new Map([...conflicts, ...refused]));
            drop(refused.keys());
          }}
        />
      )}
    </Paper>
  );
}

/** Most findings that are listed. */
const MOST = 20;

/** Lists the findings that were not decided, even if the list no longer shows them. */
function Conflicting({ conflicts }: { conflicts: Conflicts }) {
  if (conflicts.size === 0) return null;
  return (
    <Alert color="orange" variant="light" mt="xs" title="Not decided and no longer selected">
      <List size="sm">
        {[...conflicts].slice(0, MOST).map(([id, reason]) => (
          <List.Item key={id}>
            <Anchor
              component={Link}
              href={`/reconciliation/findings/${id}`}
              size="sm"
              c="inherit"
              underline="always"
            >
              {id}
            </Anchor>
            : {reason}
          </List.Item>
        ))}
        {conflicts.size > MOST && <List.Item>and {formatCount(conflicts.size - MOST)} more</List.Item>}
      </List>
    </Alert>
  );
}

/** Selects the findings of all pages, up to the most that one request can decide. */
function SelectAll({ filters, add }: Pick<Props, 'filters'> & Pick<Props['chosen'], 'add'>) {
  const [busy, setBusy] = useState(false);
  const [words, setWords] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const selectAll = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      let token: string | null | undefined;
      let count = 0;
      do {
        const query = toQuery(filters, { page_size: 200, ...(token && { page_token: token }) });
        const { data } = await http.GET('/v1/reconciliation/findings', { params: { query } });
        add(data?.findings ?? []);
        count += data?.findings.length ?? 0;
        token = data?.next_page_token;
      } while (token && count + 200 <= MAX_DECISIONS);
      setWords(token ? `Only the newest ${formatCount(count)} can be decided at once.` : undefined);
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button size="xs" variant="default" loading={busy} onClick={() => void selectAll()}>
        Select all on all pages
      </Button>
      {words !== undefined && (
        <Text size="sm" c="dimmed">
          {words}
        </Text>
      )}
      {failure !== undefined && <ProblemAlert error={failure} />}
    </>
  );
}
