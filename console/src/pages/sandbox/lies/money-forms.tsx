import { NumberInput, Select, Switch } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client';
import type { NewEntryDto, SandboxDto } from '../../../api/generated/schema';
import { useReload } from '../queries';
import { ControlForm } from './control-form';
import { bookedWords } from './lie-words';

const ENTRIES: { value: NewEntryDto['type']; label: string }[] = [
  { value: 'fee', label: 'fee' },
  { value: 'withdrawal', label: 'withdrawal' },
  { value: 'top_up', label: 'top-up' },
];
const WALLETS: NewEntryDto['wallet'][] = ['airtime', 'momo', 'chi'];

/** Charges fees for later payouts. */
export function FeeForm({ lies }: Pick<SandboxDto, 'lies'>) {
  const setting = api.useMutation('patch', '/v1/sandbox/lies/fees', { onSettled: useReload() });
  const [percent, setPercent] = useState(lies.fee_percent);
  const [returned, setReturned] = useState(lies.returns_fee);
  const submit = () => setting.mutate({ body: { percent, returned } });
  return (
    <ControlForm label="Fees" action="Apply" isBusy={setting.isPending} error={setting.error} submit={submit}>
      <NumberInput
        label="Percent of each payout"
        min={0}
        max={100}
        hideControls
        value={percent}
        onChange={(value) => setPercent(typeof value === 'number' ? value : 0)}
      />
      <Switch
        label="Returned when a payout fails"
        checked={returned}
        mt={{ base: 0, xs: 'xl' }}
        onChange={({ currentTarget }) => setReturned(currentTarget.checked)}
      />
    </ControlForm>
  );
}

/** Books an entry that no transaction explains. */
export function EntryForm() {
  const booking = api.useMutation('post', '/v1/sandbox/entries', { onSettled: useReload() });
  const [type, setType] = useState<NewEntryDto['type']>('fee');
  const [wallet, setWallet] = useState<NewEntryDto['wallet']>('airtime');
  const [usd, setUsd] = useState(0.5);
  const booked = booking.isSuccess ? booking.variables.body : undefined;
  return (
    <ControlForm
      label="Wallet entries"
      action="Book"
      isBusy={booking.isPending}
      error={booking.error}
      done={booked && bookedWords(booked)}
      submit={() => booking.mutate({ body: { type, wallet, usd } })}
    >
      <Select
        label="Kind"
        allowDeselect={false}
        data={ENTRIES}
        value={type}
        onChange={(value) => value !== null && setType(value)}
      />
      <Select
        label="Wallet"
        allowDeselect={false}
        data={WALLETS}
        value={wallet}
        onChange={(value) => value !== null && setWallet(value)}
      />
      <NumberInput
        label="US dollars"
        min={0.01}
        hideControls
        value={usd}
        onChange={(value) => setUsd(typeof value === 'number' ? value : 0)}
      />
    </ControlForm>
  );
}
