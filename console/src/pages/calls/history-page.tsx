import { Group, NativeSelect, Stack, Text, Button, Checkbox, Popover } from '@mantine/core';
import { Columns3 } from 'lucide-react';
import type { ReactNode } from 'react';
import { faultsOf } from '../../api/problem';
import { Pager } from '../../components/lists/pager';
import { PeopleSwitch } from '../../components/lists/people-switch';
import { Page } from '../../components/page/page';
import { formatCount } from '../../components/values/format';
import { ExportButton } from './export/export-dialog';
import { FilterPanel } from './filters/filter-panel';
import { type List, LIST_NAMES } from './list';
import { SumUp } from './sum-up';
import { ViewsMenu } from './views/views-menu';

interface Props {
  lead: string;
  list: List;
  /** Number of rows. Undefined before the first response. */
  count: number | undefined;
  next: string | null | undefined;
  error: unknown;
  /** Whether people are unmasked. */
  reveal: boolean;
  setReveal: (reveal: boolean) => void;
  /** Table of calls or payouts. */
  children: ReactNode;
}

/** Shows the frame of the lists of calls and payouts. */
export function HistoryPage({ lead, list, count, next, error, reveal, setReveal, children }: Props) {
  const actions = (
    <>
      <ViewsMenu list={list} />
      <ColumnsMenu list={list} />
      <ExportButton list={list} />
    </>
  );
  return (
    <Page title={LIST_NAMES[list.what]} lead={lead} actions={actions}>
      <FilterPanel list={list} faults={faultsOf(error)} />
      <SumUp key={JSON.stringify(list.filters)} list={list} />
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <PeopleSwitch reveal={reveal} setReveal={setReveal} />
          <Group gap="xs">
            <SortField {...list} />
            <PageSizeField {...list} />
          </Group>
        </Group>
        {children}
        <Group justify="space-between" gap="xs">
          <Shown count={count} next={next} />
          <Pager next={next} />
        </Group>
      </Stack>
    </Page>
  );
}

function Shown({ count, next }: Pick<Props, 'count' | 'next'>) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {count !== undefined &&
        count > 0 &&
        `${formatCount(count)} on this page${next ? '; there are more' : ''}`}
    </Text>
  );
}

function SortField({ view, change }: List) {
  return (
    <NativeSelect
      size="xs"
      aria-label="Order"
      data={[
        { value: 'time', label: 'Newest first' },
        { value: 'amount', label: 'Largest first' },
      ]}
      value={view.sort ?? 'time'}
      onChange={({ currentTarget: { value } }) => change({ sort: value === 'time' ? undefined : value })}
    />
  );
}

const USUAL_SIZE = '50';

function PageSizeField({ view, change }: List) {
  return (
    <NativeSelect
      size="xs"
      aria-label="Rows per page"
      data={[...new Set(['25', USUAL_SIZE, '100', view.page_size ?? USUAL_SIZE])].map((value) => ({
        value,
        label: `${value} rows`,
      }))}
      value={view.page_size ?? USUAL_SIZE}
      onChange={({ currentTarget: { value } }) =>
        change({ page_size: value === USUAL_SIZE ? undefined : value })
      }
    />
  );
}

/** Selects the columns, which this browser remembers. */
function ColumnsMenu({ list: { columns, chosen, choose } }: { list: List }) {
  return (
    <Popover position="bottom-end" trapFocus returnFocus withRoles>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<Columns3 size={14} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown mah={420} style={{ overflowY: 'auto' }} aria-label="Columns">
        <Checkbox.Group aria-label="Columns" value={chosen} onChange={choose}>
          <Stack gap={8}>
            {columns.map(({ id, title }) => (
              <Checkbox
                key={id}
                size="xs"
                value={id}
                label={title}
                disabled={chosen.length === 1 && chosen[0] === id}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
