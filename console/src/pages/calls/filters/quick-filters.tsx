import '@mantine/dates/styles.css';
import { Button, Group, NativeSelect, Select, type SelectProps } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import dayjs from 'dayjs';
import { useState } from 'react';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import { useSession } from '../../../api/session';
import type { List } from '../list';
import { asContact } from './contact';
import { TextField, useDraft } from './fields';
import { FILTERS } from './filters';
import { beginOf, daysOf, PERIODS } from './period';

export interface FilterProps {
  list: List;
  /** Errors of the proxy, by filter. */
  faults: Partial<Record<string, string>>;
}

/** Returns the style of a minimum width. Fields share the rest of the row. */
const minWidth = (px: number) => ({ flex: `1 1 ${px}px`, minWidth: 0 });

/** Shows the most common filters. */
export function QuickFilters(props: FilterProps) {
  return (
    <Group align="flex-start" gap="sm">
      <RecipientField {...props} />
      <OperationField {...props} />
      <ChoiceField {...props} name="outcome" style={minWidth(180)} />
      <Group align="flex-start" gap="sm" style={{ flex: '1 1 520px' }}>
        <InstantField {...props} name="from" />
        <InstantField {...props} name="to" />
        <Periods {...props} />
      </Group>
    </Group>
  );
}

interface ChoiceProps extends FilterProps {
  name: 'outcome' | 'in_doubt' | 'approval';
  style?: SelectProps['style'];
}

export function ChoiceField({ list, faults, name, style }: ChoiceProps) {
  const { label, options = [] } = FILTERS[name];
  return (
    <Select
      label={label}
      data={options}
      style={style}
      clearable
      placeholder="Any"
      error={faults[name]}
      value={list.filters[name] ?? null}
      onChange={(value) => list.change({ [name]: value ?? undefined })}
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
    />
  );
}

/** Selects an account. Hidden if there is only one. */
export function AccountField({ list: { filters, change }, faults }: FilterProps) {
  const { account } = filters;
  const names = useAccounts().map(({ name }) => name);
  const { label, help } = FILTERS.account;
  if (account === undefined && names.length < 2) return null;
  if (account !== undefined && !names.includes(account)) names.push(account); // from the URL
  return (
    <Select
      label={label}
      description={help}
      data={names}
      clearable
      placeholder="Any"
      error={faults.account}
      value={account ?? null}
      onChange={(value) => change({ account: value ?? undefined })}
      clearButtonProps={{ 'aria-label': 'Any account' }}
    />
  );
}

function OperationField({ list: { filters, change }, faults }: FilterProps) {
  const { data } = api.useQuery('get', '/v1/operations', undefined, { staleTime: Infinity });
  const names = new Set<string>(data?.operations.map(({ operation }) => operation));
  // The value in the URL is shown before the others are loaded.
  if (filters.operation !== undefined) names.add(filters.operation);
  return (
    <Select
      label={FILTERS.operation.label}
      data={[...names]}
      style={minWidth(220)}
      searchable
      clearable
      placeholder="Any"
      error={faults.operation}
      value={filters.operation ?? null}
      onChange={(value) => change({ operation: value ?? undefined })}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
      clearButtonProps={{ 'aria-label': 'Any operation' }}
    />
  );
}

type Comparison = 'recipient' | 'recipient_prefix';

/** Shows one field for both recipient filters. A trailing * searches for the beginning. */
function RecipientField({ list: { filters, change }, faults }: FilterProps) {
  const maySearch = useSession().may('audit:pii'); // The results would reveal who was paid.
  const named: Comparison = filters.recipient_prefix === undefined ? 'recipient' : 'recipient_prefix';
  const value = filters[named] ?? '';
  const [comparison, setComparison] = useDraft(value === '' ? undefined : named);
  const by = comparison ?? 'recipient';
  const commit = (text: string, how: Comparison) => {
    const isBeginning = how === 'recipient_prefix' || text.endsWith('*');
    const contact = asContact(text.replace(/\*$/, ''));
    change({
      recipient: undefined,
      recipient_prefix: undefined,
      [isBeginning ? 'recipient_prefix' : how]: contact,
    });
  };
  return (
    <TextField
      label="Recipient"
      placeholder="Phone, email, or handle"
      type="search"
      value={value}
      maxLength={254}
      style={minWidth(300)}
      error={faults.recipient ?? faults.recipient_prefix}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      disabled={!maySearch}
      description={maySearch ? undefined : 'Searching for a person requires the scope audit:pii.'}
      onCommit={(text) => commit(text, by)}
      leftSectionWidth={108}
      leftSection={
        <NativeSelect
          variant="unstyled"
          size="xs"
          value={by}
          aria-label="Recipient comparison"
          disabled={!maySearch}
          data={[
            { value: 'recipient', label: 'is' },
            { value: 'recipient_prefix', label: 'begins with' },
          ]}
          onChange={({ currentTarget }) => {
            setComparison(currentTarget.value as Comparison);
            if (value !== '') commit(value, currentTarget.value as Comparison);
          }}
        />
      }
    />
  );
}

/** Sufficient contrast, and labels for screen readers. */
const CALENDAR = {
  weekendDays: [],
  hideOutsideDates: true,
  ariaLabels: {
    previousMonth: 'Previous month',
    nextMonth: 'Next month',
    previousYear: 'Previous year',
    nextYear: 'Next year',
    previousDecade: 'Previous years',
    nextDecade: 'Next years',
  },
  submitButtonProps: { 'aria-label': 'Apply time' },
  timePickerProps: { hoursInputLabel: 'Hours', minutesInputLabel: 'Minutes' },
};

const LOCAL = 'YYYY-MM-DD HH:mm:ss';

/** Selects an instant in the reader's time zone. The URL has UTC. */
function InstantField({ list: { filters, change }, faults, name }: FilterProps & { name: 'from' | 'to' }) {
  const value = filters[name];
  const local = value !== undefined && dayjs(value).isValid() ? dayjs(value).format(LOCAL) : null;
  const [draft, setDraft] = useDraft(local);
  const [isOpen, setIsOpen] = useState(false);
  const { label } = FILTERS[name];
  const commit = (text: string | null) => {
    if (text !== local) change({ [name]: text === null ? undefined : dayjs(text).toISOString() });
  };
  return (
    <DateTimePicker
      label={label}
      style={minWidth(170)}
      clearable
      placeholder="Any time"
      valueFormat="MMM D, YYYY HH:mm"
      {...CALENDAR}
      error={faults[name]}
      value={draft}
      onChange={(text) => {
        setDraft(text);
        if (!isOpen) commit(text); // The button that clears the value does not open the calendar.
      }}
      popoverProps={{ onOpen: () => setIsOpen(true), onClose: () => setIsOpen(false) }}
      onDropdownClose={() => commit(draft)}
      clearButtonProps={{ 'aria-label': `${label}: any time` }}
    />
  );
}

function Periods({ list: { filters, change } }: FilterProps) {
  const current = daysOf(filters);
  return (
    <Group gap={4} role="group" aria-label="Periods" pt={{ base: 0, xs: 26 }}>
      {PERIODS.map(({ days, label }) => (
        <Button
          key={days}
          size="xs"
          variant={days === current ? 'light' : 'default'}
          aria-pressed={days === current}
          onClick={() => change({ from: days === current ? undefined : beginOf(days), to: undefined })}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}
