import { Alert, Button, Code, Text } from '@mantine/core';
import { Download, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { CallStory } from '../../api/generated/schema';
import { revealing } from '../../api/client';
import { messageOf } from '../../api/problem';
import { save } from '../../components/save';
import { Section } from '../../components/section';
import { Steps } from './steps';
import { forgetLog, type Lacking, type Verification, verifyHere } from './verification';

interface Props {
  story: CallStory;
  revealed: boolean;
}

/** The receipt, and its verification in this browser. */
export function Proof({ story, revealed }: Props) {
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
      setVerification(await verifyHere(story, revealed, setWaiting));
    });
  const download = () =>
    attempt('Making the receipt…', () =>
      save(`/v1/audit/calls/${story.id}/receipt`, `receipt-${story.id}.json`, { headers: revealing(revealed) }),
    );
  const isBusy = waiting !== undefined;
  return (
    <Section
      title="Proof"
      lead="Every record is sealed in a log that cannot be changed without a trace. Verify checks that here, in your browser: it computes all hashes itself and believes only the log's key."
      actions={
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={<Download size={14} />}
            disabled={isBusy}
            onClick={() => void download()}
          >
            Download receipt
          </Button>
          <Button size="xs" leftSection={<ShieldCheck size={14} />} loading={isBusy} onClick={() => void verify()}>
            Verify
          </Button>
        </>
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
      {verification?.lacking && <Elsewhere lacking={verification.lacking} id={story.id} />}
      {verification && !verification.lacking && (
        <Result verification={verification} trust={() => (forgetLog(), void verify())} />
      )}
    </Section>
  );
}

function Result({ verification: { steps, hasOtherKey }, trust }: { verification: Verification; trust: () => void }) {
  const wrong = steps.filter(({ state }) => state === 'wrong').length;
  return (
    <>
      <Alert
        {...{ color: wrong > 0 ? 'red' : 'teal', variant: 'light', role: wrong > 0 ? 'alert' : 'status' }}
        title={wrong > 0 ? 'This does NOT hold' : 'Verified'}
      >
        {wrong > 0
          ? `${wrong === 1 ? 'One step' : `${wrong} steps`} failed: below is which, and why. Keep this page, and tell whoever audits the proxy.`
          : "These records are in the log that its key signed, and this page shows what they say. It does not prove that what was recorded is true, nor that everybody is shown the same log: compare the checkpoint with a witness's."}
      </Alert>
      {hasOtherKey && (
        <Button variant="default" size="xs" color="red" onClick={trust} style={{ alignSelf: 'flex-start' }}>
          The operator announced the new key to me: trust it from now on
        </Button>
      )}
      <Steps steps={steps} />
    </>
  );
}

/** Where this browser cannot, something else can. */
function Elsewhere({ lacking, id }: { lacking: Lacking; id: string }) {
  return (
    <Alert color="orange" variant="light" title="This browser cannot verify here">
      <Text size="sm">
        {lacking === 'web-crypto'
          ? 'Browsers do cryptography for pages of https and of localhost only, and this one came over plain http. Open the console over https, or verify on the server:'
          : 'It does not know Ed25519 signatures yet. Update it, or verify on the server:'}
      </Text>
      <Code block>npm run cli -- audit verify --key log.pub</Code>
      <Text size="sm">or download the receipt and check it on a machine that you trust:</Text>
      <Code block>node tools/verify-receipt.mjs --key log.pub receipt-{id}.json</Code>
    </Alert>
  );
}
