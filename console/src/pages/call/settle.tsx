import { Button, Radio, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../api/client';
import { type CallStory, resolutionDtoVerdictValues } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { inWords } from '../../components/format';
import { ReasonDialog } from '../../components/reason-dialog';

const MEANING: Partial<Record<string, string>> = {
  confirmed: 'It was carried out: what it paid counts',
  not_executed: 'It was not carried out, and never will be: what it had reserved is given back',
};

/** Of the resolution's reason. */
const MAX_REASON = 1_000;

/** For a call in doubt, to those who may decide what became of it. */
export function Settle({ story }: { story: CallStory }) {
  const { may } = useSession();
  const [opened, setOpened] = useState(false);
  if (story.outcome !== 'unknown' || !may('approve')) return null;
  return (
    <>
      <Button size="xs" onClick={() => setOpened(true)}>
        Settle by hand
      </Button>
      {opened && <SettleDialog story={story} close={() => setOpened(false)} />}
    </>
  );
}

function SettleDialog({ story: { id, operation }, close }: { story: CallStory; close: () => void }) {
  const queries = useQueryClient();
  const [verdict, setVerdict] = useState<string>();
  const settle = async (reason: string) => {
    const chosen = resolutionDtoVerdictValues.find((value) => value === verdict);
    if (!chosen) return;
    await http.POST('/v1/calls/{id}/resolution', { params: { path: { id } }, body: { verdict: chosen, reason } });
    await queries.invalidateQueries({ queryKey: ['get', '/v1/audit/calls/{id}'] });
  };
  return (
    <ReasonDialog
      title="Settle a call in doubt"
      action="Settle"
      maxLength={MAX_REASON}
      missing={verdict === undefined ? 'Choose what became of it first.' : undefined}
      run={settle}
      close={close}
    >
      <Text size="sm">
        Say what became of {operation} at the upstream. This is on record with your name. It takes effect at once; only
        the API can correct it later. Look it up with the provider first.
      </Text>
      <Radio.Group label="What became of it" required value={verdict ?? null} onChange={setVerdict}>
        <Stack gap="xs" mt={4}>
          {resolutionDtoVerdictValues.map((value) => (
            <Radio key={value} value={value} label={MEANING[value] ?? inWords(value)} />
          ))}
        </Stack>
      </Radio.Group>
    </ReasonDialog>
  );
}
