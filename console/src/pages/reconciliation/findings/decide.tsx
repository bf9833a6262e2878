import { Alert, Radio, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import type { FindingDecisionDto, FindingRecord } from '../../../api/generated/schema';
import { ApiProblem, messageOf } from '../../../api/problem';
import { useSession } from '../../../api/session';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { formatCount } from '../../../components/values/format';
import { DECISION_WORDS } from '../../../words/reconciliation';

/** Most decisions that the API accepts in one request. */
export const MAX_DECISIONS = 10_000;

/** Reasons why findings were not decided, by finding ID. */
export type Conflicts = ReadonlyMap<string, string>;

/** For the findings that failed while the others can be decided. */
const REFUSED = new Set(['finding_changed', 'own_approval']);

type Decision = FindingDecisionDto['state'];

const isClosed = ({ state }: FindingRecord) => state !== 'open' && state !== 'reopened';

interface Props {
  findings: FindingRecord[];
  close: () => void;
  onDecided: () => void;
  /** Called with the rejected findings and the reasons. Nothing was decided. */
  onConflict: (conflicts: Conflicts) => void;
}

/** Decides about one or more findings, all or none. */
export function Decide({ findings, close, onDecided, onConflict }: Props) {
  const queries = useQueryClient();
  const closed = findings.filter(isClosed).length;
  const [decision, setDecision] = useState<Decision>(closed > 0 ? 'reopened' : 'explained');
  const again = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [, path] }) => String(path).startsWith('/v1/reconciliation'),
    });
  const run = async (reason: string) => {
    if (findings.length === 0)
      throw new Error('There are no findings left to decide. Close this dialog and check the list.');
    const decisions = findings.map(({ id, version }) => ({
      finding_id: id,
      state: decision,
      reason,
      version,
    }));
    try {
      await http.POST('/v1/reconciliation/findings/decisions', { body: { decisions } });
    } catch (error) {
      const conflicts = conflictsIn(error, findings);
      if (conflicts.size === 0) throw new Error(withFaults(error), { cause: error });
      onConflict(conflicts);
      void again();
      throw new Error(sentenceOf(messageOf(error), conflicts.size, findings.length), { cause: error });
    }
    onDecided();
    notifications.show({
      message: `${countWords(findings.length)} ${findings.length === 1 ? 'is' : 'are'} ${decision}.`,
    });
    await again();
  };
  return (
    <ReasonDialog
      title={`Decide ${countWords(findings.length)}`}
      action={`Mark as ${decision}`}
      maxLength={1_000}
      run={run}
      close={close}
    >
      {closed > 0 && closed < findings.length && (
        <Alert color="orange" variant="light">
          {formatCount(closed)} of these are already decided and can only be reopened. Select either decided
          or open findings.
        </Alert>
      )}
      <Choices decision={decision} setDecision={setDecision} isClosed={closed > 0} />
    </ReasonDialog>
  );
}

interface ChoicesProps {
  decision: Decision;
  setDecision: (decision: Decision) => void;
  isClosed: boolean;
}

function Choices({ decision, setDecision, isClosed }: ChoicesProps) {
  const { session } = useSession();
  const possible: Decision[] = isClosed ? ['reopened'] : ['explained', 'resolved', 'accepted'];
  return (
    <Radio.Group label="Decision" value={decision} onChange={(value) => setDecision(value)}>
      <Stack gap="xs" mt={4}>
        {possible.map((each) => (
          <Radio key={each} value={each} label={each} description={DECISION_WORDS[each]} />
        ))}
      </Stack>
      {decision === 'accepted' && session.person === null && (
        <Text size="sm" mt="xs" c="dimmed">
          Your key does not belong to a person. To accept, sign in with a personal key.
        </Text>
      )}
    </Radio.Group>
  );
}

const countWords = (count: number) => (count === 1 ? 'one finding' : `${formatCount(count)} findings`);

/** Errors name decisions by their positions. Errors about other parts of the request are left out. */
function conflictsIn(error: unknown, findings: FindingRecord[]): Conflicts {
  const conflicts = new Map<string, string>();
  if (!(error instanceof ApiProblem) || !REFUSED.has(error.code ?? '')) return conflicts;
  for (const { pointer, detail } of error.problem?.errors ?? []) {
    const finding = findings[Number(/^\/decisions\/(\d+)\//.exec(pointer)?.[1])];
    // The first error explains the most.
    if (finding && !conflicts.has(finding.id)) conflicts.set(finding.id, detail);
  }
  return conflicts;
}

/** Lists each error once, because many decisions often share one. */
function withFaults(error: unknown): string {
  const faults = (error instanceof ApiProblem && error.problem?.errors) || [];
  const details = [...new Set(faults.map(({ detail }) => detail))].slice(0, 5);
  return [messageOf(error), ...details].join(' ');
}

function sentenceOf(message: string, refused: number, total: number): string {
  const others = total - refused;
  const next = others > 0 ? ` The other ${formatCount(others)} are still selected. Decide them again.` : '';
  return `Nothing was decided. ${message} ${countWords(refused)} marked and no longer selected.${next}`;
}
