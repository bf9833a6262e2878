import { Alert, Button, Grid, Group, Stack, Text } from '@mantine/core';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { useParams } from 'wouter';
import type { CallStory } from '../../api/generated/schema';
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
import { useStory } from './use-story';

/** Shows all records of one call. */
export default function CallPage() {
  const { id = '' } = useParams();
  const [revealed, setRevealed] = useState(false);
  const { story, readers, isRevealed, isRevealing, error, retry } = useStory(id, revealed);
  if (!story) {
    return (
      <Page title="Call">{error ? <Failure error={error} retry={retry} /> : <Loading lines={8} />}</Page>
    );
  }
  return (
    <Page
      title={story.operation}
      lead={<Summary story={story} />}
      actions={
        <>
          <Reveal revealed={isRevealed} busy={isRevealing} reveal={setRevealed} />
          <Settle story={story} />
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
            <Facts story={story} />
            <History story={story} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="xl">
            <Findings story={story} />
            <Items story={story} />
            <Messages story={story} revealed={isRevealed} />
            <Proof story={story} revealed={isRevealed} />
            <Actions story={story} />
            <Readers readers={readers} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Summary({ story }: { story: CallStory }) {
  return (
    <Group component="span" gap="xs" mt={4}>
      <OutcomeBadge outcome={story.outcome} />
      <Text span inherit>
        {clientWords(story.client, story.account)}
      </Text>
      {story.total_usd !== null && (
        <Text span inherit fw={600} c="var(--mantine-color-text)">
          <Usd amount={story.total_usd} />
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
