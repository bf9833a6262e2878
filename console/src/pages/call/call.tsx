import { Alert, Button, Grid, Group, Stack, Text } from '@mantine/core';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { useParams } from 'wouter';
import type { CallTimeline } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { Page } from '../../components/page/page';
import { Failure, Loading } from '../../components/page/states';
import { OutcomeBadge } from '../../components/values/badges';
import { clientWords } from '../../components/values/format';
import { Usd } from '../../components/values/values';
import { Actions } from './actions';
import { Facts } from './facts';
import { Findings } from './findings';
import { Items } from './items/items';
import { Messages } from './messages/messages';
import { Proof } from './proof/proof';
import { Readers } from './readers';
import { Settle } from './settle';
import { History } from './timeline/history';
import { useTimeline } from './use-timeline';

/** Shows all records of one call. */
export default function CallPage() {
  const { id = '' } = useParams();
  const [revealed, setRevealed] = useState(false);
  const { timeline, readers, isRevealed, isRevealing, error, retry } = useTimeline(id, revealed);
  if (!timeline) {
    return (
      <Page title="Call">{error ? <Failure error={error} retry={retry} /> : <Loading lines={8} />}</Page>
    );
  }
  return (
    <Page
      title={timeline.operation}
      lead={<Summary timeline={timeline} />}
      actions={
        <>
          <Reveal revealed={isRevealed} busy={isRevealing} reveal={setRevealed} />
          <Settle timeline={timeline} />
        </>
      }
    >
      {error !== null && <Failure error={error} retry={retry} />}
      {isRevealed && (
        <Alert variant="light" color="orange" role="status">
          People are not masked. Your access was recorded. See the list of readers below.
        </Alert>
      )}
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="xl">
            <Facts timeline={timeline} />
            <History timeline={timeline} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="xl">
            <Findings timeline={timeline} />
            <Items timeline={timeline} />
            <Messages timeline={timeline} revealed={isRevealed} />
            <Proof timeline={timeline} revealed={isRevealed} />
            <Actions timeline={timeline} />
            <Readers readers={readers} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Summary({ timeline }: { timeline: CallTimeline }) {
  return (
    <Group component="span" gap="xs" mt={4}>
      <OutcomeBadge outcome={timeline.outcome} />
      <Text span inherit>
        {clientWords(timeline.client, timeline.account)}
      </Text>
      {timeline.total_usd !== null && (
        <Text span inherit fw={600} c="var(--mantine-color-text)">
          <Usd amount={timeline.total_usd} />
        </Text>
      )}
    </Group>
  );
}

interface RevealProps {
  revealed: boolean;
  busy: boolean;
  reveal: (revealed: boolean) => void;
}

function Reveal({ revealed, busy, reveal }: RevealProps) {
  const { may } = useSession();
  if (!may('audit:pii')) return null;
  return (
    <Button
      variant="default"
      size="xs"
      loading={busy}
      leftSection={revealed ? <EyeOff size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
      title={revealed ? undefined : 'The history records each person who sees them.'}
      onClick={() => reveal(!revealed)}
    >
      {revealed ? 'Mask people again' : 'Reveal people (recorded)'}
    </Button>
  );
}
