import { Group, Stack, Text, UnstyledButton } from '@mantine/core';
import type { MouseEvent } from 'react';
import { Link } from 'wouter';
import type { ApprovalRecord } from '../../api/generated/schema';
import { OutcomeBadge } from '../../components/values/badges';
import { clientWords } from '../../components/values/format';
import { Instant, Operation, Usd } from '../../components/values/values';
import { countOf } from './summary';
import classes from './approval-list.module.css';

interface Props {
  approvals: ApprovalRecord[];
  chosen: string | undefined;
  /** Shows the approval beside the list on a click. Undefined if there is no space. */
  choose: ((id: string) => void) | undefined;
}

export const rowId = (id: string) => `approval-${id}`;

/** Lists the approvals as links. Enter opens one, and so does a click without a side panel. */
export function ApprovalList({ approvals, chosen, choose }: Props) {
  return (
    <Stack component="ul" gap={0} className={classes.list ?? ''} aria-label="Approvals">
      {approvals.map((approval) => (
        <li key={approval.id}>
          <UnstyledButton
            component={Link}
            href={`/approvals/${approval.id}`}
            id={rowId(approval.id)}
            className={classes.row ?? ''}
            aria-current={approval.id === chosen ? true : undefined}
            onClick={(event: MouseEvent) => {
              const { detail, ctrlKey, metaKey, shiftKey } = event;
              // `detail` is 0 for a click by keyboard.
              if (!choose || detail === 0 || ctrlKey || metaKey || shiftKey) return;
              event.preventDefault();
              choose(approval.id);
            }}
          >
            <Row of={approval} />
          </UnstyledButton>
        </li>
      ))}
    </Stack>
  );
}

function Row({
  of: { operation, total_usd: usd, account, client, actor, item_count: items, approval, outcome },
}: {
  of: ApprovalRecord;
}) {
  const isPending = approval?.status === 'pending';
  return (
    <>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Operation name={operation} />
        <Text fw={600} size="sm">
          <Usd amount={usd} />
        </Text>
      </Group>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {clientWords(client, account)}, {countOf(items)}
        </Text>
        {isPending ? (
          <Text size="sm" c="dimmed">
            expires <Instant at={approval.expires_at} relative />
          </Text>
        ) : (
          <OutcomeBadge outcome={outcome} />
        )}
      </Group>
      {actor !== null && (
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          for {actor}
        </Text>
      )}
    </>
  );
}
