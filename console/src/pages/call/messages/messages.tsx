import { Button, CopyButton, Group, Stack, Text, Title } from '@mantine/core';
import { Check, Copy, SquareTerminal } from 'lucide-react';
import { type ReactNode, Fragment } from 'react';
import type { CallTimeline, RecordMessage } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { Section } from '../../../components/page/section';
import { curlOf, warningOf } from './curl';
import classes from '../call.module.css';

interface Props {
  timeline: CallTimeline;
  revealed: boolean;
}

/** Shows the request to the upstream and its response. */
export function Messages({ timeline, revealed }: Props) {
  const { may } = useSession();
  const { request, response } = timeline;
  if (!request && !response) return null;
  const curl = curlOf(timeline, location.origin);
  const hidden = may('audit:pii') ? 'Reveal people to see them.' : 'Your key does not have access to people.';
  return (
    <Section
      title="Request and response"
      lead={
        revealed
          ? 'As they were sent and received.'
          : `Data that may identify people is masked with dots. ${hidden}`
      }
      actions={
        curl !== undefined && <CopyText text={curl} name="Copy as curl" icon={<SquareTerminal size={14} />} />
      }
    >
      {curl !== undefined && (
        <Text size="xs" c="dimmed" maw="80ch">
          As curl: {warningOf(timeline, revealed)}
        </Text>
      )}
      {request && (
        <Message
          title="Request"
          message={request}
          missing="The request had no body, or the body was erased."
        />
      )}
      {response && (
        <Message
          title="Response"
          message={response}
          missing="There was no response, or the response was erased."
        />
      )}
    </Section>
  );
}

function Message({ title, message, missing }: { title: string; message: RecordMessage; missing: string }) {
  const { query, body } = message;
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null, null, 2);
  const isThere = body !== null && body !== undefined;
  return (
    <Stack gap={4} miw={0}>
      <Group justify="space-between">
        <Title order={3} size="h6">
          {title}
        </Title>
        {isThere && (
          <CopyText text={text} name={`Copy the ${title.toLowerCase()}`} icon={<Copy size={14} />} />
        )}
      </Group>
      {query && (
        <Text size="sm" ff="monospace" className="wrap-anywhere">
          ?{query}
        </Text>
      )}
      {isThere ? (
        <JsonView label={`${title} body`} text={text} />
      ) : (
        !query && (
          <Text size="sm" c="dimmed">
            {missing}
          </Text>
        )
      )}
    </Stack>
  );
}

function CopyText({ text, name, icon }: { text: string; name: string; icon: ReactNode }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          size="compact-xs"
          leftSection={copied ? <Check size={14} /> : icon}
          onClick={copy}
        >
          {copied ? 'Copied' : name}
        </Button>
      )}
    </CopyButton>
  );
}

/** Longer texts are shown in one color, because each colored word is an element of the page. */
const MAX_COLORED = 100_000;

/** Matches strings, then numbers and literals. A string before a colon is a name. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b)/g;

/** Shows indented JSON with its original content. It scrolls on its own, also by keyboard. */
function JsonView({ label, text }: { label: string; text: string }) {
  return (
    <pre className={classes.json} tabIndex={0} role="region" aria-label={label}>
      {text.length > MAX_COLORED ? text : colored(text)}
    </pre>
  );
}

function colored(text: string) {
  let end = 0;
  const parts = [...text.matchAll(TOKENS)].map(({ 0: token, 1: word, 2: colon, index }) => {
    const before = text.slice(end, index);
    end = index + token.length;
    const isName = word !== undefined && colon !== undefined;
    const className = isName ? undefined : word === undefined ? classes.number : classes.text;
    return (
      <Fragment key={index}>
        {before}
        {className === undefined ? token : <span className={className}>{token}</span>}
      </Fragment>
    );
  });
  return [...parts, text.slice(end)];
}
