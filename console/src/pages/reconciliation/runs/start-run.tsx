import '@mantine/dates/styles.css';
import { Button, Group, Modal, NativeSelect, Stack } from '@mantine/core';
import { DatePickerInput, DateTimePicker } from '@mantine/dates';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { api, http } from '../../../api/client';
import type { NewRunDto } from '../../../api/generated/schema';
import { useGate } from '../../../components/forms/gate';
import { formatLocal } from '../../../components/values/format';
import { AccountInput } from '../account-input';
import { type Days, periodOf, presets, today, untilNow } from '../days';
import { ProblemAlert } from '../problem-alert';

/** Asks for a period, starts a run, and opens its page. */
export default function StartRun({ close }: { close: () => void }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [days, setDays] = useState<Days>(() => presets()[0]?.value ?? [null, null]);
  const [asOf, setAsOf] = useState<string | null>(null);
  const [account, setAccount] = useState('main');
  const [statement, setStatement] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const period = periodOf(days);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!period) return;
    setBusy(true);
    setFailure(undefined);
    const body: NewRunDto = {
      account,
      ...untilNow(period),
      ...(asOf !== null && { as_of: new Date(asOf.replace(' ', 'T')).toISOString() }),
      ...(statement !== '' && { statement_id: statement }),
    };
    try {
      const { data, response } = await http.POST('/v1/reconciliation/runs', { body });
      if (response.status === 200) notifications.show({ message: 'The same run was already in progress.' });
      void queries.invalidateQueries({ queryKey: ['get', '/v1/reconciliation/runs'] });
      if (data) go(`/reconciliation/runs/${data.id}`);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title="Start a run" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <DaysInput days={days} setDays={setDays} />
          <AccountInput
            account={account}
            choose={(chosen) => {
              setAccount(chosen);
              setStatement('');
            }}
          />
          <StatementInput account={account} statement={statement} setStatement={setStatement} />
          <AsOfInput asOf={asOf} setAsOf={setAsOf} />
          {failure !== undefined && <ProblemAlert error={failure} />}
          <Buttons isReady={period !== undefined} busy={busy} cancel={close} />
        </Stack>
      </form>
    </Modal>
  );
}

function AsOfInput({ asOf, setAsOf }: { asOf: string | null; setAsOf: (asOf: string | null) => void }) {
  const [now] = useState(() => new Date());
  return (
    <DateTimePicker
      label="As of"
      description={
        'In your time zone. Compares both sides as of this time and changes no finding states. Leave ' +
        'empty for the current time.'
      }
      clearable
      value={asOf}
      onChange={setAsOf}
      maxDate={now}
      weekendDays={[]}
      hideOutsideDates
      clearButtonProps={{ 'aria-label': 'As of now' }}
    />
  );
}

function Buttons({ isReady, busy, cancel }: { isReady: boolean; busy: boolean; cancel: () => void }) {
  const gate = useGate(isReady ? undefined : 'Choose a period first.');
  return (
    <Group justify="flex-end">
      {gate.hint}
      <Button variant="default" onClick={cancel}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} {...gate.button}>
        Start
      </Button>
    </Group>
  );
}

function DaysInput({ days, setDays }: { days: Days; setDays: (days: Days) => void }) {
  return (
    <div>
      <DatePickerInput
        type="range"
        label="Period"
        description="Whole days in UTC, both inclusive. Today counts until now."
        data-autofocus
        required
        allowSingleDateInRange
        value={days}
        onChange={setDays}
        maxDate={today()}
        valueFormat="YYYY-MM-DD"
        weekendDays={[]}
        hideOutsideDates
        ariaLabels={{ previousMonth: 'Previous month', nextMonth: 'Next month' }}
      />
      <Group gap={4} mt={4}>
        {presets().map(({ label, value }) => (
          <Button key={label} size="compact-xs" variant="default" onClick={() => setDays(value)}>
            {label}
          </Button>
        ))}
      </Group>
    </div>
  );
}

interface StatementProps {
  account: string;
  statement: string;
  setStatement: (id: string) => void;
}

function StatementInput({ account, statement, setStatement }: StatementProps) {
  const query = { page_size: 200 };
  const { data } = api.useQuery('get', '/v1/reconciliation/statements', { params: { query } });
  const ofAccount = data?.statements.filter((one) => one.account === account) ?? [];
  const statements = ofAccount.map(({ read_id: value, file, imported_at: at, kept }) => ({
    value,
    label: `${file ?? 'Statement'}, ${kept} rows, of ${formatLocal(at)}`,
  }));
  return (
    <NativeSelect
      label="Compare with"
      value={statement}
      onChange={({ currentTarget: { value } }) => setStatement(value)}
      data={[{ value: '', label: "the upstream's own listing" }, ...statements]}
    />
  );
}
