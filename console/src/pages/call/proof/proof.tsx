import { Alert, Button, Code, Text, Group, List, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { Download, ShieldCheck, Check, Minus, X } from 'lucide-react';
import { useState } from 'react';
import { revealing } from '../../../api/client';
import type { CallTimeline } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { save } from '../../../api/save';
import { Section } from '../../../components/page/section';
import type { Step } from '../../../verify/verify';
import { forgetLog, type MissingFeature, type Verification, verifyHere } from './verification';
import classes from '../call.module.css';

interface Props {
  timeline: CallTimeline;
  revealed: boolean;
}

/** Shows the receipt, and verifies it in this browser. */
export function Proof({ timeline, revealed }: Props) {
  const [verification, setVerification] = useState<Verification>();
  const [waiting, setWaiting] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const attempt = async (what: string, work: () => Promise<void>) => {
    setWaiting(what);
    setFailure(undefined);
    await work().catch(setFailure);
    setWaiting(undefined);
  };
  const verify = () =>
    attempt('Verifying…', async () => {
      setVerification(undefined);
      setVerification(await verifyHere(timeline, revealed, setWaiting));
    });
  const download = () =>
    attempt('Creating the receipt…', () =>
      save(`/v1/audit/calls/${timeline.id}/receipt`, `receipt-${timeline.id}.json`, {
        headers: revealing(revealed),
      }),
    );
  return (
    <Section
      title="Proof"
      lead={
        'Every record is sealed in a tamper-evident log. Verify checks the records in your browser. It ' +
        "computes all hashes itself and trusts only the log's key."
      }
      actions={
        <ProofButtons
          isBusy={waiting !== undefined}
          download={() => void download()}
          verify={() => void verify()}
        />
      }
    >
      <Text size="sm" role="status">
        {waiting}
      </Text>
      {failure !== undefined && (
        <Alert color="red" variant="light" role="alert">
          {messageOf(failure)}
        </Alert>
      )}
      {verification?.missing && <Elsewhere missing={verification.missing} id={timeline.id} />}
      {verification && !verification.missing && (
        <Result verification={verification} trust={() => (forgetLog(), void verify())} />
      )}
    </Section>
  );
}

interface ButtonsProps {
  isBusy: boolean;
  download: () => void;
  verify: () => void;
}

function ProofButtons({ isBusy, download, verify }: ButtonsProps) {
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Download size={14} />}
        disabled={isBusy}
        onClick={download}
      >
        Download receipt
      </Button>
      <Button size="xs" leftSection={<ShieldCheck size={14} />} loading={isBusy} onClick={verify}>
        Verify
      </Button>
    </>
  );
}

interface ResultProps {
  verification: Verification;
  trust: () => void;
}

function Result({ verification: { steps, hasOtherKey }, trust }: ResultProps) {
  const wrong = steps.filter(({ state }) => state === 'wrong').length;
  return (
    <>
      <Alert
        color={wrong > 0 ? 'red' : 'teal'}
        variant="light"
        role={wrong > 0 ? 'alert' : 'status'}
        title={wrong > 0 ? 'Verification FAILED' : 'Verified'}
      >
        {wrong > 0
          ? `${wrong === 1 ? 'One step' : `${wrong} steps`} failed. See the details below. Save this ` +
            'page and tell the auditors of the proxy.'
          : 'These records are in the log that its key signed, and this page matches them. This does ' +
            'not prove that the recorded facts are true, or that everyone sees the same log. To check ' +
            "that, compare the checkpoint with a witness's copy."}
      </Alert>
      {hasOtherKey && (
        <Button variant="default" size="xs" color="red" onClick={trust} style={{ alignSelf: 'flex-start' }}>
          The operator announced this new key to me. Trust it from now on.
        </Button>
      )}
      <Steps steps={steps} />
    </>
  );
}

/** Explains how to verify if this browser cannot. */
function Elsewhere({ missing, id }: { missing: MissingFeature; id: string }) {
  return (
    <Alert color="orange" variant="light" title="This browser cannot verify here">
      <Text size="sm">
        {missing === 'web-crypto'
          ? 'Browsers support cryptography only on https and localhost, and this page was loaded over ' +
            'http. Open the console over https, or verify on the server:'
          : 'This browser does not support Ed25519 signatures. Update it, or verify on the server:'}
      </Text>
      <Code block>npm run cli -- audit verify --key log.pub</Code>
      <Text size="sm">Or download the receipt and verify it on a machine that you trust:</Text>
      <Code block>node tools/verify-receipt.mjs --key log.pub receipt-{id}.json</Code>
    </Alert>
  );
}

const LOOKS = {
  right: { color: 'teal', word: 'right', Icon: Check },
  wrong: { color: 'red', word: 'wrong', Icon: X },
  open: { color: 'gray', word: 'not compared', Icon: Minus },
} as const;

/** Lists the steps of the verification, each with its result and evidence. */
function Steps({ steps }: { steps: Step[] }) {
  return (
    <List type="ordered" listStyleType="none" spacing="sm" aria-label="Steps of the verification">
      {steps.map((step) => (
        <List.Item key={step.title} styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}>
          <StepView step={step} />
        </List.Item>
      ))}
    </List>
  );
}

function StepView({ step: { title, state, explanation, details } }: { step: Step }) {
  const { color, word, Icon } = LOOKS[state];
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon color={color} size="sm" radius="xl" variant="light" mt={2}>
        <Icon size={14} aria-hidden />
      </ThemeIcon>
      <div style={{ minWidth: 0, flex: 1 }}>
        <Text size="sm" fw={600}>
          {title} <VisuallyHidden>({word})</VisuallyHidden>
        </Text>
        <Text size="sm" className="wrap-anywhere">
          {explanation}
        </Text>
        {details.length > 0 && (
          <details>
            <summary className={classes.summary}>Details</summary>
            <dl className={classes.evidence}>
              {details.map(([what, value], at) => (
                <div key={at}>
                  <dt>{what}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </Group>
  );
}
