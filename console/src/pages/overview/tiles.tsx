import { Paper, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Overview, OverviewUpstream } from '../../api/generated/schema';
import { formatCount, inWords } from '../../components/values/format';
import { Instant, Usd } from '../../components/values/values';
import { fails, lastAnswer, noneOpen, paceWords, upstreamWords } from './words';

/** Shows the areas that may need attention, with links. */
export function Tiles({ overview }: { overview: Overview }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 6 }} spacing="sm">
      <InDoubt {...overview} />
      <Queue {...overview} />
      <Approvals {...overview} />
      <Findings {...overview} />
      <Upstream {...overview} />
      <Seal {...overview} />
      <LastRun {...overview} />
    </SimpleGrid>
  );
}

function InDoubt({ in_doubt: inDoubt }: Pick<Overview, 'in_doubt'>) {
  if (inDoubt === null) return null;
  const { calls, usd, oldest_since: since } = inDoubt;
  return (
    <Tile title="Calls in doubt" href="/calls?in_doubt=true" value={formatCount(calls)} alarming={calls > 0}>
      {calls === 0 ? (
        'All outcomes are known.'
      ) : (
        <>
          <Usd amount={usd} />, the oldest since <Instant at={since} relative />.
        </>
      )}
    </Tile>
  );
}

/** Shows the queue while it has calls. */
function Queue({ queue }: Pick<Overview, 'queue'>) {
  if (queue === null || queue.calls === 0) return null;
  const { calls, oldest_since: since, released_last_minute: released } = queue;
  return (
    <Tile title="Queued calls" href="/calls?outcome=queued" value={formatCount(calls)}>
      The oldest since <Instant at={since} relative />. {paceWords(calls, released)}
    </Tile>
  );
}

function Approvals({ approvals }: Pick<Overview, 'approvals'>) {
  if (approvals === null) return null;
  const { waiting, usd, next_expires_at: expires } = approvals;
  return (
    <Tile title="Pending approval" href="/approvals" value={formatCount(waiting)} alarming={waiting > 0}>
      {waiting === 0 ? (
        'No calls are pending.'
      ) : (
        <>
          <Usd amount={usd} />, the next expires <Instant at={expires} relative />.
        </>
      )}
    </Tile>
  );
}

function Findings({ findings, last_run: run }: Pick<Overview, 'findings' | 'last_run'>) {
  if (findings === null) return null;
  const open = findings.reduce((sum, { count }) => sum + count, 0);
  const isUnknown = run === null && open === 0;
  return (
    <Tile
      title="Open findings"
      href="/reconciliation/findings"
      value={isUnknown ? 'no run yet' : formatCount(open)}
      alarming={open > 0}
    >
      {open > 0 ? 'Differences that need a decision.' : noneOpen(run)}
    </Tile>
  );
}

/** Shows the health of each account, as seen by this instance. */
function Upstream({ upstream }: Pick<Overview, 'upstream'>) {
  const isFailing = upstream.some(fails);
  const words = isFailing ? 'failing' : upstreamWords(lastAnswer(upstream));
  return (
    <Tile title="Upstream" value={words} alarming={isFailing}>
      {upstream.map((account) => (
        <Text key={account.account} span inherit display={upstream.length > 1 ? 'block' : undefined}>
          {upstream.length > 1 && <b>{account.account}: </b>}
          <Health of={account} />
        </Text>
      ))}
    </Tile>
  );
}

function Health({
  of: { open_circuits: open, last_answered_at: answered, last_failure_at: failed },
}: HealthProps) {
  return (
    <>
      {open.length > 0 && <>Circuit open: {open.join(', ')}. </>}
      {answered !== null && (
        <>
          Answered <Instant at={answered} relative />.{' '}
        </>
      )}
      {failed !== null && (
        <>
          Failed <Instant at={failed} relative />.
        </>
      )}
      {answered === null && failed === null && 'Not used since this instance started.'}
    </>
  );
}

interface HealthProps {
  of: OverviewUpstream;
}

function Seal({ seal }: Pick<Overview, 'seal'>) {
  if (seal === null) return null;
  return (
    <Tile title="Last seal" value={<Instant at={seal.sealed_at} relative />}>
      {formatCount(seal.size)} records are sealed.
    </Tile>
  );
}

function LastRun({ findings, last_run: run }: Pick<Overview, 'findings' | 'last_run'>) {
  if (findings === null) return null; // The key has no access to findings.
  if (run === null) {
    return (
      <Tile title="Last reconciliation" href="/reconciliation" value="no run yet">
        Start a run for yesterday.
      </Tile>
    );
  }
  const { id, result, state, difference_usd: difference, open_findings: open } = run;
  return (
    <Tile title="Last reconciliation" href={`/reconciliation/runs/${id}`} value={inWords(result ?? state)}>
      <Instant at={run.ended_at ?? run.started_at} relative />
      {run.account !== 'main' && `, account ${run.account}`}, {formatCount(open)} open
      {difference !== null && (
        <>
          , difference <Usd amount={difference} />
        </>
      )}
      .
    </Tile>
  );
}

interface TileProps {
  title: string;
  href?: string;
  value: ReactNode;
  /** Marks a tile that needs attention with a bar. The words explain why. */
  alarming?: boolean;
  children: ReactNode;
}

function Tile({ title, href, value, alarming = false, children }: TileProps) {
  return (
    <Paper
      withBorder
      p="sm"
      style={alarming ? { borderInlineStart: '4px solid var(--mantine-color-orange-6)' } : undefined}
    >
      <Text size="sm" c="dimmed">
        {href === undefined ? (
          title
        ) : (
          <Link href={href} className="tile-link">
            {title}
          </Link>
        )}
      </Text>
      <Text fw={650} size="xl">
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {children}
      </Text>
    </Paper>
  );
}
