import {
  Alert,
  Button,
  Center,
  Code,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useEffect, useState } from 'react';
import { messageOf } from '../../api/problem';
import { hasProvider, signInAddress, takesKeys } from '../../api/provider';
import type { SignInProps } from '../../api/session';
import { useSubmit } from '../../components/forms/form';
import { useGate } from '../../components/forms/gate';

/** Shows the sign-in page, which links to the company's OpenID provider or asks for a key. */
export function SignIn({ reason, signIn }: SignInProps) {
  useEffect(() => {
    document.title = 'Sign in · payout-proxy';
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p={{ base: 'md', xs: 'xl' }} w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              payout-proxy
            </Title>
            <Text c="dimmed">The console for auditors, reconcilers and operators.</Text>
          </div>
          {reason !== undefined && (
            <Alert color="blue" role="alert">
              {reason}
            </Alert>
          )}
          {hasProvider && (
            <Button component="a" href={signInAddress()}>
              Sign in with your company account
            </Button>
          )}
          {hasProvider && takesKeys && <Divider label="or with a key" />}
          {takesKeys && <KeyForm signIn={signIn} />}
        </Stack>
      </Paper>
    </Center>
  );
}

function KeyForm({ signIn }: Pick<SignInProps, 'signIn'>) {
  const [key, setKey] = useState('');
  const { failure, busy, onSubmit } = useSubmit(() => signIn(key.trim()));
  const gate = useGate(key.trim() === '' ? 'Paste your API key first.' : undefined);
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {failure !== undefined && (
          <Alert color="red" role="alert">
            {messageOf(failure)}
          </Alert>
        )}
        <PasswordInput
          label="API key"
          description={
            'The scopes of the key determine what you see. The key is sent once, and your browser does ' +
            'not store it.'
          }
          placeholder="pp_auditor_…"
          autoComplete="off"
          required
          autoFocus={!hasProvider}
          value={key}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
          onChange={({ currentTarget: { value } }) => setKey(value)}
        />
        <Button type="submit" loading={busy} variant={hasProvider ? 'default' : 'filled'} {...gate.button}>
          Sign in
        </Button>
        {gate.hint}
        <WhereTheKeyIs />
      </Stack>
    </form>
  );
}

/** Explains where to find a key. Shown only with the sandbox, because an operator issues keys elsewhere. */
function WhereTheKeyIs() {
  const { sandbox, demoKeys } = document.documentElement.dataset;
  if (sandbox !== 'yes') return null;
  return (
    <Text size="sm" c="dimmed">
      Just installed payout-proxy? {demoKeys ? <DemoKey file={demoKeys} /> : <OwnKey />}
    </Text>
  );
}

function DemoKey({ file }: { file: string }) {
  if (!file.startsWith('./')) {
    return (
      <>
        The first start writes demo keys to <Code>{file}</Code>; the one called <Code>admin</Code> shows
        everything.
      </>
    );
  }
  return (
    <>
      In the folder where you started the proxy, this command prints the key that shows everything:{' '}
      <Code>{`grep -o 'pp_admin_[^"]*' ${file}`}</Code>
    </>
  );
}

function OwnKey() {
  return (
    <>
      <Code>npm run cli -- clients create --name me --scopes admin,audit</Code> prints a key.
    </>
  );
}
