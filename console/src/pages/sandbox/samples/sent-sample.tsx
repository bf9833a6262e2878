import { Alert, Button, Code, Group, List, Loader, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { SampleAnswerDto } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { useSession } from '../../../api/session';
import { Card } from '../../../components/page/section';
import { OutcomeBadge, WordBadge } from '../../../components/values/badges';
import { Copyable } from '../../../components/values/copyable';
import type { SampleRequest } from '../queries';
import { envelopeOf, explain, outcomeOf } from './answer-words';

/** Shows the response to the last sample. */
export function SentSample({ sending }: { sending: SampleRequest }) {
  const { isPending, submittedAt, data, variables, error } = sending;
  if (isPending) {
    return (
      <Card title="Answer">
        <Waiting since={submittedAt} />
      </Card>
    );
  }
  if (error) {
    return (
      <Alert color="red" role="alert" title="The request could not be sent">
        {messageOf(error)}
      </Alert>
    );
  }
  if (!data) return null;
  const again = () => sending.mutate({ body: { ...variables.body, idempotency_key: data.idempotency_key } });
  return (
    <Card title="Answer">
      <Answered key={`${data.call_id} ${submittedAt}`} answer={data} again={again} />
    </Card>
  );
}

/** @param since time of the request, in milliseconds. */
function Waiting({ since }: { since: number }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - since) / 1_000)), 250);
    return () => clearInterval(timer);
  }, [since]);
  return (
    <Group wrap="nowrap" align="flex-start">
      <Loader size="sm" aria-hidden />
      <div>
        <VisuallyHidden role="status">Sent. Waiting for the response.</VisuallyHidden>
        <Text size="sm" fw={600} role="timer">
          {seconds} s
        </Text>
        <Text size="sm" c="dimmed">
          The proxy is waiting for the upstream&rsquo;s response. If a fault suppresses the response, the
          outcome becomes unknown after UPSTREAM_TIMEOUT_MS (30 seconds by default).
        </Text>
      </div>
    </Group>
  );
}

function Answered({ answer, again }: { answer: SampleAnswerDto; again: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), []);
  const errors = envelopeOf(answer).errors ?? [];
  return (
    <Stack gap="sm" ref={place} style={{ scrollMarginBlock: 72 }}>
      <Stack gap="xs" role="status">
        <Group gap="xs">
          <OutcomeBadge outcome={outcomeOf(answer)} />
          {answer.replayed && <WordBadge color="blue">replayed</WordBadge>}
          <Text size="sm">HTTP status {answer.status}</Text>
        </Group>
        <Text size="sm">{explain(answer)}</Text>
        {answer.replayed && (
          <Text size="sm">This is a replay of the first response. Nothing was sent again.</Text>
        )}
      </Stack>
      {errors.length > 0 && (
        <List size="sm">
          {errors.map(({ pointer, detail }) => (
            <List.Item key={pointer + detail}>
              <Code>{pointer}</Code> {detail}
            </List.Item>
          ))}
        </List>
      )}
      <WhereToGo answer={answer} again={again} />
      <Group gap="xs">
        <Text size="sm">Idempotency-Key</Text>
        <Copyable text={answer.idempotency_key} label="Idempotency-Key" />
      </Group>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label="Response body"
        mah={320}
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
      >
        {typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body, null, 2)}
      </Code>
    </Stack>
  );
}

function WhereToGo({ answer, again }: { answer: SampleAnswerDto; again: () => void }) {
  const { may } = useSession();
  const isHeld = outcomeOf(answer) === 'pending_approval';
  return (
    <Group gap="xs">
      {may('audit') && answer.call_id !== '' && (
        <Button size="xs" component={Link} href={`/calls/${answer.call_id}`}>
          View history
        </Button>
      )}
      {isHeld && may('approve') && (
        <Button size="xs" variant="light" component={Link} href={`/approvals/${answer.call_id}`}>
          Approve or reject
        </Button>
      )}
      <Button size="xs" variant="default" onClick={again}>
        Send the same again
      </Button>
    </Group>
  );
}
