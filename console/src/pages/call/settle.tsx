import { Button, Radio, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../api/client';
import { type CallTimeline, resolutionDtoOutcomeValues } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { useStoredDraft } from '../../components/forms/draft-storage';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { inWords } from '../../components/values/format';
import { SETTLEMENT_WORDS } from '../../words/calls';
import { notifyPendingChange } from '../clients/pending-change';

/** Longest reason of a settlement. */
const MAX_REASON = 1_000;

/** Lets people with the scope `approve` settle the payouts in doubt of a call. */
export function Settle({ timeline }: { timeline: CallTimeline }) {
  const { may } = useSession();
  const [opened, setOpened] = useState(false);
  const isInDoubt =
    timeline.outcome === 'unknown' || timeline.items.some(({ state }) => state === 'in_doubt');
  if (!isInDoubt || !may('approve')) return null;
  return (
    <>
      <Button size="xs" onClick={() => setOpened(true)}>
        Settle manually
      </Button>
      {opened && <SettleDialog timeline={timeline} close={() => setOpened(false)} />}
    </>
  );
}

function SettleDialog({ timeline: { id, operation }, close }: { timeline: CallTimeline; close: () => void }) {
  const queries = useQueryClient();
  const { kept, submitDraft } = useStoredDraft<string | undefined>(`outcome of ${id}`);
  const [outcome, setOutcome] = useState(kept);
  const settle = async (reason: string) => {
    const chosen = resolutionDtoOutcomeValues.find((value) => value === outcome);
    if (!chosen) return;
    const answer = await http.POST('/v1/calls/{id}/resolution', {
      params: { path: { id } },
      body: { outcome: chosen, reason },
    });
    if (answer.data) notifyPendingChange(answer.data);
    await queries.invalidateQueries({ queryKey: ['get', '/v1/audit/calls/{id}'] });
  };
  return (
    <ReasonDialog
      title="Settle a call in doubt"
      action="Settle"
      maxLength={MAX_REASON}
      missing={outcome === undefined ? 'Choose an outcome first.' : undefined}
      decision={`settle ${id}`}
      run={(reason) => submitDraft(outcome, () => settle(reason))}
      close={close}
    >
      <Text size="sm">
        Record the outcome of the payouts in doubt of {operation} at the upstream. Look it up with the
        provider first. The settlement is recorded with your name. With dual control, one that releases a
        reservation waits for a second person, and every other one takes effect immediately. Only the API can
        correct it later.
      </Text>
      <Radio.Group label="Outcome" required value={outcome ?? null} onChange={setOutcome}>
        <Stack gap="xs" mt={4}>
          {resolutionDtoOutcomeValues.map((value) => (
            <Radio key={value} value={value} label={SETTLEMENT_WORDS[value] ?? inWords(value)} />
          ))}
        </Stack>
      </Radio.Group>
    </ReasonDialog>
  );
}
