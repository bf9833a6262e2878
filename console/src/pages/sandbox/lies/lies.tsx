import { Accordion, Alert, Button, Group, Stack, Text, NumberInput, Select, Switch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { api } from '../../../api/client';
import type { SandboxDto, NewEntryDto } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { Card } from '../../../components/page/section';
import { WordBadge } from '../../../components/values/badges';
import { useReload } from '../queries';
import { ControlForm } from './control-form';
import { lieWords, bookedWords } from './lie-words';
import { DelayForm, ListForm, WordForm } from './list-forms';

/** Shows and changes the lies of the sandbox. */
export function SandboxLies({ lies }: Pick<SandboxDto, 'lies'>) {
  return (
    <Card
      title="Lies"
      lead={
        'A fault affects single requests. A lie lasts until you end it. Watch how the history, the ' +
        'caps and the next reconciliation run handle it.'
      }
    >
      <ActiveLies lies={lies} />
      <Accordion variant="contained" chevronPosition="left" order={3}>
        <Control name="Lists" description="Show only the newest rows, leave types out, or freeze a list.">
          <ListForm lies={lies} />
        </Control>
        <Control name="Late listing" description="List one type of transaction later than others.">
          <DelayForm />
        </Control>
        <Control name="Status words" description="Show an unknown word.">
          <WordForm />
        </Control>
        <Control name="Fees" description="Charge more than the value of a payout.">
          <FeeForm key={`${lies.fee_percent} ${lies.returns_fee}`} lies={lies} />
        </Control>
        <Control name="Wallet entries" description="Take or add money that no transaction explains.">
          <EntryForm />
        </Control>
      </Accordion>
    </Card>
  );
}

function Control({
  name,
  description,
  children,
}: {
  name: string;
  description: string;
  children: ReactNode;
}) {
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        <Text span size="sm" fw={600} display="block">
          {name}
        </Text>
        <Text span size="xs" c="dimmed" display="block">
          {description}
        </Text>
      </Accordion.Control>
      <Accordion.Panel>{children}</Accordion.Panel>
    </Accordion.Item>
  );
}

function ActiveLies({ lies }: Pick<SandboxDto, 'lies'>) {
  const ending = api.useMutation('delete', '/v1/sandbox/lies', { onSettled: useReload() });
  const words = lieWords(lies);
  return (
    <Stack gap="xs" role="group" aria-label="Active lies">
      <Group justify="space-between" gap="xs" mih={30}>
        <Text size="sm" fw={600} role="status">
          {words.length === 0 ? 'The sandbox tells the truth.' : 'The sandbox lies.'}
        </Text>
        {words.length > 0 && (
          <Button size="xs" variant="default" onClick={() => ending.mutate({})}>
            End all lies
          </Button>
        )}
      </Group>
      {ending.error && (
        <Alert color="red" role="alert">
          {messageOf(ending.error)}
        </Alert>
      )}
      {words.length > 0 && (
        <Group gap="xs">
          {words.map((word) => (
            <WordBadge key={word} color="orange">
              {word}
            </WordBadge>
          ))}
        </Group>
      )}
    </Stack>
  );
}

const ENTRIES: { value: NewEntryDto['type']; label: string }[] = [
  { value: 'fee', label: 'fee' },
  { value: 'withdrawal', label: 'withdrawal' },
  { value: 'top_up', label: 'top-up' },
];
const WALLETS: NewEntryDto['wallet'][] = ['airtime', 'momo', 'chi'];

/** Charges fees for later payouts. */
function FeeForm({ lies }: Pick<SandboxDto, 'lies'>) {
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
function EntryForm() {
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
