import { Alert, Button, Center, Code, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { messageOf } from '../../api/problem';
import type { SignInProps } from '../../api/session';
import { useSubmit } from '../../components/form';
import { useGate } from '../../components/gate';

/** The first page, which asks for a key. */
export function SignIn({ reason, signIn }: SignInProps) {
  const [key, setKey] = useState('');
  const { failure, busy, onSubmit } = useSubmit(() => signIn(key.trim()));
  const gate = useGate(key.trim() === '' ? 'Paste your API key first.' : undefined);
  useEffect(() => {
    document.title = 'Sign in · payout-proxy';
  }, []);
  const message = failure === undefined ? reason : messageOf(failure);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <form onSubmit={onSubmit}>
          <Stack>
            <div>
              <Title order={1} size="h2">
                payout-proxy
              </Title>
              <Text c="dimmed">The console for auditors, reconcilers and operators.</Text>
            </div>
            {message !== undefined && (
              <Alert color={failure === undefined ? 'blue' : 'red'} role="alert">
                {message}
              </Alert>
            )}
            <PasswordInput
              label="API key"
              description="The scopes of the key decide what you see. The key is sent once, and your browser does not store it."
              placeholder="pp_auditor_…"
              autoComplete="off"
              required
              autoFocus
              value={key}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
              onChange={({ currentTarget: { value } }) => setKey(value)}
            />
            <Button type="submit" loading={busy} {...gate.button}>
              Sign in
            </Button>
            {gate.hint}
            <WhereTheKeyIs />
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** Shown only with the sandbox. Elsewhere, the operator issues keys. The page contains what it needs for that. */
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
        The first start writes demo keys to <Code>{file}</Code>; the one called <Code>admin</Code> shows everything.
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
