import { MultiSelect, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client';
import type { ListingDelayDto, ListLiesDto, SandboxDto, StatusWordDto } from '../../../api/generated/schema';
import { useReload } from '../queries';
import { ControlForm } from './control-form';
import { type WordPlace, WORD_PLACES } from './lie-words';

const TRANSACTION_TYPES: ListingDelayDto['type'][] = ['airtime', 'momo', 'credit', 'transfer', 'payment'];
const ENTRY_TYPES = [
  'payout',
  'transfer',
  'collection',
  'failure',
  'reversal',
  'refund',
  'expiry',
  'correction',
  'top_up',
  'withdrawal',
  'fee',
];
const LISTS: { value: ListLiesDto['list']; label: string }[] = [
  { value: 'transactions', label: 'transactions' },
  { value: 'entries', label: "wallets' entries" },
];
const TYPES: Record<ListLiesDto['list'], string[]> = {
  transactions: TRANSACTION_TYPES,
  entries: ENTRY_TYPES,
};
const STATUSES: StatusWordDto['status'][] = [
  'paid',
  'pending',
  'failed',
  'reversed',
  'refunded',
  'expired',
  'redeemed',
  'unpaid',
];

interface ListProps extends Pick<SandboxDto, 'lies'> {
  list: ListLiesDto['list'];
  choose: (list: ListLiesDto['list']) => void;
}

/** Sets the lies of the list of transactions or of the wallets' entries. */
export function ListForm({ lies }: Pick<SandboxDto, 'lies'>) {
  const [list, choose] = useState<ListLiesDto['list']>('transactions');
  // The key remounts the form, so that it starts with the current lies.
  return <OneList key={list + JSON.stringify(lies[list])} lies={lies} list={list} choose={choose} />;
}

function OneList({ lies, list, choose }: ListProps) {
  const setting = api.useMutation('patch', '/v1/sandbox/lies/lists', { onSettled: useReload() });
  const now = lies[list];
  const [newest, setNewest] = useState(now.newest);
  const [without, setWithout] = useState(now.without_types);
  const [frozen, setFrozen] = useState(now.frozen_at !== null);
  const isFrozen = now.frozen_at !== null;
  const submit = () =>
    setting.mutate({
      body: { list, newest, without_types: without, ...(frozen !== isFrozen && { frozen }) },
    });
  return (
    <ControlForm
      label="Lists"
      action="Apply"
      isBusy={setting.isPending}
      error={setting.error}
      submit={submit}
    >
      <Select
        label="List"
        allowDeselect={false}
        data={LISTS}
        value={list}
        onChange={(value) => value !== null && choose(value)}
      />
      <NumberInput
        label="Newest only"
        placeholder="all"
        min={0}
        hideControls
        value={newest ?? ''}
        onChange={(value) => setNewest(typeof value === 'number' ? value : null)}
      />
      <MultiSelect
        label="Leave out"
        data={TYPES[list]}
        value={without}
        clearable
        placeholder={without.length === 0 ? 'nothing' : undefined}
        onChange={setWithout}
      />
      <Switch
        label="Frozen as it is now"
        checked={frozen}
        mt={{ base: 0, xs: 'xl' }}
        onChange={({ currentTarget }) => setFrozen(currentTarget.checked)}
      />
    </ControlForm>
  );
}

/** Delays one type of transaction in lists. */
export function DelayForm() {
  const setting = api.useMutation('patch', '/v1/sandbox/lies/listing-delay', { onSettled: useReload() });
  const [type, setType] = useState<ListingDelayDto['type']>('momo');
  const [seconds, setSeconds] = useState(60);
  const submit = () => setting.mutate({ body: { type, ms: Math.round(seconds * 1_000) } });
  return (
    <ControlForm
      label="Late listing"
      action="Apply"
      isBusy={setting.isPending}
      error={setting.error}
      submit={submit}
    >
      <Select
        label="Type"
        allowDeselect={false}
        data={TRANSACTION_TYPES}
        value={type}
        onChange={(value) => value !== null && setType(value)}
      />
      <NumberInput
        label="Seconds until it is listed"
        min={0}
        max={600}
        hideControls
        value={seconds}
        onChange={(value) => setSeconds(typeof value === 'number' ? value : 0)}
      />
    </ControlForm>
  );
}

/** Shows another word for a status. */
export function WordForm() {
  const setting = api.useMutation('patch', '/v1/sandbox/lies/words', { onSettled: useReload() });
  const [place, setWordPlace] = useState<WordPlace>('listed');
  const [status, setStatus] = useState<StatusWordDto['status']>('paid');
  const [word, setWord] = useState('AWAITING_REVIEW');
  const submit = () =>
    setting.mutate({ body: { shown_in: place, status, ...(word.trim() !== '' && { word: word.trim() }) } });
  return (
    <ControlForm
      label="Status words"
      action="Apply"
      isBusy={setting.isPending}
      error={setting.error}
      submit={submit}
    >
      <Select
        label="Where"
        allowDeselect={false}
        data={(Object.keys(WORD_PLACES) as WordPlace[]).map((value) => ({
          value,
          label: WORD_PLACES[value],
        }))}
        value={place}
        onChange={(value) => value !== null && setWordPlace(value)}
      />
      <Select
        label="True status"
        allowDeselect={false}
        data={STATUSES}
        value={status}
        onChange={(value) => value !== null && setStatus(value)}
      />
      <TextInput
        label="Shown as"
        placeholder="the true word"
        value={word}
        autoComplete="off"
        onChange={({ currentTarget }) => setWord(currentTarget.value)}
      />
    </ControlForm>
  );
}
