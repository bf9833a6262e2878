import { Alert, Button, Menu, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useLocation, useParams } from 'wouter';
import { api, http } from '../../../api/client';
import type { RunRecord } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { save } from '../../../api/save';
import { Page } from '../../../components/page/page';
import { Answer } from '../../../components/page/states';
import { formatLocal, inWords } from '../../../components/values/format';
import { RESULT_WORDS } from '../../../words/reconciliation';
import { isUnderWay } from '../badges';
import { daysOf } from '../days';
import { ReconciliationNav } from '../nav';
import { Breakdown } from './breakdown';
import { Doubts } from './doubts';
import { Equation } from './equation';
import { RunFacts } from './run-facts';
import { RunProgress } from './run-progress';
import { Wallets } from './wallets';

const RUN = '/v1/reconciliation/runs/{id}';

export default function RunPage() {
  const { id = '' } = useParams();
  const run = api.useQuery('get', RUN, { params: { path: { id } } });
  const record = run.data as RunRecord | undefined; // JSON, because no other format was requested.
  return (
    <Page title={record ? titleOf(record) : 'Run'} actions={record?.result && <Downloads run={record} />}>
      <ReconciliationNav />
      <Answer of={{ ...run, data: record }} lines={8}>
        {(data) => <Run run={data} again={() => void run.refetch()} />}
      </Answer>
    </Page>
  );
}

const titleOf = ({ from, to }: RunRecord) =>
  `Run of ${daysOf(from, to) ?? `${formatLocal(from)} – ${formatLocal(to)}`}`;

function Run({ run, again }: { run: RunRecord; again: () => void }) {
  return (
    <Stack gap="lg">
      {isUnderWay(run) && <RunProgress run={run} onEnd={again} />}
      {run.state === 'interrupted' && <Interrupted run={run} />}
      {run.failure !== null && (
        <Alert color="red" variant="light" title="No result">
          {run.failure}
        </Alert>
      )}
      {run.result === 'clean' && (
        <Alert color="teal" variant="light" title="No differences">
          Every payment matches a transaction, and every transaction matches a payment.
        </Alert>
      )}
      {RESULT_WORDS[run.result ?? ''] !== undefined && (
        <Alert color="orange" variant="light" title={inWords(run.result ?? '')}>
          {RESULT_WORDS[run.result ?? '']}
        </Alert>
      )}
      {run.totals && (
        <>
          {run.totals.incomplete.length > 0 && <Incomplete reasons={run.totals.incomplete} />}
          <Equation totals={run.totals} runId={run.id} />
          <Doubts totals={run.totals} />
          <Breakdown run={run} totals={run.totals} />
          <Wallets wallets={run.totals.wallets} />
        </>
      )}
      <RunFacts run={run} />
    </Stack>
  );
}

function Incomplete({ reasons }: { reasons: { reason: string; detail: string }[] }) {
  return (
    <Alert color="orange" variant="light" title="Some data may not have been read">
      {reasons.map(({ reason, detail }) => (
        <p key={reason} style={{ margin: 0 }}>
          {detail}
        </p>
      ))}
      This run closed no findings.
    </Alert>
  );
}

/** Explains an interrupted run, which does not continue. */
function Interrupted({ run }: { run: RunRecord }) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const startAgain = async () => {
    const { from, to, as_of, historical, statement_id } = run;
    const body = { from, to, ...(historical && { as_of }), ...(statement_id !== null && { statement_id }) };
    try {
      const { data } = await http.POST('/v1/reconciliation/runs', { body });
      await queries.invalidateQueries({ queryKey: ['get', RUN] });
      if (data) go(`/reconciliation/runs/${data.id}`);
    } catch (error) {
      notifications.show({ color: 'red', message: messageOf(error) });
    }
  };
  return (
    <Alert color="orange" variant="light" title="This run was interrupted">
      <Stack gap="xs" align="flex-start">
        No worker continued this run within a day. You can start a new run of the same period.
        <Button size="xs" variant="default" onClick={() => void startAgain()}>
          Start a new run
        </Button>
      </Stack>
    </Alert>
  );
}

function Downloads({ run: { id, from } }: { run: RunRecord }) {
  const keep = (format: 'html' | 'csv' | 'json') =>
    save(
      `${RUN.replace('{id}', id)}/report?format=${format}`,
      `reconciliation-${from.slice(0, 10)}.${format}`,
    ).catch((error: unknown) => notifications.show({ color: 'red', message: messageOf(error) }));
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={14} />}>
          Report
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void keep('html')}>HTML, to read and print</Menu.Item>
        <Menu.Item onClick={() => void keep('csv')}>CSV, to decide in a spreadsheet</Menu.Item>
        <Menu.Item onClick={() => void keep('json')}>JSON, with all evidence</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
