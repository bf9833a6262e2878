import { Button, Group, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { SampleDto, SandboxDto } from '../../../api/generated/schema';
import { ApiProblem } from '../../../api/problem';
import { useGate } from '../../../components/forms/gate';
import { Card } from '../../../components/page/section';
import { Operation } from '../../../components/values/values';
import type { SampleRequest } from '../queries';
import { envelopeOf } from './answer-words';
import { bodyOf, type Fields, read } from './draft';
import { BodyFields, type Faults } from './fields';

interface Props {
  sandbox: SandboxDto;
  sample: SampleDto;
  sending: SampleRequest;
  choose: (operation: SampleDto['operation']) => void;
}

/** Shows the form for a sample payout, with fields or as JSON. */
export function SampleForm({ sandbox, sample, sending, choose }: Props) {
  const [draft, setDraft] = useState<Fields>(sample.body);
  const [json, setJson] = useState<string>();
  const [key, setKey] = useState('');
  const [faults, setFaults] = useState<Faults>({});
  const written = json === undefined ? { body: bodyOf(draft, sample.body) } : read(json);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!('body' in written)) return;
    const sent = { operation: sample.operation, body: written.body };
    const body = key === '' ? sent : { ...sent, idempotency_key: key };
    setFaults({});
    sending.mutate(
      { body },
      {
        onSuccess: (answer) => setFaults(byPointer(envelopeOf(answer).errors)),
        onError: (error) => setFaults(byPointer(errorsIn(error))),
      },
    );
  };
  return (
    <Card
      title="Send a sample payout"
      lead="Sends a request with the key of the demo client app. It is processed like any other request."
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <SampleSelect sandbox={sandbox} sample={sample} sending={sending} choose={choose} />
          <AsJson
            isOn={json !== undefined}
            isReadable={'body' in written}
            turn={(on) => {
              if ('body' in written && !on) setDraft(written.body);
              setJson(on && 'body' in written ? JSON.stringify(written.body, null, 2) : undefined);
            }}
          />
          {json === undefined ? (
            <BodyFields
              fields={draft}
              like={sample.body}
              recipients={sandbox.magic_recipients}
              faults={faults}
              change={(fields, changed) => {
                setDraft(fields);
                setFaults(without(faults, changed));
              }}
            />
          ) : (
            <Json json={json} setJson={setJson} fault={'fault' in written ? written.fault : undefined} />
          )}
          <IdempotencyKey value={key} change={setKey} fault={faults['/idempotency_key']} />
          <SendButton isPending={sending.isPending} isReadable={'body' in written} />
        </Stack>
      </form>
    </Card>
  );
}

function SendButton({ isPending, isReadable }: { isPending: boolean; isReadable: boolean }) {
  const gate = useGate(isReadable ? undefined : 'Correct the JSON first.');
  return (
    <Group justify="flex-end">
      {gate.hint}
      <Button type="submit" loading={isPending} {...gate.button}>
        Send
      </Button>
    </Group>
  );
}

const errorsIn = (error: unknown) => (error instanceof ApiProblem ? error.problem?.errors : []);

const byPointer = (errors: { pointer: string; detail: string }[] = []): Faults =>
  Object.fromEntries(errors.map(({ pointer, detail }) => [pointer, detail]));

/** Removes errors about the changed part and everything in it. */
const without = (faults: Faults, changed: string): Faults =>
  Object.fromEntries(Object.entries(faults).filter(([pointer]) => !`${pointer}/`.startsWith(`${changed}/`)));

function SampleSelect({ sandbox: { samples }, sample, sending, choose }: Props) {
  return (
    <Select
      label="Sample"
      description={<Operation name={sample.operation} />}
      allowDeselect={false}
      disabled={sending.isPending}
      data={samples.map(({ operation, title }) => ({ value: operation, label: title }))}
      value={sample.operation}
      onChange={(operation) => operation !== null && choose(operation)}
    />
  );
}

interface SwitchProps {
  isOn: boolean;
  isReadable: boolean;
  turn: (on: boolean) => void;
}

function AsJson({ isOn, isReadable, turn }: SwitchProps) {
  return (
    <Switch
      label="As JSON"
      checked={isOn}
      disabled={!isReadable}
      onChange={({ currentTarget: { checked } }) => turn(checked)}
    />
  );
}

interface JsonProps {
  json: string;
  setJson: (json: string) => void;
  fault: string | undefined;
}

function Json({ json, setJson, fault }: JsonProps) {
  return (
    <Textarea
      label="Body"
      autosize
      minRows={6}
      maxRows={24}
      spellCheck={false}
      value={json}
      error={fault}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onChange={({ currentTarget: { value } }) => setJson(value)}
    />
  );
}

interface KeyProps {
  value: string;
  change: (value: string) => void;
  fault: string | undefined;
}

function IdempotencyKey({ value, change, fault }: KeyProps) {
  return (
    <TextInput
      label="Idempotency-Key"
      description={
        <Text span inherit>
          If empty, each request gets a new key. With a key that was used before, nothing is paid again.
        </Text>
      }
      placeholder="new key"
      autoComplete="off"
      value={value}
      error={fault}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
